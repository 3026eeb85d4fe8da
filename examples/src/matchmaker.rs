//! Small matchmaker: takes requests for a match over HTTP, fills matches, allocates a game server for each, and hands
//! out a connect token for every player.
//!
//! * `matches`: matches that fill, and their tokens.
//! * `allocator`: game servers, which are processes of this machine or those of an Agones fleet.
//!
//! It knows nobody: a matchmaker of a game checks accounts before it issues tokens, and is reached by TLS.

mod allocator;
mod matches;

use core::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use std::{path::PathBuf, thread, time::Instant};

use bevy_unlag::guard::{ServerKey, ServerKeys};
use bevy_unlag_server::{
    HttpRequest, HttpResponse, RequestId, RequestLimits, RequestServer, StopSignal, say,
};
use clap::Args;
use serde_json::json;

use crate::{
    args::{self, id},
    dedicated::read_fleet_keys,
    http_client::HttpService,
    match_rules::MatchRules,
    matchmaking::{self, MatchRequest},
};
use allocator::{
    Allocator,
    agones::Agones,
    instant::InstantServers,
    local::{self, LocalOptions, LocalServers},
};
use matches::{Answer, FillRules, Matches};

/// Bounds of the connections. One stays open for each party that waits.
const LIMITS: RequestLimits =
    RequestLimits { connections: 512, request_bytes: HttpRequest::MAX_BYTES, time: Duration::from_secs(5) };
/// Time between two turns in which nothing has happened.
const TURN: Duration = Duration::from_millis(1);
/// Time in which the last answers are sent when the matchmaker stops.
const GOODBYE: Duration = Duration::from_secs(1);
/// Answer to parties once the matchmaker stops.
const STOPPING: &str = "the matchmaker is stopping; try again later";
/// Status of a refusal that may pass.
const UNAVAILABLE: &str = "503 Service Unavailable";

/// Options of the matchmaker.
#[derive(Args, Clone, Debug)]
pub struct MatchmakerArgs {
    /// TCP address to listen on, for HTTP; port 0 takes any free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// File with the fleet's keys, from which those of each server are derived; see `shooter key`. Without it the key
    /// is random, which is enough for servers that the matchmaker starts itself.
    #[arg(long, value_name = "FILE")]
    pub fleet_key: Option<PathBuf>,
    /// Number of players of a match.
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub players: u16,
    /// Time after its first player after which a match begins without the others, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = fill_seconds)]
    pub fill_seconds: f64,
    /// Length of a match, in seconds. Default: 600; with `--agones` that of the rules.
    #[arg(long, value_name = "SECONDS", value_parser = args::seconds)]
    pub match_seconds: Option<f64>,
    /// Options of servers that the matchmaker starts itself.
    #[command(flatten)]
    pub local: LocalArgs,
    /// Allocate servers of an Agones fleet by the Kubernetes API at this URL, such as `http://127.0.0.1:8001` of
    /// `kubectl proxy`.
    #[arg(long, value_name = "URL", requires = "fleet_key")]
    pub agones: Option<String>,
    /// Namespace of the Agones fleet.
    #[arg(long, value_name = "NAME", default_value = "default", requires = "agones", value_parser = id)]
    pub agones_namespace: String,
    /// Name of the Agones fleet.
    #[arg(long, value_name = "NAME", default_value = "shooter", requires = "agones", value_parser = id)]
    pub agones_fleet: String,
    /// Rules of the matches of the Agones fleet.
    #[arg(
        long, value_name = "NAME", default_value = MatchRules::PRESETS[0].0, requires = "agones",
        value_parser = MatchRules::PRESETS.map(|(name, ..)| name),
    )]
    pub agones_rules: String,
}

/// Options of servers that the matchmaker starts itself.
#[derive(Args, Clone, Debug)]
pub struct LocalArgs {
    /// Program of the server: the example `server`. The one beside this program by default.
    #[arg(long, value_name = "FILE")]
    pub server: Option<PathBuf>,
    /// Address of this machine that clients connect to.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Maximum number of servers at a time.
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_servers: u16,
    /// Folder that gets the log of each server. Without it they go to standard error.
    #[arg(long, value_name = "FOLDER")]
    pub server_logs: Option<PathBuf>,
}

fn fill_seconds(text: &str) -> Result<f64, String> {
    args::number(text, 0.1, 30.0)
}

/// Takes requests until SIGTERM or Ctrl-C. Then parties are refused, and the servers that it has started are drained.
///
/// # Errors
/// Returns one line when the keys cannot be read, the address is taken, there is no server program, or signals cannot
/// be handled.
pub fn serve(args: &MatchmakerArgs) -> Result<(), String> {
    let stop = StopSignal::register().map_err(|error| format!("signals cannot be handled: {error}"))?;
    let fleet = match &args.fleet_key {
        Some(file) => read_fleet_keys(file)?,
        None => ServerKey::random().map_err(|error| error.to_string())?.into(),
    };
    let allocator: Box<dyn Allocator> = match &args.agones {
        Some(url) => Box::new(Agones::new(url, args)?),
        None => Box::new(LocalServers::new(local_options(args), fleet.clone())?),
    };
    let rules =
        FillRules { players: args.players.into(), fill_time: Duration::from_secs_f64(args.fill_seconds) };
    let mut service = Service::bind(args.listen, rules, fleet, allocator)?;
    let address = service.server.address();
    say(format_args!(
        "listening on http://{address}; connect with: shooter client --matchmaker http://{address}"
    ));
    while !stop.is_received() {
        if !service.turn(Instant::now()) {
            thread::sleep(TURN);
        }
    }
    let began = Instant::now();
    while !service.stop(began, Instant::now()) {
        thread::sleep(TURN);
    }
    Ok(())
}

fn local_options(MatchmakerArgs { match_seconds, local, .. }: &MatchmakerArgs) -> LocalOptions {
    LocalOptions {
        program: local.server.clone().unwrap_or_else(local::default_program),
        host: local.host,
        max_servers: local.max_servers.into(),
        match_seconds: match_seconds.unwrap_or(600.0),
        logs: local.server_logs.clone(),
    }
}

/// Measures how many requests a matchmaker answers in a second, with a token each, when servers take no time. Returns a
/// JSON object.
///
/// # Errors
/// Returns one line when a request is not answered.
pub fn measure(requests: u32) -> Result<String, String> {
    /// Players of a match, and clients that ask at once.
    const PLAYERS: u32 = 8;
    let fleet = ServerKey::random().map_err(|error| error.to_string())?.into();
    let rules = FillRules { players: PLAYERS as usize, fill_time: Duration::from_secs(30) };
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut service = Service::bind(listen, rules, fleet, Box::new(InstantServers::default()))?;
    let matchmaker = HttpService::parse(&format!("http://{}", service.server.address()))?;
    let began = Instant::now();
    let ask = || (0..requests / PLAYERS).try_for_each(|_| matchmaking::request(&matchmaker, 1).map(drop));
    thread::scope(|scope| {
        let clients: Vec<_> = (0..PLAYERS).map(|_| scope.spawn(ask)).collect();
        while clients.iter().any(|client| !client.is_finished()) {
            if !service.turn(Instant::now()) {
                thread::sleep(TURN / 10);
            }
        }
        clients.into_iter().try_for_each(|client| {
            client.join().unwrap_or_else(|_| Err("a client's thread panicked".to_owned()))
        })
    })?;
    let (_, placed, _) = service.matches.counts();
    let per_second = placed as f64 / began.elapsed().as_secs_f64();
    Ok(json!({ "requests": placed, "requests_per_second": per_second.round() }).to_string())
}

/// The matchmaker with its connections and servers.
struct Service {
    server: RequestServer,
    matches: Matches,
    allocator: Box<dyn Allocator>,
    max_party: usize,
    is_stopping: bool,
}

impl Service {
    fn bind(
        address: SocketAddr,
        rules: FillRules,
        fleet: ServerKeys,
        allocator: Box<dyn Allocator>,
    ) -> Result<Self, String> {
        let server = RequestServer::bind(address, LIMITS).map_err(|error| {
            format!("cannot listen on TCP {address} ({error}); choose another address with --listen")
        })?;
        let matches = Matches::new(rules, fleet);
        Ok(Self { server, matches, allocator, max_party: rules.players, is_stopping: false })
    }

    /// Goes on with everything. Returns whether something has happened.
    fn turn(&mut self, now: Instant) -> bool {
        let requests = self.server.advance(now, HttpRequest::form);
        let mut is_busy = !requests.is_empty();
        for (id, request) in requests {
            if let Some(page) = self.page(id, &request, now) {
                self.server.answer(id, page.to_bytes(), now);
            }
        }
        self.matches.retain(|request| self.server.is_waiting(request));
        let mut answers = Vec::new();
        for (match_id, event) in self.allocator.poll() {
            answers.extend(self.matches.apply(&match_id, event));
        }
        answers.extend(self.matches.advance(now));
        is_busy |= !answers.is_empty();
        for (id, answer) in answers {
            self.server.answer(id, encode(&answer).to_bytes(), now);
        }
        is_busy
    }

    /// Refuses all parties, and drains the servers, as one turn of a stop that began at `began`. Returns whether it is
    /// over.
    fn stop(&mut self, began: Instant, now: Instant) -> bool {
        self.is_stopping = true;
        for (id, answer) in self.matches.refuse_all(STOPPING) {
            self.server.answer(id, encode(&answer).to_bytes(), now);
        }
        self.turn(now);
        let is_answered = self.server.is_idle() || now.duration_since(began) >= GOODBYE;
        self.allocator.drain() == 0 && is_answered
    }

    /// Returns the response to a request; `None` for one that waits for a match.
    fn page(&mut self, id: RequestId, bytes: &[u8], now: Instant) -> Option<HttpResponse> {
        let Some(request) = HttpRequest::parse(bytes) else {
            return Some(HttpResponse::text("400 Bad Request", "expected a request of HTTP/1.1"));
        };
        Some(match (request.method, request.path) {
            ("POST", "/match") | ("GET", "/healthz") if self.is_stopping => {
                HttpResponse::text(UNAVAILABLE, STOPPING)
            }
            ("POST", "/match") => {
                let players = match serde_json::from_slice(request.body) {
                    Ok(MatchRequest { players }) if (1..=self.max_party).contains(&players) => players,
                    _ => {
                        let problem = format!("expected {{\"players\": 1}}, to {} players", self.max_party);
                        return Some(HttpResponse::text("400 Bad Request", &problem));
                    }
                };
                match self.matches.join(id, players, now, &mut *self.allocator) {
                    Ok(()) => return None,
                    Err(problem) => HttpResponse::text(UNAVAILABLE, &problem),
                }
            }
            ("GET", "/healthz") => HttpResponse::text("200 OK", "ok"),
            ("GET", "/status") => {
                let (matches, players, waiting) = self.matches.counts();
                let status = json!({ "matches": matches, "players": players, "waiting": waiting });
                HttpResponse::json(format!("{status}\n"))
            }
            (_, "/match") => HttpResponse::wrong_method("POST"),
            (_, "/healthz" | "/status") => HttpResponse::wrong_method("GET"),
            _ => HttpResponse::text("404 Not Found", "there is no such page; ask with: POST /match"),
        })
    }
}

fn encode(answer: &Answer) -> HttpResponse {
    let text = answer
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|places| serde_json::to_string(places).map_err(|error| error.to_string()));
    match text {
        Ok(json) => HttpResponse::json(json),
        Err(problem) => HttpResponse::text(UNAVAILABLE, &problem),
    }
}

#[cfg(test)]
mod tests;

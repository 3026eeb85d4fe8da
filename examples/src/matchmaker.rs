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
use bevy_unlag_server::{HttpRequest, HttpResponse, RequestId, RequestLimits, RequestServer, say};
use clap::Args;
use serde_json::json;

use crate::{
    args,
    dedicated::{id, read_fleet_keys},
    http_client::HttpService,
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
    /// Length of a match, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = args::seconds)]
    pub match_seconds: f64,
    /// Folder that gets the log of each server. Without it they go to standard error.
    #[arg(long, value_name = "FOLDER")]
    pub server_logs: Option<PathBuf>,
}

fn fill_seconds(text: &str) -> Result<f64, String> {
    args::number(text, 0.1, 30.0)
}

/// Takes requests until the process ends.
///
/// # Errors
/// Returns one line when the keys cannot be read, the address is taken, or there is no server program.
pub fn serve(args: &MatchmakerArgs) -> Result<(), String> {
    let fleet = match &args.fleet_key {
        Some(file) => read_fleet_keys(file)?,
        None => ServerKey::random().map_err(|error| error.to_string())?.into(),
    };
    let allocator: Box<dyn Allocator> = match &args.agones {
        Some(url) => Box::new(Agones::new(url, &args.agones_namespace, &args.agones_fleet)?),
        None => Box::new(LocalServers::new(local_options(&args.local), fleet.clone())?),
    };
    let rules =
        FillRules { players: args.players.into(), fill_time: Duration::from_secs_f64(args.fill_seconds) };
    let mut service = Service::bind(args.listen, rules, fleet, allocator)?;
    let address = service.server.address();
    say(format_args!(
        "listening on http://{address}; connect with: shooter client --matchmaker http://{address}"
    ));
    loop {
        if !service.turn(Instant::now()) {
            thread::sleep(TURN);
        }
    }
}

fn local_options(args: &LocalArgs) -> LocalOptions {
    LocalOptions {
        program: args.server.clone().unwrap_or_else(local::default_program),
        host: args.host,
        max_servers: args.max_servers.into(),
        match_seconds: args.match_seconds,
        logs: args.server_logs.clone(),
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
        Ok(Self { server, matches: Matches::new(rules, fleet), allocator, max_party: rules.players })
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

    /// Returns the response to a request; `None` for one that waits for a match.
    fn page(&mut self, id: RequestId, bytes: &[u8], now: Instant) -> Option<HttpResponse> {
        let Some(request) = HttpRequest::parse(bytes) else {
            return Some(HttpResponse::text("400 Bad Request", "expected a request of HTTP/1.1"));
        };
        Some(match (request.method, request.path) {
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
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpStream,
        sync::{Arc, Mutex},
    };

    use bevy_unlag::prelude::TokenClient;

    use super::{
        allocator::{AllocationEvent, GameServer},
        *,
    };
    use crate::matchmaking::MatchPlaces;

    /// Time after which a test gives up.
    const PATIENCE: Duration = Duration::from_secs(20);
    const FILL_TIME: Duration = Duration::from_secs(10);

    /// Servers that the test makes ready.
    #[derive(Clone, Default)]
    struct HandServers(Arc<Mutex<(Vec<String>, Vec<(String, AllocationEvent)>)>>);

    impl Allocator for HandServers {
        fn allocate(&mut self, match_id: &str) -> Result<(), String> {
            let mut servers = self.0.lock().expect("no panic");
            if servers.0.len() == 3 {
                return Err("all servers are taken".to_owned());
            }
            servers.0.push(match_id.to_owned());
            Ok(())
        }

        fn poll(&mut self) -> Vec<(String, AllocationEvent)> {
            core::mem::take(&mut self.0.lock().expect("no panic").1)
        }
    }

    impl HandServers {
        fn asked(&self) -> Vec<String> {
            self.0.lock().expect("no panic").0.clone()
        }

        fn event(&self, number: usize, event: AllocationEvent) {
            let match_id = self.asked()[number].clone();
            self.0.lock().expect("no panic").1.push((match_id, event));
        }

        fn ready(&self, number: usize) {
            let address = SocketAddr::from(([127, 0, 0, 1], 5_000 + number as u16));
            self.event(
                number,
                AllocationEvent::Ready(GameServer { server_id: format!("s{number}"), address }),
            );
        }
    }

    /// A matchmaker for matches of four, on stepped time.
    struct Site {
        service: Service,
        servers: HandServers,
        now: Instant,
    }

    impl Site {
        fn new() -> Self {
            let servers = HandServers::default();
            let rules = FillRules { players: 4, fill_time: FILL_TIME };
            let fleet = ServerKey::random().expect("random bytes").into();
            let listen = SocketAddr::from(([127, 0, 0, 1], 0));
            let service =
                Service::bind(listen, rules, fleet, Box::new(servers.clone())).expect("a free port");
            Self { service, servers, now: Instant::now() }
        }

        fn send(&self, request: &str) -> TcpStream {
            let mut peer = TcpStream::connect(self.service.server.address()).expect("a connection");
            peer.write_all(request.as_bytes()).expect("room");
            peer.set_nonblocking(true).expect("a stream that does not block");
            peer
        }

        /// Asks for a match for so many players, and waits until the matchmaker has the request.
        fn ask(&mut self, players: usize) -> TcpStream {
            let before = self.service.matches.counts().2;
            let json = format!("{{\"players\":{players}}}");
            let peer =
                self.send(&format!("POST /match HTTP/1.1\r\nContent-Length: {}\r\n\r\n{json}", json.len()));
            self.serve_until(|site| site.service.matches.counts().2 == before + players);
            peer
        }

        fn serve_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
            let began = Instant::now();
            while !done(self) {
                assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}");
                self.service.turn(self.now);
                thread::yield_now();
            }
        }

        /// Returns the status and the body that a peer gets.
        fn answer(&mut self, peer: &mut TcpStream) -> (String, String) {
            let (mut bytes, mut chunk) = (Vec::new(), [0; 4_096]);
            self.serve_until(|_| match peer.read(&mut chunk) {
                Ok(0) => true,
                Ok(length) => {
                    bytes.extend_from_slice(&chunk[..length]);
                    false
                }
                Err(_) => false,
            });
            let text = String::from_utf8(bytes).expect("text");
            let (head, body) = text.split_once("\r\n\r\n").expect("a header");
            (head.split(' ').nth(1).expect("a status").to_owned(), body.to_owned())
        }

        fn places(&mut self, peer: &mut TcpStream) -> MatchPlaces {
            let (status, body) = self.answer(peer);
            assert_eq!(status, "200", "{body}");
            serde_json::from_str(&body).expect("places")
        }
    }

    #[test]
    fn full_match_gets_a_server_of_its_own_and_a_token_for_each_player() {
        let mut site = Site::new();
        let mut peers = [site.ask(1), site.ask(2), site.ask(1), site.ask(3)];
        assert_eq!(site.servers.asked().len(), 2, "the last party needs another match");
        site.servers.ready(1);
        site.servers.ready(0);
        let places: Vec<_> = peers[..3].iter_mut().map(|peer| site.places(peer)).collect();
        let matches = site.servers.asked();
        assert!(places.iter().all(|places| places.match_id == matches[0]));
        assert_eq!(places.iter().map(|places| places.players.len()).collect::<Vec<_>>(), [1, 2, 1]);
        for place in places.iter().flat_map(|places| &places.players) {
            let client = TokenClient::new(&place.token().expect("a token")).expect("a token");
            assert_eq!((client.server().port(), place.address.as_str()), (5_000, "127.0.0.1:5000"));
        }
        assert_eq!(site.service.matches.counts(), (1, 4, 3));
        site.now += FILL_TIME;
        let last = site.places(&mut peers[3]);
        assert_eq!(
            (last.match_id, last.players.len()),
            (matches[1].clone(), 3),
            "it begins without a fourth"
        );
    }

    #[test]
    fn party_that_goes_leaves_its_places_to_others() {
        let mut site = Site::new();
        let gone = site.ask(3);
        let mut stays = site.ask(1);
        drop(gone);
        site.serve_until(|site| site.service.matches.counts().2 == 1);
        let mut other = site.ask(3);
        site.servers.ready(0);
        assert_eq!(site.places(&mut stays).match_id, site.places(&mut other).match_id);
        assert_eq!(site.servers.asked().len(), 1);
    }

    #[test]
    fn party_without_a_server_is_told_why() {
        let mut site = Site::new();
        let mut peers = [site.ask(4), site.ask(4), site.ask(4)];
        let request = "POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":4}";
        let mut peer = site.send(request);
        assert_eq!(site.answer(&mut peer), ("503".to_owned(), "all servers are taken\n".to_owned()));
        site.servers.event(1, AllocationEvent::Failed("it burns".to_owned()));
        assert_eq!(site.answer(&mut peers[1]), ("503".to_owned(), "it burns\n".to_owned()));
        site.servers.event(2, AllocationEvent::Ended);
        assert_eq!(site.answer(&mut peers[2]).0, "503");
        site.servers.ready(0);
        assert_eq!(site.places(&mut peers[0]).players.len(), 4);
    }

    #[test]
    fn request_that_is_not_understood_gets_an_answer_and_allocates_nothing() {
        let mut site = Site::new();
        for (request, status) in [
            ("POST /match HTTP/1.1\r\n\r\n", "400"),
            ("POST /match HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "400"),
            ("POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":0}", "400"),
            ("POST /match HTTP/1.1\r\nContent-Length: 13\r\n\r\n{\"players\":5}", "400"),
            ("GET /match HTTP/1.1\r\n\r\n", "405"),
            ("POST /status HTTP/1.1\r\n\r\n", "405"),
            ("GET /healthz HTTP/1.1\r\n\r\n", "200"),
            ("GET /status HTTP/1.1\r\n\r\n", "200"),
            ("GET /../etc HTTP/1.1\r\n\r\n", "404"),
            ("hello\r\n\r\n", "400"),
        ] {
            let mut peer = site.send(request);
            assert_eq!(site.answer(&mut peer).0, status, "{request}");
        }
        assert!(site.servers.asked().is_empty());
    }

    #[test]
    fn empty_match_is_offered_no_longer_than_its_server_waits() {
        let mut site = Site::new();
        drop(site.ask(1));
        site.serve_until(|site| site.service.matches.counts().2 == 0);
        site.servers.ready(0);
        site.now += Duration::from_secs(19);
        drop(site.ask(1));
        assert_eq!(site.servers.asked().len(), 1, "the server of the one who left");
        site.serve_until(|site| site.service.matches.counts().2 == 0);
        site.now += Duration::from_secs(1);
        site.service.turn(site.now);
        let _peer = site.ask(1);
        assert_eq!(site.servers.asked().len(), 2);
    }
}

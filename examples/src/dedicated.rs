//! Command line of a dedicated server: its keys, its operator's commands, and a stand-in for the matchmaker that issues
//! connect tokens.

use std::{
    fs::OpenOptions,
    io::{self, ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
};

use bevy_unlag::{
    guard::{ConnectTokenRequest, KickText, ServerKey, ServerKeys},
    net::{FastClockRule, SpectatorConfig},
    prelude::{ServerAccess, TokenClient},
    rewind::RewindMode,
};
use bevy_unlag_server::{
    AdminPlugin, LifeCycleConfig, MetricsConfig, MetricsPlugin, say, send_admin_command,
};
use checked_ron::{OneLine, read_file};
use clap::{Args, ValueEnum};
use core::{net::SocketAddr, time::Duration};
use lightyear::netcode::CONNECT_TOKEN_BYTES;

use crate::{
    app::ServerOptions,
    args::{self, id},
    connection::{self, DEFAULT_PORT, PROTOCOL_ID},
    logs::{LogFormat, ServerLogs},
    operation::{Operation, read_keys},
    recording, spectating,
    transport::{self, ListenerArgs, OpenListener, TransportName},
    udp_match,
};

/// Options of a dedicated server.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// UDP port to listen on, over IPv6 and IPv4.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    pub port: u16,
    /// File with the server's keys, one a line, the newest first; SIGHUP reads it again. `-` is standard input. Without
    /// it the server runs in development mode: any client can join under any id.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Name of this server in its fleet. Only tokens for it are accepted.
    #[arg(long, value_name = "NAME", requires = "key", value_parser = id)]
    pub server_id: Option<String>,
    /// Name of the match that this server plays. Only tokens for it are accepted.
    #[arg(long, value_name = "NAME", requires = "key", value_parser = id)]
    pub match_id: Option<String>,
    /// Play one match of this length, in seconds from the first join, and stop. A match that nobody joins for a
    /// minute, or that all have left, ends early.
    #[arg(long, value_name = "SECONDS", value_parser = args::seconds)]
    pub match_seconds: Option<f64>,
    /// Text for the players, at most 100 bytes, when a signal or `shooter admin drain` stops the server.
    #[arg(long, value_name = "TEXT")]
    pub drain_reason: Option<String>,
    /// Time between the announcement of a drain to the players and their disconnection, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = delay)]
    pub drain_notice: f64,
    /// Longest time of a drain, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = delay)]
    pub drain_limit: f64,
    /// Let the match end first: a drain lasts until its end, or for --drain-limit.
    #[arg(long)]
    pub wait_for_match: bool,
    /// Take the commands of `shooter admin`. This file gets the address and the secret for it.
    #[arg(long, value_name = "FILE")]
    pub admin: Option<PathBuf>,
    /// Record the match into this file, which the example `replay` shows.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Public address of this server, such as 203.0.113.7:5000. Only tokens for it are accepted. May be
    /// repeated.
    #[arg(long, value_name = "ADDR", requires = "key")]
    pub public: Vec<String>,
    /// Number of spectators that may watch at once: clients with `--spectate`, or with a token for it. Without it there
    /// are none.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub spectators: Option<u16>,
    /// Time by which spectators are behind, so that they cannot help a player.
    #[arg(
        long, value_name = "SECONDS", default_value_t = 30.0, requires = "spectators", value_parser = delay,
    )]
    pub spectator_delay: f64,
    /// Number of players that may play at once. Further clients are refused because the server is full.
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub max_players: u16,
    /// Whether the server rewinds targets to the shooter's view time (lag compensation).
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub rewind: OnOff,
    /// Kick a client once its clock was found to run too fast this many times, 3 for instance. Without it such clients
    /// are only reported, and lose the time that they gain.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub kick_fast_clocks: Option<u32>,
    /// Format of the log lines, which go to standard error. The environment variable `RUST_LOG` sets their level.
    #[arg(long, value_enum, default_value_t = LogFormat::Human)]
    pub log_format: LogFormat,
    /// Whether log lines contain the addresses of clients.
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub log_addresses: OnOff,
    /// Serve metrics for Prometheus and health checks over HTTP at this TCP address, such as 127.0.0.1:9464; port 0
    /// takes any free one. At another address than 127.0.0.1 everybody who reaches it can read them.
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<SocketAddr>,
    /// Listeners beside UDP.
    #[command(flatten)]
    pub listeners: ListenerArgs,
}

/// Options of a connect token.
#[derive(Args, Clone, Debug)]
pub struct TokenArgs {
    /// File with the server's key.
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Server address that clients connect to.
    #[arg(long, value_name = "ADDR")]
    pub connect: String,
    /// Name of the server in its fleet, if it has one.
    #[arg(long, value_name = "NAME", value_parser = id)]
    pub server_id: Option<String>,
    /// Name of the match, if the server has one.
    #[arg(long, value_name = "NAME", value_parser = id)]
    pub match_id: Option<String>,
    /// Client id that the token is for; a random one by default.
    #[arg(long, value_name = "NUMBER")]
    pub client_id: Option<u64>,
    /// Time within which a client can join with the token, in seconds.
    #[arg(long, default_value_t = 30.0, value_parser = lifetime)]
    pub lifetime: f64,
    /// Time without a packet that ends the connection, in seconds. Players in a browser, whose first frames compile
    /// shaders, need about 15.
    #[arg(long, default_value_t = 3.0, value_parser = lifetime)]
    pub timeout: f64,
    /// The client may watch the match and not play: see `shooter client --spectate`.
    #[arg(long)]
    pub spectator: bool,
}

/// Options of a new key.
#[derive(Args, Clone, Debug, Default)]
pub struct KeyArgs {
    /// File with the fleet's keys, from which the keys of the server --server-id are derived. Without it the key is
    /// random.
    #[arg(long, value_name = "FILE", requires = "server_id")]
    pub fleet: Option<PathBuf>,
    /// Name of the server in its fleet.
    #[arg(long, value_name = "NAME", requires = "fleet", value_parser = id)]
    pub server_id: Option<String>,
    /// File that gets the key, readable by its owner alone. Without it the key goes to standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A command for a running server.
#[derive(Args, Clone, Debug)]
pub struct AdminArgs {
    /// File that the server has written: `shooter server --admin FILE`.
    #[arg(long, value_name = "FILE")]
    pub socket: PathBuf,
    /// One of: `players`, `kick ID [REASON]`, `ban ID_OR_ADDRESS MINUTES [REASON]`, `unban ID_OR_ADDRESS`, `map NAME`,
    /// `say TEXT`, `drain [REASON]`.
    #[arg(required = true, trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// A switch on the command line.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnOff {
    /// On.
    On,
    /// Off.
    Off,
}

impl From<OnOff> for RewindMode {
    fn from(switch: OnOff) -> Self {
        match switch {
            OnOff::On => Self::On,
            OnOff::Off => Self::Off,
        }
    }
}

fn delay(text: &str) -> Result<f64, String> {
    args::number(text, 0.0, 3_600.0)
}

fn lifetime(text: &str) -> Result<f64, String> {
    args::number(text, 1.0, 3_600.0)
}

/// Runs the server until the process ends.
///
/// # Errors
/// Returns one line when a file cannot be read or written, an address is invalid, or a port is taken.
pub fn serve(args: &ServeArgs) -> Result<(), String> {
    let access = match &args.key {
        Some(file) => {
            let addresses =
                args.public.iter().map(|text| connection::parse_address(text)).collect::<Result<_, _>>()?;
            ServerAccess {
                addresses,
                server_id: args.server_id.clone(),
                match_id: args.match_id.clone(),
                ..ServerAccess::new(read_keys(file)?, PROTOCOL_ID)
            }
        }
        None => ServerAccess::development(PROTOCOL_ID),
    };
    let access = ServerAccess { max_clients: args.max_players.into(), ..access };
    let drain = drain_of(args)?;
    let fast_clocks =
        args.kick_fast_clocks.map_or(FastClockRule::Report, |detections| FastClockRule::Kick { detections });
    let logs = ServerLogs { format: args.log_format, hide_addresses: args.log_addresses == OnOff::Off };
    let options = ServerOptions { fast_clocks, logs, ..ServerOptions::game(args.rewind.into()) };
    let metrics = args.metrics.map(metrics).transpose()?;
    let admin = args.admin.as_ref().map(AdminPlugin::open).transpose().map_err(|error| error.to_string())?;
    let match_time = args.match_seconds.map(Duration::from_secs_f64);
    let record = args.record.as_deref().map(recording::writable).transpose()?;
    let spectators = args.spectators.map(|most| SpectatorConfig {
        max_spectators: most.into(),
        delay: Duration::from_secs_f64(args.spectator_delay),
        ..SpectatorConfig::default()
    });
    let listeners = args.listeners.listeners()?;
    let digest = listeners.as_ref().map(|listeners| (listeners.digest.clone(), !listeners.reloads));
    let operation =
        Operation { key_file: args.key.clone(), admin, match_time, drain, record, spectators, listeners };
    udp_match::serve(args.port, &access, options, metrics, operation, |world, port| {
        let is_open = access.keys.is_development();
        let open = transport::open_listeners(world).unwrap_or_default();
        open.iter().for_each(say);
        if let Some((digest, is_self_signed)) = digest {
            say(format_args!("certificate digest: {digest}"));
            let for_pages = open.iter().find(|listener| listener.transport == TransportName::WebTransport);
            if let Some(OpenListener { port, .. }) = for_pages.filter(|_| is_self_signed && is_open) {
                say(format_args!("parameters of the page: ?server=ADDRESS:{port}&digest={digest}"));
            }
        }
        if is_open {
            say(format_args!(
                "serving on UDP port {port}; connect with: shooter client --connect ADDRESS:{port}"
            ));
            say("development mode: any client can join under any id; use --key FILE on a public server");
        } else {
            say(format_args!("serving on UDP port {port}; connect with: shooter client --token FILE"));
        }
    })
}

/// Returns how the server drains.
fn drain_of(args: &ServeArgs) -> Result<LifeCycleConfig, String> {
    if args.drain_notice > args.drain_limit {
        return Err(format!(
            "--drain-notice {} is longer than --drain-limit {}; raise the limit",
            args.drain_notice, args.drain_limit
        ));
    }
    Ok(LifeCycleConfig {
        notice: Duration::from_secs_f64(args.drain_notice),
        drain_limit: Duration::from_secs_f64(args.drain_limit),
        wait_for_match: args.wait_for_match,
        reason: args.drain_reason.as_deref().map(KickText::new).unwrap_or_default(),
    })
}

/// Takes the port of the metrics.
fn metrics(address: SocketAddr) -> Result<MetricsPlugin, String> {
    MetricsPlugin::bind(MetricsConfig { address }).map_err(|error| {
        format!("cannot serve metrics at {address} ({error}); choose another address with --metrics")
    })
}

/// Writes a connect token to standard output.
///
/// # Errors
/// Returns one line when the key cannot be read, the address is invalid, or standard output is a terminal or
/// cannot be written to.
pub fn write_token(args: &TokenArgs) -> Result<(), String> {
    let keys = read_keys(&args.key)?;
    let server = connection::parse_address(&args.connect)?;
    let id = args.client_id.unwrap_or_else(connection::random_client_id);
    let request = ConnectTokenRequest {
        lifetime: Duration::from_secs_f64(args.lifetime),
        timeout: Duration::from_secs_f64(args.timeout),
        server_id: args.server_id.clone(),
        match_id: args.match_id.clone(),
        data: if args.spectator { spectating::ROLE.to_vec() } else { Vec::new() },
        ..ConnectTokenRequest::new(id, server, PROTOCOL_ID)
    };
    let token = request.issue(keys.newest()).map_err(|error| error.to_string())?;
    let mut out = io::stdout();
    if out.is_terminal() {
        return Err("a token is 2048 bytes of binary data; redirect it to a file: > FILE".to_owned());
    }
    out.write_all(&token)
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write the token: {error}"))
}

/// Writes a new key, or those of a server of a fleet, to standard output or a file.
///
/// # Errors
/// Returns one line when the operating system provides no random bytes, the fleet's keys cannot be read, or the output
/// cannot be written to.
pub fn write_key(args: &KeyArgs) -> Result<(), String> {
    let lines: String = match (&args.fleet, &args.server_id) {
        (Some(file), Some(id)) => {
            let fleet = read_fleet_keys(file)?;
            fleet.for_server(id).iter().map(|key| key.to_hex() + "\n").collect()
        }
        _ => ServerKey::random().map_err(|error| error.to_string())?.to_hex() + "\n",
    };
    if let Some(file) = &args.out {
        return write_secret(file, &lines)
            .map_err(|error| format!("cannot write the key to {}: {error}", OneLine::path(file)));
    }
    let mut out = io::stdout();
    write!(out, "{lines}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write the key: {error}"))
}

fn write_secret(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(file)?;
    // The mode above is for a new file.
    #[cfg(unix)]
    if out.metadata()?.is_file() {
        out.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    out.write_all(text.as_bytes())
}

/// Reads the keys of a fleet.
///
/// # Errors
/// Returns one line when they cannot be read, or are the public one of development mode.
pub fn read_fleet_keys(file: &Path) -> Result<ServerKeys, String> {
    let keys = read_keys(file)?;
    if keys.is_development() {
        return Err(format!(
            "{}: this is the public development key; make a secret one with: shooter key",
            OneLine::path(file)
        ));
    }
    Ok(keys)
}

/// Sends a command to a running server, and prints its answer.
///
/// # Errors
/// Returns one line when the server does not answer, or refuses.
pub fn administer(args: &AdminArgs) -> Result<(), String> {
    send_admin_command(&args.socket, &args.command.join(" ")).map(say)
}

/// Reads a connect token from a file.
///
/// # Errors
/// Returns one line when the file cannot be read, or does not contain a token that is still valid.
pub fn read_token(file: &Path) -> Result<TokenClient, String> {
    let shown = OneLine::path(file);
    let bytes = read_file(file, CONNECT_TOKEN_BYTES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "cannot read the token file {shown} ({error}); \
             create one with: shooter token --key FILE --connect ADDR > {shown}"
        ),
        _ => format!("cannot read {shown} as a connect token: {error}"),
    })?;
    TokenClient::new(&bytes).map_err(|error| format!("{shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::FromArgMatches;

    use super::*;

    #[test]
    fn taken_port_of_the_metrics_is_named_with_its_flag() {
        let taken = metrics(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
        let line = metrics(taken.address()).err().unwrap_or_default();
        assert!(line.contains(&taken.address().to_string()) && line.ends_with("with --metrics"), "{line}");
    }

    #[test]
    fn advice_to_write_a_token_is_given_only_for_a_missing_file() {
        let missing = read_token(Path::new("no/such/\u{1b}[2Jtoken")).err().unwrap_or_default();
        assert!(
            missing.contains("no/such/\\u{1b}[2Jtoken") && missing.contains("shooter token"),
            "{missing}"
        );
        let long = std::env::temp_dir().join(format!("long_token_{}", std::process::id()));
        std::fs::write(&long, vec![0; CONNECT_TOKEN_BYTES + 1]).expect("a file");
        let files = [long.clone(), std::env::temp_dir(), "/dev/zero".into()];
        let lines: Vec<_> = files
            .iter()
            .filter(|path| path.exists())
            .map(|path| read_token(path).err().unwrap_or_default())
            .collect();
        std::fs::remove_file(&long).expect("it goes");
        for line in lines {
            assert!(line.contains("as a connect token") && !line.contains('>'), "{line}");
        }
    }

    #[test]
    fn drain_has_the_times_of_its_flags() {
        let drain = |flags: &[&str]| {
            let command = ServeArgs::augment_args(clap::Command::new("server"));
            let line = ["server"].iter().chain(flags).copied();
            let matches = command.try_get_matches_from(line).ok()?;
            drain_of(&ServeArgs::from_arg_matches(&matches).ok()?).ok()
        };
        assert_eq!(drain(&[]), Some(LifeCycleConfig::default()));
        let config = LifeCycleConfig {
            notice: Duration::from_millis(500),
            drain_limit: Duration::from_secs(3_600),
            wait_for_match: true,
            reason: KickText::new("update"),
        };
        let flags = ["--drain-notice=0.5", "--drain-limit=3600", "--wait-for-match", "--drain-reason=update"];
        assert_eq!(drain(&flags), Some(config));
        for wrong in ["nan", "inf", "-1", "3601", "soon", ""] {
            assert_eq!(drain(&[format!("--drain-limit={wrong}").as_str()]), None, "{wrong}");
            assert_eq!(drain(&[format!("--drain-notice={wrong}").as_str()]), None, "{wrong}");
        }
        assert_eq!(drain(&["--drain-notice=21"]), None, "longer than the limit");
        assert_eq!(drain(&["--drain-limit=4"]), None, "shorter than the notice");
    }

    /// Returns the words of a text that look like a flag, without their dashes.
    fn flags_in(text: &str) -> BTreeSet<&str> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        words
            .filter_map(|word| word.strip_prefix("--"))
            .filter(|flag| flag.starts_with(char::is_alphabetic))
            .collect()
    }

    #[test]
    fn handbook_has_every_flag_and_no_other() {
        let handbook = include_str!("../../book/src/operations/server.md");
        let documented = flags_in(handbook);
        // Those of Cargo, and of `matchmaker measure`.
        let mut known = BTreeSet::from(["features", "requests"].map(str::to_owned));
        let commands = [
            ServeArgs::augment_args(clap::Command::new("server")),
            KeyArgs::augment_args(clap::Command::new("key")),
            TokenArgs::augment_args(clap::Command::new("token")),
            AdminArgs::augment_args(clap::Command::new("admin")),
            crate::matchmaker::MatchmakerArgs::augment_args(clap::Command::new("matchmaker")),
            transport::TransportArgs::augment_args(clap::Command::new("client")),
        ];
        for command in &commands {
            for flag in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(documented.contains(flag), "{}: --{flag}", command.get_name());
                known.insert(flag.to_owned());
            }
        }
        // The example `shooter` has the other flags of a client. Those of its window are not an operator's.
        let (_, client) = include_str!("../shooter/cli.rs").split_once("    Client {").expect("the client");
        let sources = [client, include_str!("../shooter/play.rs")];
        for argument in sources.iter().flat_map(|source| source.split("#[arg(").skip(1)) {
            let field = argument.lines().find_map(|line| line.trim().split_once(": "));
            let (field, _) = field.expect("a field");
            let flag = field.trim_start_matches("pub ").replace('_', "-");
            assert!(flag == "bandwidth" || documented.contains(flag.as_str()), "client: --{flag}");
            known.insert(flag);
        }
        let (_, tables) = handbook.split_once("\n## Flags\n").expect("the flags");
        let (tables, _) = tables.split_once("\n## ").expect("another section");
        for flag in flags_in(tables) {
            assert!(known.contains(flag), "no program has --{flag}");
        }
    }

    #[test]
    fn development_key_is_no_key_of_a_fleet() {
        let file = std::env::temp_dir().join(format!("fleet_key_{}", std::process::id()));
        let read = |key: &ServerKey| {
            std::fs::write(&file, key.to_hex()).expect("a file");
            read_fleet_keys(&file)
        };
        let secret = ServerKey::random().expect("random bytes");
        assert_eq!(read(&secret), Ok(secret.into()));
        let line = read(&ServerKey::development()).err().unwrap_or_default();
        std::fs::remove_file(&file).expect("it goes");
        assert!(line.contains("fleet_key_") && line.contains("shooter key"), "{line}");
    }
}

//! Command line of a dedicated server: its key, and a stand-in for the matchmaker that issues connect
//! tokens.

use std::{
    io::{ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
};

use bevy_unlag::{
    guard::{ConnectTokenRequest, KeyError, ServerKey},
    net::FastClockRule,
    prelude::{ServerAccess, TokenClient},
    rewind::RewindMode,
};
use bevy_unlag_server::say;
use checked_ron::{OneLine, read_file};
use clap::{Args, ValueEnum};
use core::time::Duration;

use crate::{
    app::ServerOptions,
    args,
    connection::{self, DEFAULT_PORT, PROTOCOL_ID},
    logs::{LogFormat, ServerLogs},
    udp_match,
};

/// Length of a connect token, in bytes.
const TOKEN_BYTES: usize = 2_048;

/// Options of a dedicated server.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// UDP port to listen on.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    pub port: u16,
    /// File with the server's key. Without it the server runs in development mode: any client can join under
    /// any id.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Public address of this server, such as 203.0.113.7:5000. Only tokens for it are accepted. May be
    /// repeated.
    #[arg(long, value_name = "ADDR", requires = "key")]
    pub public: Vec<String>,
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
    /// Client id that the token is for; a random one by default.
    #[arg(long, value_name = "NUMBER")]
    pub client_id: Option<u64>,
    /// Time within which a client can join with the token, in seconds.
    #[arg(long, default_value_t = 30.0, value_parser = lifetime)]
    pub lifetime: f64,
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

fn lifetime(text: &str) -> Result<f64, String> {
    args::number(text, 1.0, 3_600.0)
}

/// Runs the server until the process ends.
///
/// # Errors
/// Returns one line when the key cannot be read, an address is invalid, or the port is taken.
pub fn serve(args: &ServeArgs) -> Result<(), String> {
    let access = match &args.key {
        Some(file) => {
            let addresses =
                args.public.iter().map(|text| connection::parse_address(text)).collect::<Result<_, _>>()?;
            ServerAccess { addresses, ..ServerAccess::new(key(file)?, PROTOCOL_ID) }
        }
        None => ServerAccess::development(PROTOCOL_ID),
    };
    let fast_clocks =
        args.kick_fast_clocks.map_or(FastClockRule::Report, |detections| FastClockRule::Kick { detections });
    let logs = ServerLogs { format: args.log_format, hide_addresses: args.log_addresses == OnOff::Off };
    let options = ServerOptions { fast_clocks, logs, ..ServerOptions::game(args.rewind.into()) };
    udp_match::serve(args.port, &access, options, |port| {
        if access.key.is_development() {
            say(format_args!(
                "serving on UDP port {port}; connect with: shooter client --connect ADDRESS:{port}"
            ));
            say("development mode: any client can join under any id; use --key FILE on a public server");
        } else {
            say(format_args!("serving on UDP port {port}; connect with: shooter client --token FILE"));
        }
    })
}

/// Writes a connect token to standard output.
///
/// # Errors
/// Returns one line when the key cannot be read, the address is invalid, or standard output is a terminal or
/// cannot be written to.
pub fn write_token(args: &TokenArgs) -> Result<(), String> {
    let key = key(&args.key)?;
    let server = connection::parse_address(&args.connect)?;
    let id = args.client_id.unwrap_or_else(connection::random_client_id);
    let lifetime = Duration::from_secs_f64(args.lifetime);
    let request = ConnectTokenRequest { lifetime, ..ConnectTokenRequest::new(id, server, PROTOCOL_ID) };
    let token = request.issue(&key).map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    if out.is_terminal() {
        return Err("a token is 2048 bytes of binary data; redirect it to a file: > FILE".to_owned());
    }
    out.write_all(&token)
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write the token: {error}"))
}

/// Writes a new key to standard output.
///
/// # Errors
/// Returns one line when the operating system provides no random bytes, or standard output cannot be written to.
pub fn write_key() -> Result<(), String> {
    let key = ServerKey::random().map_err(|error| error.to_string())?.to_hex();
    let mut out = std::io::stdout();
    writeln!(out, "{key}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write the key: {error}"))
}

/// Reads a connect token from a file.
///
/// # Errors
/// Returns one line when the file cannot be read, or does not contain a token that is still valid.
pub fn read_token(file: &Path) -> Result<TokenClient, String> {
    let shown = OneLine::path(file);
    let bytes = read_file(file, TOKEN_BYTES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "cannot read the token file {shown} ({error}); \
             create one with: shooter token --key FILE --connect ADDR > {shown}"
        ),
        _ => format!("cannot read {shown} as a connect token: {error}"),
    })?;
    TokenClient::new(&bytes).map_err(|error| format!("{shown}: {error}"))
}

fn key(file: &Path) -> Result<ServerKey, String> {
    ServerKey::from_file(file).map_err(|error| match error {
        KeyError::Text | KeyError::Zero => format!("{}: {error}", OneLine::path(file)),
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_to_write_a_token_is_given_only_for_a_missing_file() {
        let missing = read_token(Path::new("no/such/\u{1b}[2Jtoken")).err().unwrap_or_default();
        assert!(
            missing.contains("no/such/\\u{1b}[2Jtoken") && missing.contains("shooter token"),
            "{missing}"
        );
        let long = std::env::temp_dir().join(format!("long_token_{}", std::process::id()));
        std::fs::write(&long, vec![0; TOKEN_BYTES + 1]).expect("a file");
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
    fn key_file_without_a_key_is_named() {
        let file = std::env::temp_dir().join(format!("no_key_{}", std::process::id()));
        std::fs::write(&file, "no key").expect("a file");
        let line = key(&file).err().unwrap_or_default();
        std::fs::remove_file(&file).expect("it goes");
        assert!(line.contains("no_key_") && line.contains("64 hexadecimal digits"), "{line}");
    }
}

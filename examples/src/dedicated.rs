//! Command line of a dedicated server: its key, and a stand-in for the matchmaker that issues connect
//! tokens.

use std::{
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
};

use bevy_unlag::{
    guard::{ConnectTokenRequest, ServerKey},
    net::FastClockRule,
    prelude::{ServerAccess, TokenClient},
    rewind::RewindMode,
};
use clap::{Args, ValueEnum};
use core::time::Duration;

use crate::{
    app::ServerOptions,
    args,
    connection::{self, DEFAULT_PORT, PROTOCOL_ID},
    udp_match,
};

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
    let options = ServerOptions { fast_clocks, ..ServerOptions::game(args.rewind.into()) };
    udp_match::serve(args.port, &access, options, |port| {
        if access.key.is_development() {
            println!("serving on UDP port {port}; connect with: shooter client --connect ADDRESS:{port}");
            println!("development mode: any client can join under any id; use --key FILE on a public server");
        } else {
            println!("serving on UDP port {port}; connect with: shooter client --token FILE");
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
/// Returns one line when the operating system provides no random bytes.
pub fn write_key() -> Result<(), String> {
    println!("{}", ServerKey::random().map_err(|error| error.to_string())?.to_hex());
    Ok(())
}

/// Reads a connect token from a file.
///
/// # Errors
/// Returns one line when the file cannot be read, or does not contain a token that is still valid.
pub fn read_token(file: &Path) -> Result<TokenClient, String> {
    let bytes = std::fs::read(file).map_err(|error| {
        format!(
            "cannot read the token file {} ({error}); \
             create one with: shooter token --key FILE --connect ADDR > {}",
            file.display(),
            file.display()
        )
    })?;
    TokenClient::new(&bytes).map_err(|error| format!("{}: {error}", file.display()))
}

fn key(file: &Path) -> Result<ServerKey, String> {
    ServerKey::from_file(file).map_err(|error| error.to_string())
}

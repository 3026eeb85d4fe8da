//! Handle of the server process: starts it and exchanges commands over its standard input and output.

use std::{
    ffi::OsStr,
    net::{Ipv4Addr, SocketAddr},
};

use serde::{Deserialize, Serialize};

use unlag_examples::transport::{ClientTransport, TransportArgs, TransportName};

use super::system_info;
use crate::{
    interest::{Costs, Level},
    lab_process::LabProcess,
    prelude::*,
};

/// Server in a process of its own that runs one frame per command.
pub struct ServerProcess {
    process: LabProcess,
    /// Address to connect to over UDP.
    pub address: SocketAddr,
    listening: Listening,
}

/// Addresses on which a server process listens.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Listening {
    /// UDP port.
    pub udp: u16,
    /// UDP port for WebTransport.
    pub web_transport: Option<u16>,
    /// TCP port for WebSocket.
    pub web_socket: Option<u16>,
    /// Digest of the certificate of these two.
    pub digest: Option<String>,
}

/// Duration of one server frame.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time; wall-clock time where the processor clock is [too
    /// coarse](system_info::is_cpu_clock_fine).
    pub cpu: Duration,
}

impl Frame {
    /// Returns a quantile of times of frames in milliseconds.
    pub fn quantile_ms(frames: &[Self], time: impl Fn(&Self) -> Duration, q: f64) -> f64 {
        quantile(&mut frames.iter().map(|frame| time(frame).as_secs_f64() * 1e3).collect::<Vec<_>>(), q)
    }
}

/// Counters of the server process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ServerCounters {
    /// Resident memory of the process in bytes.
    pub bytes: u64,
    /// Links, connected or not.
    pub links: usize,
    /// Connected links.
    pub connected: usize,
    /// Clients kicked so far.
    pub kicked: u64,
    /// Datagrams and packets refused so far.
    pub refused: u64,
    /// Processor time of the process so far, all threads.
    pub cpu: Duration,
}

impl ServerProcess {
    /// Starts a server process and waits for its port.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(hz: u32, laps: bool) -> Result<Self, String> {
        Self::start_with(hz, laps.then_some("--laps"))
    }

    /// Starts a server process that conceals pawns out of sight in a level.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start_in_level(level: Level) -> Result<Self, String> {
        Self::start_with(64, [format!("--level={}", level.number), format!("--seed={}", level.seed)])
    }

    /// Starts a server process that listens for WebTransport and WebSocket, too.
    ///
    /// # Errors
    /// Returns a message if the process does not start, or this build knows UDP alone.
    pub fn start_for_all_transports(hz: u32) -> Result<Self, String> {
        Self::start_with(hz, ["--web"])
    }

    fn start_with(hz: u32, options: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<Self, String> {
        let mut process = LabProcess::start("the server process", |command| {
            command.args(["load-server", "--hz", &hz.to_string()]).args(options);
            command.args((!system_info::is_cpu_clock_fine()).then_some("--wall"));
        })?;
        let listening: Listening = process.reply()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, listening.udp));
        Ok(Self { process, address, listening })
    }

    /// Returns the address for a transport, and what a client needs for it.
    ///
    /// # Errors
    /// Returns a message if the server does not listen for it.
    pub fn reach(&self, transport: TransportName) -> Result<(SocketAddr, ClientTransport), String> {
        let port = match transport {
            TransportName::Udp => Some(self.listening.udp),
            TransportName::WebTransport => self.listening.web_transport,
            TransportName::WebSocket => self.listening.web_socket,
        };
        let port = port.ok_or("the server process does not listen for this transport")?;
        let client =
            TransportArgs { transport, digest: self.listening.digest.clone(), url: None }.client()?;
        Ok((SocketAddr::from((Ipv4Addr::LOCALHOST, port)), client))
    }

    /// Runs one frame, which is one tick.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn frame(&mut self) -> Result<Frame, String> {
        self.process.request("frame")
    }

    /// Returns the server's counters.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn state(&mut self) -> Result<ServerCounters, String> {
        self.process.request("state")
    }

    /// Returns the nanoseconds per section of the frame since the last call, in frame order.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn laps(&mut self) -> Result<Vec<(String, u64)>, String> {
        self.process.request("laps")
    }

    /// Moves all pawns to free places of the server's level.
    ///
    /// # Errors
    /// Returns a message if the process has ended, which also happens if the level has no free place.
    pub fn scatter(&mut self) -> Result<(), String> {
        self.process.request("scatter")
    }

    /// Returns the cost of concealing pawns since the last call.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn interest(&mut self) -> Result<Costs, String> {
        self.process.request("interest")
    }

    /// Returns the nanoseconds of each send of replication since the last call.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn replication(&mut self) -> Result<Vec<u64>, String> {
        self.process.request("replication")
    }
}

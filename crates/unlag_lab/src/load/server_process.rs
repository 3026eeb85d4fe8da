//! Handle of the server process: starts it and exchanges commands over its standard input and output.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::system_info;
use crate::prelude::*;

/// Server in a process of its own that runs one frame per command.
pub struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Address to connect to.
    pub address: SocketAddr,
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
}

impl ServerProcess {
    /// Starts a server process and waits for its port.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(hz: u32, laps: bool) -> Result<Self, String> {
        let lab =
            std::env::current_exe().map_err(|error| format!("cannot find the lab's executable: {error}"))?;
        let mut command = Command::new(lab);
        command.args(["load-server", "--hz", &hz.to_string()]).args(laps.then_some("--laps"));
        command.args((!system_info::is_cpu_clock_fine()).then_some("--wall"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the server process: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server process has no standard input and output".to_owned());
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut this = Self { child, input: Some(input), output: BufReader::new(output), address };
        let port = this.read_reply()?;
        this.address.set_port(port);
        Ok(this)
    }

    fn read_reply<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("the server process ended: it panicked or was killed".to_owned()),
            Ok(_) => serde_json::from_str(&line).map_err(|e| format!("unexpected reply of the server: {e}")),
            Err(error) => Err(format!("cannot read from the server process: {error}")),
        }
    }

    fn request<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, String> {
        let input = self.input.as_mut().ok_or("the server process is shutting down")?;
        writeln!(input, "{line}").map_err(|error| format!("the server process has ended: {error}"))?;
        self.read_reply()
    }

    /// Runs one frame, which is one tick.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn frame(&mut self) -> Result<Frame, String> {
        self.request("frame")
    }

    /// Returns the server's counters.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn state(&mut self) -> Result<ServerCounters, String> {
        self.request("state")
    }

    /// Returns the nanoseconds per section of the frame since the last call, in frame order.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn laps(&mut self) -> Result<Vec<(String, u64)>, String> {
        self.request("laps")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The server ends when its input is closed.
        self.input = None;
        if self.child.wait().is_err() {
            let _ = self.child.kill();
        }
    }
}

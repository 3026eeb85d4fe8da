//! The lab's end of the server's process.

use core::time::Duration;
use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::machine;

/// A server in a process of its own, which runs a frame when it is told to.
pub struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Where to dial it.
    pub address: SocketAddr,
}

/// What one frame took.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// By the clock on the wall.
    pub wall: Duration,
    /// Of the processor; on the wall, too, where its clock is [too coarse](machine::is_cpu_clock_fine).
    pub cpu: Duration,
}

/// Who is there, and what it takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Resident memory of the process.
    pub bytes: u64,
    /// Links, connected or not.
    pub links: u64,
    /// Connections.
    pub connected: u64,
    /// Clients that were thrown out so far.
    pub kicked: u64,
    /// Datagrams and packets that were dropped so far.
    pub refused: u64,
    /// Moves that were run so far.
    pub moves: u64,
}

impl ServerProcess {
    /// Starts one.
    ///
    /// # Errors
    /// One line when it does not come up.
    pub fn start(hz: u32, laps: bool) -> Result<Self, String> {
        let lab = std::env::current_exe().map_err(|error| format!("cannot find the lab: {error}"))?;
        let mut command = Command::new(lab);
        command.args(["load-server", "--hz", &hz.to_string()]).args(laps.then_some("--laps"));
        command.args((!machine::is_cpu_clock_fine()).then_some("--wall"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the server's process: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server's process cannot be spoken to".to_owned());
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut this = Self { child, input: Some(input), output: BufReader::new(output), address };
        let port = this.hear()?;
        this.address.set_port(port.parse().map_err(|_| format!("the server says '{port}', not its port"))?);
        Ok(this)
    }

    fn hear(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("the server's process ended: it panicked, or was killed".to_owned()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(error) => Err(format!("cannot hear the server: {error}")),
        }
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        let input = self.input.as_mut().ok_or("the server has been told to end")?;
        writeln!(input, "{line}").map_err(|error| format!("the server's process has gone: {error}"))?;
        self.hear()
    }

    fn numbers<const N: usize>(&mut self, line: &str) -> Result<[u64; N], String> {
        let said = self.ask(line)?;
        let numbers: Vec<u64> = said.split(' ').filter_map(|number| number.parse().ok()).collect();
        numbers.try_into().map_err(|_| format!("the server answers '{said}' to '{line}'"))
    }

    /// Lets it run one frame, which is one tick.
    ///
    /// # Errors
    /// One line when it has gone.
    pub fn frame(&mut self) -> Result<Frame, String> {
        let [wall, cpu] = self.numbers("frame")?;
        Ok(Frame { wall: Duration::from_nanos(wall), cpu: Duration::from_nanos(cpu) })
    }

    /// Who is there.
    ///
    /// # Errors
    /// One line when it has gone.
    pub fn state(&mut self) -> Result<State, String> {
        let [bytes, links, connected, kicked, refused, moves] = self.numbers("state")?;
        Ok(State { bytes, links, connected, kicked, refused, moves })
    }

    /// Nanoseconds between the marks since it was last asked, in the order of a frame.
    ///
    /// # Errors
    /// One line when it has gone.
    pub fn laps(&mut self) -> Result<Vec<(String, u64)>, String> {
        let said = self.ask("laps")?;
        let laps = said.split(';').filter_map(|lap| lap.split_once(' '));
        Ok(laps.filter_map(|(nanos, name)| Some((name.to_owned(), nanos.parse().ok()?))).collect())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Its input ends, and so does it.
        self.input = None;
        if self.child.wait().is_err() {
            let _ = self.child.kill();
        }
    }
}

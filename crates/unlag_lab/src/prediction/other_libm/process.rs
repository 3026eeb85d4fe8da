//! Handle of the process with the clients: starts it and exchanges commands over its standard input and output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use unlag_examples::shot_stats::ShotStats;

use super::clients::ClientArgs;

/// Variable by which glibc is told to use no FMA variants. Other C libraries ignore it.
const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4");

/// Ticks and end positions, as bits, of the moves of a pawn.
pub type Moves = Vec<(u32, [u32; 3])>;

/// Counters of all clients.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Shots of all players.
    pub shots: ShotStats,
    /// Corrections of their moves.
    pub corrections: u64,
    /// Changes that the server ordered, such as deaths and respawns.
    pub server_changes: u64,
    /// Results of the maths library, as bits.
    pub maths: Vec<u64>,
}

/// Clients in a process of their own that run one frame per command.
pub struct ClientProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl ClientProcess {
    /// Starts the process, if asked for without the C library's FMA variants. The clients start to connect.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(args: &ClientArgs, mask_fma: bool) -> Result<Self, String> {
        let lab =
            std::env::current_exe().map_err(|error| format!("cannot find the lab's executable: {error}"))?;
        let mut command = Command::new(lab);
        command.args(args.to_command_line());
        if mask_fma {
            command.env(TUNABLES.0, TUNABLES.1);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the clients' process: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the clients' process has no standard input and output".to_owned());
        };
        Ok(Self { child, input: Some(input), output: BufReader::new(output) })
    }

    fn request<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, String> {
        let input = self.input.as_mut().ok_or("the clients' process is shutting down")?;
        writeln!(input, "{line}").map_err(|error| format!("the clients' process has ended: {error}"))?;
        let mut reply = String::new();
        match self.output.read_line(&mut reply) {
            Ok(0) => Err("the clients' process ended: it panicked or was killed".to_owned()),
            Ok(_) => {
                serde_json::from_str(&reply).map_err(|e| format!("unexpected reply of the clients: {e}"))
            }
            Err(error) => Err(format!("cannot read from the clients' process: {error}")),
        }
    }

    /// Runs one frame of every client.
    pub fn frame(&mut self) -> Result<(), String> {
        self.request("frame")
    }

    /// Returns whether every client has a pawn. Clients whose connection attempt failed reconnect.
    pub fn are_playing(&mut self) -> Result<bool, String> {
        self.request("playing")
    }

    /// Sends the players on a tour of the arena, without combat. Recording of their moves starts again.
    pub fn tour(&mut self, seed: u64) -> Result<(), String> {
        self.request(&format!("tour {seed}"))
    }

    /// Lets the players fight.
    pub fn fight(&mut self, seed: u64) -> Result<(), String> {
        self.request(&format!("fight {seed}"))
    }

    /// Stops the players' fire.
    pub fn cease_fire(&mut self) -> Result<(), String> {
        self.request("cease-fire")
    }

    /// Returns the moves of each player since the tour began, by the pawn's network id.
    pub fn traces(&mut self) -> Result<Vec<(u16, Moves)>, String> {
        self.request("traces")
    }

    /// Returns the counters of all clients.
    pub fn report(&mut self) -> Result<Report, String> {
        self.request("report")
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        // The process ends when its input is closed.
        self.input = None;
        if self.child.wait().is_err() {
            let _ = self.child.kill();
        }
    }
}

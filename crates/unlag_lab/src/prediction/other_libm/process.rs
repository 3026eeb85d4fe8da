//! Handle of the process with the clients: starts it and exchanges commands over its standard input and output.

use super::{
    Difference,
    clients::{ClientArgs, Moves, Report},
};
use crate::lab_process::LabProcess;

/// Variable by which glibc is told to use no FMA variants. Other C libraries ignore it.
const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4");

/// Variable by which the system's loader takes functions from another library first.
const PRELOAD: &str = "LD_PRELOAD";

/// Clients in a process of their own that run one frame per command.
pub struct ClientProcess(LabProcess);

impl ClientProcess {
    /// Starts the process with a difference between its arithmetic and that of the server. The clients start to
    /// connect.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(args: &ClientArgs, difference: Difference) -> Result<Self, String> {
        let process = LabProcess::start("the clients' process", |command| {
            command.args(args.to_command_line());
            match difference {
                Difference::MaskedFma => drop(command.env(TUNABLES.0, TUNABLES.1)),
                Difference::Library(file) => drop(command.env(PRELOAD, file)),
                Difference::OneUlp => (),
            }
        });
        process.map(Self)
    }

    /// Runs one frame of every client.
    pub fn frame(&mut self) -> Result<(), String> {
        self.0.request("frame")
    }

    /// Returns whether every client has a pawn. Clients whose connection attempt failed reconnect.
    pub fn are_playing(&mut self) -> Result<bool, String> {
        self.0.request("playing")
    }

    /// Sends the players on a tour of the arena, without combat. Recording of their moves starts again.
    pub fn tour(&mut self, seed: u64) -> Result<(), String> {
        self.0.request(&format!("tour {seed}"))
    }

    /// Lets the players fight.
    pub fn fight(&mut self, seed: u64) -> Result<(), String> {
        self.0.request(&format!("fight {seed}"))
    }

    /// Stops the players' fire.
    pub fn cease_fire(&mut self) -> Result<(), String> {
        self.0.request("cease-fire")
    }

    /// Returns the moves of each player since the tour began, by the pawn's network id.
    pub fn traces(&mut self) -> Result<Vec<(u16, Moves)>, String> {
        self.0.request("traces")
    }

    /// Returns the counters of all clients.
    pub fn report(&mut self) -> Result<Report, String> {
        self.0.request("report")
    }
}

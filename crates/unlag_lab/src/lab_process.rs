//! Child process of the lab's own executable, which answers in lines of JSON.

use std::{
    io::{BufRead, BufReader, Write, stdout},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Serialize, de::DeserializeOwned};

/// Signals to a child process.
#[derive(Clone, Copy, Debug)]
pub enum ProcessSignal {
    /// Stands still until it may go on.
    Stop,
    /// Goes on.
    Continue,
    /// Ends in order.
    Terminate,
    /// Ends at once.
    Kill,
}

/// A child process. It ends when its standard input is closed, which dropping this does.
pub struct LabProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Name in messages.
    name: &'static str,
}

impl LabProcess {
    /// Starts the process with the arguments and variables that `configure` adds. `name` is for messages, such as "the
    /// server process".
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(name: &'static str, configure: impl FnOnce(&mut Command)) -> Result<Self, String> {
        let lab =
            std::env::current_exe().map_err(|error| format!("cannot find the lab's executable: {error}"))?;
        let mut command = Command::new(lab);
        configure(&mut command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{name} has no standard input and output"));
        };
        Ok(Self { child, input: Some(input), output: BufReader::new(output), name })
    }

    /// Sends a signal to the process.
    ///
    /// # Errors
    /// Returns a message if the process has ended, and where the system has no signals.
    pub fn signal(&self, signal: ProcessSignal) -> Result<(), String> {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            let number = match signal {
                ProcessSignal::Stop => Signal::STOP,
                ProcessSignal::Continue => Signal::CONT,
                ProcessSignal::Terminate => Signal::TERM,
                ProcessSignal::Kill => Signal::KILL,
            };
            // It has not been waited for, so its id is still its own.
            kill_process(Pid::from_child(&self.child), number)
                .map_err(|error| format!("cannot send {signal:?} to {}: {error}", self.name))
        }
        #[cfg(not(unix))]
        Err(format!("this system cannot send {signal:?} to {}", self.name))
    }

    /// Waits for a reply.
    ///
    /// # Errors
    /// Returns a message if the process has ended, or replies something else.
    pub fn reply<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let (name, mut line) = (self.name, String::new());
        match self.output.read_line(&mut line) {
            Ok(0) => Err(format!("{name} ended: it panicked or was killed")),
            Ok(_) => {
                serde_json::from_str(&line).map_err(|error| format!("unexpected reply of {name}: {error}"))
            }
            Err(error) => Err(format!("cannot read from {name}: {error}")),
        }
    }

    /// Sends a command.
    ///
    /// # Errors
    /// Returns a message if the process has ended.
    pub fn command(&mut self, line: &str) -> Result<(), String> {
        let name = self.name;
        let input = self.input.as_mut().ok_or_else(|| format!("{name} is shutting down"))?;
        writeln!(input, "{line}").map_err(|error| format!("{name} has ended: {error}"))
    }

    /// Sends a command and waits for its reply.
    ///
    /// # Errors
    /// Returns a message if the process has ended, or replies something else.
    pub fn request<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, String> {
        self.command(line)?;
        self.reply()
    }
}

/// Writes a reply of a child process as a line of JSON.
///
/// # Errors
/// Returns a message if standard output fails.
pub fn say(reply: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string(reply).map_err(|error| format!("cannot reply: {error}"))?;
    let mut out = stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| format!("cannot reply: {error}"))
}

impl Drop for LabProcess {
    fn drop(&mut self) {
        // A process that stands still does not see that its input has ended.
        let _ = self.signal(ProcessSignal::Continue);
        self.input = None;
        if self.child.wait().is_err() {
            let _ = self.child.kill();
        }
    }
}

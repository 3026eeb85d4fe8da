//! Game servers as processes of this machine: one match a process.

use core::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Instant,
};

use bevy_unlag::guard::ServerKeys;
use bevy_unlag_server::say_error;
use checked_ron::OneLine;

use super::{AllocationEvent, Allocator, GameServer};

/// Time after which a server that is not ready is ended.
const START_TIME: Duration = Duration::from_secs(30);
/// Time after which a server that drains is ended: above the 20 s of its drain, below the 30 s after which an
/// operator's tools end this process.
const DRAIN_TIME: Duration = Duration::from_secs(25);
/// Output of a server that is searched for its port, in bytes.
const MAX_OUTPUT: u64 = 4_096;
/// Beginning of the line with the port.
const PORT_LINE: &str = "serving on UDP port ";

/// Options of local servers.
#[derive(Clone, Debug)]
pub struct LocalOptions {
    /// Program of the server: the example `server`.
    pub program: PathBuf,
    /// Address of this machine for clients.
    pub host: IpAddr,
    /// Maximum number of processes at a time.
    pub max_servers: usize,
    /// Length of a match, in seconds.
    pub match_seconds: f64,
    /// Folder for the servers' logs. `None`: they go to this program's standard error.
    pub logs: Option<PathBuf>,
}

/// Starts a process for each match.
pub struct LocalServers {
    options: LocalOptions,
    fleet: ServerKeys,
    servers: Vec<LocalServer>,
    next: u64,
    ports: (Sender<(u64, Option<u16>)>, Receiver<(u64, Option<u16>)>),
}

struct LocalServer {
    number: u64,
    match_id: String,
    server_id: String,
    process: Child,
    started: Instant,
    is_ready: bool,
    /// Start of its drain.
    drained: Option<Instant>,
}

impl LocalServers {
    /// Prepares to start servers with keys of this fleet.
    ///
    /// # Errors
    /// Returns one line when there is no such program.
    pub fn new(options: LocalOptions, fleet: ServerKeys) -> Result<Self, String> {
        if !options.program.is_file() {
            let program = OneLine::path(&options.program);
            return Err(format!(
                "there is no server program {program}; build it, or name it with --server: \
                 cargo build --release -p unlag_examples --example server"
            ));
        }
        Ok(Self { options, fleet, servers: Vec::new(), next: 1, ports: channel() })
    }

    fn start(&mut self, match_id: &str) -> io::Result<LocalServer> {
        let number = self.next;
        self.next += 1;
        let server_id = format!("local-{}-{number}", std::process::id());
        let log = match &self.options.logs {
            Some(folder) => Stdio::from(File::create(folder.join(format!("{match_id}.log")))?),
            None => Stdio::inherit(),
        };
        let mut command = Command::new(&self.options.program);
        // A Ctrl-C for this process is none for the server, which would take the request to drain for a second one.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command
            .args(["--port", "0", "--server-id", &server_id, "--match-id", match_id])
            .args(["--match-seconds", &self.options.match_seconds.to_string()])
            // Everybody on the machine can see arguments, so the key is in the input.
            .args(["--key", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let keys: String = self.fleet.for_server(&server_id).iter().map(|key| key.to_hex() + "\n").collect();
        if let Some(mut input) = process.stdin.take() {
            // It fails if the server has ended already, which `poll` reports.
            let _ = input.write_all(keys.as_bytes());
        }
        if let Some(output) = process.stdout.take() {
            let ports = self.ports.0.clone();
            let reader = thread::Builder::new().spawn(move || {
                let _ = ports.send((number, read_port(output)));
            });
            if let Err(error) = reader {
                let _ = process.kill();
                let _ = process.wait();
                return Err(error);
            }
        }
        Ok(LocalServer {
            number,
            match_id: match_id.to_owned(),
            server_id,
            process,
            started: Instant::now(),
            is_ready: false,
            drained: None,
        })
    }
}

/// Reads the port from the output of a server.
fn read_port(output: ChildStdout) -> Option<u16> {
    let mut lines = BufReader::new(output.take(MAX_OUTPUT)).lines();
    lines.find_map(|line| parse_port(&line.ok()?))
}

fn parse_port(line: &str) -> Option<u16> {
    line.strip_prefix(PORT_LINE)?.split(';').next()?.parse().ok()
}

impl Allocator for LocalServers {
    fn allocate(&mut self, match_id: &str) -> Result<(), String> {
        if self.servers.len() >= self.options.max_servers {
            return Err("all servers are taken; try again later".to_owned());
        }
        let server = self.start(match_id).map_err(|error| format!("cannot start a server: {error}"))?;
        self.servers.push(server);
        Ok(())
    }

    fn poll(&mut self) -> Vec<(String, AllocationEvent)> {
        let (mut events, now) = (Vec::new(), Instant::now());
        for (number, port) in self.ports.1.try_iter() {
            let Some(server) = self.servers.iter_mut().find(|server| server.number == number) else {
                continue;
            };
            if let Some(port) = port {
                server.is_ready = true;
                let address = SocketAddr::new(self.options.host, port);
                let ready = GameServer { server_id: server.server_id.clone(), address };
                events.push((server.match_id.clone(), AllocationEvent::Ready(ready)));
            }
        }
        self.servers.retain_mut(|server| {
            let late = !server.is_ready && now.duration_since(server.started) > START_TIME;
            if late {
                let _ = server.process.kill();
            }
            let exit = match server.process.try_wait() {
                Ok(None) => return true,
                Ok(Some(status)) => status.to_string(),
                Err(error) => error.to_string(),
            };
            let event = if server.is_ready {
                AllocationEvent::Ended
            } else {
                say_error(format_args!("the server of {} was not ready: {exit}", server.match_id));
                AllocationEvent::Failed("the server of the match could not start".to_owned())
            };
            events.push((server.match_id.clone(), event));
            false
        });
        events
    }

    fn drain(&mut self) -> usize {
        let now = Instant::now();
        for server in &mut self.servers {
            match server.drained {
                None => {
                    server.drained = Some(now);
                    // It fails if the server has ended already, which `poll` notices.
                    let _ = ask_to_stop(&mut server.process);
                }
                Some(asked) if now.duration_since(asked) > DRAIN_TIME => {
                    let _ = server.process.kill();
                }
                Some(_) => {}
            }
        }
        self.servers.len()
    }
}

/// Asks a server to drain: SIGTERM. Ends it on systems without that signal.
fn ask_to_stop(process: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        // It has not been waited for since it was seen to run, so its id is still its own.
        kill_process(Pid::from_child(process), Signal::TERM).map_err(io::Error::from)
    }
    #[cfg(not(unix))]
    {
        process.kill()
    }
}

impl Drop for LocalServers {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.process.kill();
            let _ = server.process.wait();
        }
    }
}

/// Returns the program of the server beside this one.
pub fn default_program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.parent().unwrap_or(Path::new("."));
    folder.join(format!("server{}", std::env::consts::EXE_SUFFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_read_from_the_line_of_the_server_alone() {
        assert_eq!(
            parse_port("serving on UDP port 40123; connect with: shooter client --token FILE"),
            Some(40_123)
        );
        for line in ["", "serving on UDP port", "serving on UDP port 70000; x", "UDP port 5000; x"] {
            assert_eq!(parse_port(line), None, "{line}");
        }
    }

    #[test]
    fn missing_program_is_an_error_that_says_how_to_build_it() {
        let options = LocalOptions {
            program: "no/such/program".into(),
            host: IpAddr::from([127, 0, 0, 1]),
            max_servers: 1,
            match_seconds: 1.0,
            logs: None,
        };
        let fleet = bevy_unlag::guard::ServerKey::random().expect("random bytes").into();
        let error = LocalServers::new(options, fleet).err().unwrap_or_default();
        assert!(error.contains("no/such/program") && error.contains("--example server"), "{error}");
    }
}

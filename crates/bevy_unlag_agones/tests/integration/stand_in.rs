//! Stand-in for Agones' sidecar: an HTTP server with its REST interface, after `sdks/swagger`, `rest.md` and
//! `pkg/sdkserver/localsdk.go` of Agones 1.56. The tests and the executable of `.ci/agones` share it.

#[path = "stand_in/record.rs"]
mod record;

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use serde_json::{Value, json};

use record::Record;

/// Longest line of a head, and longest body.
const MAX_REQUEST: u64 = 1 << 20;

/// Kind of the stand-in's answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answers {
    /// As Agones does.
    Normal,
    /// Something that is not HTTP, or not JSON.
    Junk,
    /// A head or a body without end.
    Huge,
    /// Not at all, until the answers change.
    Silent,
    /// As Agones does, but the stream of changes is refused.
    NoStream,
}

impl Answers {
    /// Returns the kind of answers of that name, whatever its case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Normal, Self::Junk, Self::Huge, Self::Silent, Self::NoStream];
        all.into_iter().find(|answers| format!("{answers:?}").eq_ignore_ascii_case(name))
    }
}

/// A running stand-in. It ends with all its connections when it is dropped.
pub(crate) struct StandIn {
    shared: Arc<Shared>,
    address: SocketAddr,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    record: Record,
    /// Requests in the order of their arrival: `METHOD path body`.
    requests: Vec<String>,
    answers: Answers,
    connections: Vec<TcpStream>,
    is_stopped: bool,
}

impl StandIn {
    /// Starts at an address; port 0 takes any free one.
    pub(crate) fn start(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let state = State {
            record: Record::default(),
            requests: Vec::new(),
            answers: Answers::Normal,
            connections: Vec::new(),
            is_stopped: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let accepting = shared.clone();
        thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { shared, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.lock().requests.clone()
    }

    /// Allocates the game server from outside, and adds labels and annotations, as a `GameServerAllocation` does.
    pub(crate) fn allocate(&self, metadata: &Value) {
        self.shared.change(|state| state.record.allocate(metadata));
    }

    /// Answers otherwise from now on. Returns how many requests have been answered before.
    pub(crate) fn set_answers(&self, answers: Answers) -> usize {
        self.shared.change(|state| {
            state.answers = answers;
            state.requests.len()
        })
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.change(|state| {
            state.is_stopped = true;
            for connection in &state.connections {
                let _ = connection.shutdown(Shutdown::Both);
            }
        });
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    fn wait_while(&self, condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'_, State> {
        self.changed.wait_while(self.lock(), condition).unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        let Ok(copy) = stream.try_clone() else { return };
        let is_stopped = shared.change(|state| {
            state.connections.push(copy);
            state.is_stopped
        });
        if is_stopped {
            return;
        }
        let (shared, peer) = (shared.clone(), stream.peer_addr().ok());
        thread::spawn(move || {
            // A connection that the client closes is no failure.
            let _ = serve(stream, &shared);
            let is_other = |copy: &TcpStream| copy.peer_addr().is_ok_and(|other| Some(other) != peer);
            shared.change(|state| state.connections.retain(is_other));
        });
    }
}

/// Answers the requests of a connection until one side closes it.
fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some((method, path, body)) = read_request(&mut reader)? {
        let answers = shared.change(|state| {
            state.requests.push(format!("{method} {path} {body}"));
            state.answers
        });
        let is_stream = (method.as_str(), path.as_str()) == ("GET", "/watch/gameserver");
        match answers {
            Answers::Silent => {
                drop(shared.wait_while(|state| state.answers == Answers::Silent && !state.is_stopped));
                return out.shutdown(Shutdown::Both);
            }
            Answers::Junk if method == "GET" => write_json(&mut out, 200, "junk\n")?,
            Answers::Junk => {
                out.write_all(b"\x16\x03\x01junk\r\n\r\n")?;
                return out.shutdown(Shutdown::Both);
            }
            Answers::Huge => {
                let head: &[u8] =
                    if method == "GET" { b"Content-Length: 99999999999\r\n\r\n" } else { b"X: " };
                out.write_all(b"HTTP/1.1 200 OK\r\n")?;
                out.write_all(head)?;
                loop {
                    out.write_all(&[b' '; 4_096])?;
                }
            }
            Answers::NoStream if is_stream => write_json(&mut out, 404, "{}")?,
            Answers::Normal if is_stream => return write_stream(&mut out, shared),
            Answers::Normal | Answers::NoStream => {
                let (status, answer) = shared.change(|state| state.record.answer(&method, &path, &body));
                write_json(&mut out, status, &answer.map_or_else(String::new, |answer| answer.to_string()))?;
            }
        }
    }
    Ok(())
}

/// Reads method, path and body; `None` at the end of the connection.
fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<(String, String, String)>> {
    let mut length = 0;
    let mut line = String::new();
    if reader.by_ref().take(MAX_REQUEST).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    loop {
        let mut field = String::new();
        reader.by_ref().take(MAX_REQUEST).read_line(&mut field)?;
        if field.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = field.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = String::new();
    reader.by_ref().take(MAX_REQUEST.min(length)).read_to_string(&mut body)?;
    Ok(Some((method, path, body)))
}

fn write_json(out: &mut TcpStream, status: u16, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    out.write_all(format!("{head}{body}").as_bytes())
}

/// Writes the game server, and again after each change: a line of JSON, in a chunk of its own.
fn write_stream(out: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    out.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    let mut written = None;
    loop {
        let state = shared.wait_while(|state| written == Some(state.record.version()) && !state.is_stopped);
        if state.is_stopped {
            return Ok(());
        }
        written = Some(state.record.version());
        let line = format!("{}\n", json!({ "result": state.record.game_server() }));
        drop(state);
        out.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes())?;
    }
}

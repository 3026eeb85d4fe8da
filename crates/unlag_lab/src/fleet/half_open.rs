//! Memory of a server in development mode that thousands of clients ask to join and then never answer.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bevy_unlag::guard::{ConnectTokenRequest, ServerKey};
use unlag_examples::connection::PROTOCOL_ID;

use crate::{load::ServerProcess, prelude::*};

/// Hosts from which the requests come, and addresses of each.
const HOSTS: (u8, usize) = (64, 8);
/// Names that ask before the growth is measured: several times as many as a server remembers.
const FIRST: u64 = 2_000;
/// Requests in a tick of 1/64 s, as many as `IngressLimits::connection_requests_per_second`.
const PER_TICK: u64 = 4;

/// Clients that ask under a new name each time.
struct Strangers {
    sockets: Vec<UdpSocket>,
    asked: u64,
    challenged: u64,
}

impl Strangers {
    fn new() -> Result<Self, String> {
        // From several loopback addresses where the system has them.
        let bind = |index: usize| {
            UdpSocket::bind((Ipv4Addr::new(127, 0, (index / HOSTS.1) as u8 + 1, 1), 0))
                .or_else(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))
                .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
        };
        let sockets = (0..usize::from(HOSTS.0) * HOSTS.1).map(bind).collect::<Result<Vec<_>, _>>();
        let sockets = sockets.map_err(|error| format!("cannot open the sockets of strangers: {error}"))?;
        Ok(Self { sockets, asked: 0, challenged: 0 })
    }

    /// Asks the server under so many new names.
    fn ask(&mut self, server: &mut ServerProcess, names: u64) -> Result<(), String> {
        let end = self.asked + names;
        while self.asked < end {
            for _ in 0..PER_TICK.min(end - self.asked) {
                let request = request(self.asked, server.address)?;
                let socket = &self.sockets[self.asked as usize % self.sockets.len()];
                self.challenged += answers(socket);
                socket.send_to(&request, server.address).map_err(|error| format!("cannot ask: {error}"))?;
                self.asked += 1;
            }
            server.frame()?;
        }
        Ok(())
    }

    /// Returns the share of the names that the server has challenged, in percent.
    fn challenged_percent(&mut self) -> f64 {
        self.challenged += self.sockets.iter().map(answers).sum::<u64>();
        self.challenged as f64 * 100.0 / self.asked as f64
    }
}

/// Returns the number of datagrams that a socket has received.
fn answers(socket: &UdpSocket) -> u64 {
    let mut room = [0; 1_500];
    core::iter::from_fn(|| socket.recv(&mut room).ok()).count() as u64
}

/// Returns the connection request of a client with this id, as netcode's client sends it.
fn request(client_id: u64, server: SocketAddr) -> Result<Vec<u8>, String> {
    let request = ConnectTokenRequest::new(client_id, server, PROTOCOL_ID);
    let token = request.issue(&ServerKey::development()).map_err(|error| error.to_string())?;
    // Version and protocol id, without the time of issue; expiry, nonce and private part.
    Ok([&[0][..], &token[..21], &token[29..29 + 8 + 24 + 1_024]].concat())
}

/// Adds the growth of the server's memory for the first names and for each further one.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let further: u64 = options.extent(8_000, 60_000);
    let mut server = ServerProcess::start(64, false)?;
    let mut strangers = Strangers::new()?;
    for _ in 0..64 {
        server.frame()?;
    }
    let empty = server.state()?.bytes;
    strangers.ask(&mut server, FIRST)?;
    let first = server.state()?.bytes;
    strangers.ask(&mut server, further)?;
    let last = server.state()?;
    let growth = |from: u64, to: u64| to as f64 - from as f64;
    let note = "names that never answer";
    figures.add_counted("half_open_first_mb", growth(empty, first) / 1e6, FIRST, note)?;
    let per_name = growth(first, last.bytes) / further as f64;
    figures.add_counted("half_open_bytes_per_further_name", per_name, further, note)?;
    figures.add_counted("half_open_links", last.links as f64, strangers.asked, note)?;
    let challenged = strangers.challenged_percent();
    figures.add_counted("control_half_open_challenged_percent", challenged, strangers.asked, note)
}

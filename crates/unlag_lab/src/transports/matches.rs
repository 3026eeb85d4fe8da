//! Real-time matches of four scripted players over relays: agreement, delay, bytes on the wire.

use std::net::{Ipv4Addr, SocketAddr};

use unlag_examples::{
    app,
    app_threads::{self, AppThreads},
    connection::PROTOCOL_ID,
    match_report::MatchReport,
    reconnect::ReconnectPolicy,
    transport::{self, ListenerArgs, TransportArgs},
    udp_match::{self, PlayerOptions},
};

use super::{
    stalls::TcpRelay,
    udp_relay::{Path, UdpRelay},
    *,
};

/// Players of a match.
const PLAYERS: u64 = 4;
/// One-way delay of every relay: a round trip of 150 ms.
const DELAY: Duration = Duration::from_millis(75);

enum Relay {
    Udp(UdpRelay),
    Tcp(TcpRelay),
}

impl Relay {
    fn bind(transport: TransportName) -> Result<Self, String> {
        match transport {
            TransportName::WebSocket => TcpRelay::bind().map(Self::Tcp),
            _ => UdpRelay::bind().map(Self::Udp),
        }
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Udp(relay) => relay.address,
            Self::Tcp(relay) => relay.address,
        }
    }

    fn start(&mut self, server: SocketAddr, path: Path, seed: u64) {
        match self {
            Self::Udp(relay) => relay.start(server, path, seed),
            Self::Tcp(relay) => relay.start(server, path, seed),
        }
    }
}

/// Measures all transports at losses of 0, 2, 5 and 20 %.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    for transport in TRANSPORTS {
        let name = key_of(transport);
        for loss in [0.0, 0.02, 0.05, 0.2] {
            // Only at 2 % enough for the agreement.
            let seconds = if loss == 0.02 { options.extent(20.0, 120.0) } else { options.extent(6.0, 30.0) };
            let before = loopback_bytes();
            let report = play(transport, Path { delay: DELAY, loss }, seconds, options.seed)?;
            let wire = loopback_bytes().zip(before).map(|(after, before)| after - before);
            let percent = (loss * 100.0) as u32;
            let total = report.total();
            if loss == 0.02 {
                let note = format!("{} hits drawn, {} confirmed", total.drawn, total.confirmed);
                figures.add_noted(format!("agreement_150_{name}"), report.agreement(), note)?;
            }
            let mean = |value: fn(&unlag_examples::match_report::PlayerReport) -> f64| {
                report.players.iter().map(value).sum::<f64>() / report.players.len() as f64
            };
            figures.add(format!("ping_ms_loss_{percent}_{name}"), mean(|player| player.ping_ms))?;
            figures.add(format!("playout_ms_loss_{percent}_{name}"), mean(|player| player.playout_ms))?;
            figures.add(
                format!("corrections_loss_{percent}_{name}"),
                mean(|player| player.corrections as f64),
            )?;
            if loss == 0.0 {
                let rate = mean(|player| player.bytes_up) + mean(|player| player.bytes_down);
                figures.add(format!("payload_bytes_per_s_{name}"), rate)?;
                // Each datagram passes the loopback twice: to the relay, and from it.
                if let Some(wire) = wire {
                    let per_player = wire as f64 / 2.0 / PLAYERS as f64 / (seconds + 3.0);
                    figures.add(format!("wire_bytes_per_s_{name}"), per_player)?;
                }
            }
        }
    }
    Ok(())
}

/// Plays a match over a relay.
fn play(transport: TransportName, path: Path, seconds: f64, seed: u64) -> Result<MatchReport, String> {
    let mut relay = Relay::bind(transport)?;
    let address = relay.address();
    let listeners = ListenerArgs::on_free_ports().listeners()?.ok_or("there are no listeners")?;
    let digest = listeners.digest.clone();
    let (mut threads, (tell, told)) = (AppThreads::default(), std::sync::mpsc::channel());
    let server = ServerOptions::default();
    let udp = threads.spawn_server(move |more, ready| {
        let mut app = app::server(server);
        app.insert_resource(listeners);
        let access = ServerAccess { addresses: vec![address], ..ServerAccess::development(PROTOCOL_ID) };
        let ready = |world: &mut World, port| {
            let _ = tell.send(transport::open_listeners(world));
            ready(port);
        };
        app_threads::serve(&mut app, 0, &access, ready, |_| more())
    })?;
    let open = told.recv().map_err(|_| "the server has ended")??;
    let port =
        open.iter().find(|listener| listener.transport == transport).map_or(udp.port(), |open| open.port);
    relay.start(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), path, seed);
    let client = TransportArgs { transport, digest: Some(digest), url: None }.client()?;
    let start = |number: u64| {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let player = PlayerOptions { player: number, seed, server, transport: client.clone(), ..default() };
        std::thread::spawn(move || {
            let token =
                TokenClient::development(number, address, PROTOCOL_ID).map_err(|error| error.to_string())?;
            udp_match::play_as(token, ReconnectPolicy::never(), player, seconds).map_err(|end| end.text)
        })
    };
    let players: Vec<_> = (1..=PLAYERS).map(start).collect();
    let mut report = MatchReport::default();
    for player in players {
        let player = player.join().map_err(|_| "a player's thread panicked")??;
        if player.end.is_early() {
            return Err(format!("over {}: {}", key_of(transport), player.end));
        }
        report.players.push(player);
    }
    drop(threads);
    Ok(report)
}

/// Returns the bytes that this machine has sent over its loopback, headers included, where it counts them.
fn loopback_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/net/dev").ok()?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("lo:"))?;
    line.split_whitespace().nth(8)?.parse().ok()
}

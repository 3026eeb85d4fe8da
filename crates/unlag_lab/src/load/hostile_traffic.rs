//! Hostile traffic: a flooding client and junk datagrams, and their effect on honest players.

use std::net::{Ipv4Addr, UdpSocket};

use lightyear::{connection::ConnectionSystems, link::Link, prelude::Client};
use lightyear_transport::plugin::TransportSystems;

use super::{load_session::LoadSession, server_process::Frame, system_info};
use crate::prelude::*;

/// Number of honest players.
const HONEST: usize = 15;

/// Copies of each packet that a client may send without being refused: 64 packets a second, seven times, are fewer than
/// `IngressLimits::packets_per_second`.
const ALLOWED_COPIES: usize = 7;

/// Number of times a client sends each packet; 1 for an honest client.
#[derive(Resource)]
struct PacketCopies(usize);

/// Repeats every packet, each copy with a netcode sequence number of its own, so that only the server's rate
/// limits stop the copies.
fn send_copies(times: Res<PacketCopies>, mut links: Query<&mut Link, With<Client>>) {
    for mut link in &mut links {
        let packets: Vec<_> = link.send.drain().collect();
        for packet in packets {
            for _ in 0..times.0 {
                link.send(packet.clone());
            }
        }
    }
}

fn p99(frames: &[Frame]) -> f64 {
    Frame::quantile_ms(frames, |frame| frame.cpu, 0.99)
}

/// Server frames over a period, and the corrections of the honest players in it.
#[derive(Default)]
struct Period {
    frames: Vec<Frame>,
    corrections: u64,
}

impl Period {
    /// Records one more period.
    fn watch(&mut self, crowd: &mut LoadSession, seconds: f64) -> Result<(), String> {
        let sum = |crowd: &mut LoadSession| crowd.corrections().into_iter().take(HONEST).sum::<u64>();
        let before = sum(crowd);
        crowd.frames.clear();
        crowd.run(seconds)?;
        self.frames.append(&mut crowd.frames);
        self.corrections += sum(crowd) - before;
        Ok(())
    }

    /// Returns the corrections per minute of one honest player.
    fn rate(&self) -> f64 {
        self.corrections as f64 / HONEST as f64 / (self.frames.len() as f64 / 64.0) * 60.0
    }
}

/// Measures a match in which one of 16 clients sends as many packets as the limits let pass, and then 20 times its
/// packets until it is kicked, several times.
pub fn flood(link: LinkConditions, options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = options.extent(2, 8);
    let mut crowd = LoadSession::new(64, false, options.seed)?;
    crowd.fill(HONEST, link)?;
    crowd.run(3.0)?;
    let (mut quiet, mut allowed, mut flooded) = (Period::default(), Period::default(), Period::default());
    let mut refused = 0;
    for _ in 0..rounds {
        crowd.join(link)?;
        let newest = crowd.clients.last_mut().ok_or("there is no client")?;
        newest.insert_resource(PacketCopies(1)).add_systems(
            PostUpdate,
            send_copies.after(TransportSystems::Send).before(ConnectionSystems::Send),
        );
        crowd.wait_for(HONEST..HONEST + 1)?;
        crowd.run(1.0)?;
        let there = crowd.server.state()?;
        quiet.watch(&mut crowd, 3.0)?;
        send_more(&mut crowd, ALLOWED_COPIES);
        allowed.watch(&mut crowd, 3.0)?;
        let after = crowd.server.state()?;
        if after.kicked != there.kicked {
            return Err("the server kicks a client that sends less than its limits allow".to_owned());
        }
        refused += after.refused - there.refused;
        send_more(&mut crowd, 20);
        // Until the client is kicked.
        while crowd.server.state()?.kicked == there.kicked {
            flooded.watch(&mut crowd, 0.25)?;
            if flooded.frames.len() > 64 * 30 * rounds {
                return Err("the server does not kick the flooding client".to_owned());
            }
        }
        // The kicked client leaves.
        crowd.run(0.5)?;
        crowd.clients.pop();
    }
    let playing = (0..HONEST).filter(|client| crowd.is_playing(*client)).count();
    figures.add_noted("allowed_p99_ms", p99(&allowed.frames), format!("{refused} packets refused"))?;
    figures.add("allowed_p99_delta_ms", p99(&allowed.frames) - p99(&quiet.frames))?;
    figures.add("flood_p99_delta_ms", p99(&flooded.frames) - p99(&quiet.frames))?;
    figures.add("flood_p99_before_ms", p99(&quiet.frames))?;
    figures.add("flood_corrections_per_min", flooded.rate())?;
    figures.add("flood_corrections_per_min_before", quiet.rate())?;
    figures.add("flood_dropped", (HONEST - playing) as f64)
}

/// Makes the newest client send each packet so many times.
fn send_more(crowd: &mut LoadSession, copies: usize) {
    if let Some(newest) = crowd.clients.last_mut() {
        newest.insert_resource(PacketCopies(copies));
    }
}

/// Sends 10,000 datagrams per second from up to 10,000 ports to a server with 16 players.
pub fn junk(link: LinkConditions, options: &Options, figures: &mut Figures) -> Result<(), String> {
    /// Largest and smallest number of source ports.
    const PORTS: (usize, usize) = (10_000, 100);
    /// Files that the clients and the server process need.
    const SPARE: usize = 50;
    let seconds = options.extent(5.0, 30.0);
    // From 250 loopback addresses where the system has them.
    let bind = |index: usize| {
        UdpSocket::bind((Ipv4Addr::new(127, 0, (index % 250) as u8, 1), 0))
            .or_else(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))
    };
    system_info::raise_open_file_limit();
    let mut sockets: Vec<_> = (0..PORTS.0 + SPARE).map_while(|index| bind(index).ok()).collect();
    let ports = sockets.len().saturating_sub(SPARE);
    sockets.truncate(ports);
    if ports < PORTS.1 {
        return Err(format!(
            "only {ports} ports can be opened for junk datagrams; raise the limit on open files"
        ));
    }
    let mut crowd = LoadSession::new(64, false, options.seed)?;
    crowd.fill(HONEST + 1, link)?;
    let mut quiet = Period::default();
    quiet.watch(&mut crowd, options.extent(4.0, 15.0))?;
    let before = crowd.server.state()?;
    // One datagram looks like a connection request to netcode, the other like an encrypted packet.
    let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
    let encrypted = [0x15; 64];
    let (mut noisy, mut peak, mut next) = (Period::default(), before, sockets.iter().cycle().enumerate());
    for second in 0..seconds as u32 {
        for tick in 0..64 {
            let due = 10_000 * (tick + 1) / 64 - 10_000 * tick / 64;
            for (index, socket) in next.by_ref().take(due) {
                let bytes = if index % 10 == 0 { &request[..] } else { &encrypted };
                socket
                    .send_to(bytes, crowd.server.address)
                    .map_err(|error| format!("cannot send junk in second {second}: {error}"))?;
            }
            noisy.watch(&mut crowd, 1.0 / 64.0)?;
        }
        let state = crowd.server.state()?;
        peak = if state.bytes > peak.bytes { state } else { peak };
    }
    crowd.run(5.0)?;
    let after = crowd.server.state()?;
    let playing = (0..=HONEST).filter(|client| crowd.is_playing(*client)).count();
    let growth = |bytes: u64| (bytes as f64 - before.bytes as f64) / 1e6;
    figures.add("junk_dropped", (HONEST + 1 - playing) as f64)?;
    let refused = after.refused - before.refused;
    figures.add("junk_refused", refused as f64)?;
    figures.add("junk_p99_ms", p99(&noisy.frames))?;
    figures.add("junk_p99_delta_ms", p99(&noisy.frames) - p99(&quiet.frames))?;
    figures.add("junk_corrections_per_min", noisy.rate())?;
    figures.add("junk_corrections_per_min_before", quiet.rate())?;
    figures.add("junk_rss_peak_mb", growth(peak.bytes))?;
    figures.add("junk_rss_after_mb", growth(after.bytes))?;
    figures.add("junk_links_after", after.links as f64 - before.links as f64)
}

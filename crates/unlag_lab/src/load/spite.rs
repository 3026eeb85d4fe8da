//! A client that floods, and junk from everywhere: what the others notice.

use std::net::{Ipv4Addr, UdpSocket};

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::{connection::ConnectionSystems, link::Link, prelude::Client};
use lightyear_transport::plugin::TransportSystems;

use super::{crowd::Crowd, machine, process::Frame};
use crate::{Options, figures::Figures, movement::race::quantile};

/// Honest players.
const HONEST: usize = 15;

/// How many times a flooding client sends each of its packets; 1 for an honest one.
#[derive(Resource)]
struct Times(usize);

/// Every packet so many times, each with a netcode sequence of its own, so that only the server's budgets stop them.
fn repeat(times: Res<Times>, mut links: Query<&mut Link, With<Client>>) {
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
    let mut times: Vec<_> = frames.iter().map(|frame| frame.cpu.as_secs_f64() * 1e3).collect();
    quantile(&mut times, 0.99)
}

/// What the honest ones were corrected while something went on, and how long that took in seconds.
#[derive(Default)]
struct Peace {
    frames: Vec<Frame>,
    corrections: u64,
}

impl Peace {
    /// Notes one more stretch of time.
    fn watch(&mut self, crowd: &mut Crowd, seconds: f64) -> Result<(), String> {
        let sum = |crowd: &mut Crowd| crowd.corrections().into_iter().take(HONEST).sum::<u64>();
        let before = sum(crowd);
        crowd.frames.clear();
        crowd.run(seconds)?;
        self.frames.append(&mut crowd.frames);
        self.corrections += sum(crowd) - before;
        Ok(())
    }

    /// Corrections of one honest player in a minute.
    fn rate(&self) -> f64 {
        self.corrections as f64 / HONEST as f64 / (self.frames.len() as f64 / 64.0) * 60.0
    }
}

/// One of 16 sends twenty times as much as it should until it is thrown out; then the next one comes.
pub fn flood(link: LinkConditions, options: &Options, figures: &mut Figures) -> Result<(), String> {
    let rounds = if options.quick { 2 } else { 8 };
    let mut crowd = Crowd::new(64, false, options.seed)?;
    crowd.fill(HONEST, link)?;
    crowd.run(3.0)?;
    let (mut quiet, mut flooded) = (Peace::default(), Peace::default());
    for _ in 0..rounds {
        crowd.join(link)?;
        let newest = crowd.clients.last_mut().ok_or("nobody joined")?;
        newest
            .insert_resource(Times(1))
            .add_systems(PostUpdate, repeat.after(TransportSystems::Send).before(ConnectionSystems::Send));
        crowd.wait_for(HONEST..HONEST + 1)?;
        crowd.run(1.0)?;
        let there = crowd.server.state()?;
        quiet.watch(&mut crowd, 3.0)?;
        if let Some(newest) = crowd.clients.last_mut() {
            newest.insert_resource(Times(20));
        }
        // Until it is thrown out.
        while crowd.server.state()?.kicked == there.kicked {
            flooded.watch(&mut crowd, 0.25)?;
            if flooded.frames.len() > 64 * 30 * rounds {
                return Err("the server throws no flooder out".to_owned());
            }
        }
        // Who was thrown out plays no more.
        crowd.run(0.5)?;
        crowd.clients.pop();
    }
    let playing = (0..HONEST).filter(|client| crowd.plays(*client)).count();
    let flooding = flooded.frames.len() as f64 / 64.0 / f64::from(rounds as u32);
    let what = format!("1 of 16 sends 20 times as much, {rounds} times for {flooding:.1} s");
    figures.add("flood_p99_delta_ms", p99(&flooded.frames) - p99(&quiet.frames), what)?;
    figures.add(
        "flood_p99_before_ms",
        p99(&quiet.frames),
        "processor time of a tick with 16 honest players",
    )?;
    figures.add("flood_corrections_per_min", flooded.rate(), "of an honest player during it")?;
    figures.add("flood_corrections_per_min_before", quiet.rate(), "of an honest player before it")?;
    figures.add("flood_dropped", (HONEST - playing) as f64, "honest players who were lost")
}

/// Ten thousand datagrams a second from ten thousand ports, or as many as there are, at a server with 16 players.
pub fn junk(link: LinkConditions, options: &Options, figures: &mut Figures) -> Result<(), String> {
    /// From where it comes, at most and at least.
    const PORTS: (usize, usize) = (10_000, 100);
    /// Files that the players and the server's process need.
    const SPARE: usize = 50;
    let seconds = if options.quick { 5.0 } else { 30.0 };
    // From 250 hosts where a machine has so many names for itself.
    let bind = |index: usize| {
        UdpSocket::bind((Ipv4Addr::new(127, 0, (index % 250) as u8, 1), 0))
            .or_else(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))
    };
    machine::open_many_files();
    let mut sockets: Vec<_> = (0..PORTS.0 + SPARE).map_while(|index| bind(index).ok()).collect();
    let ports = sockets.len().saturating_sub(SPARE);
    sockets.truncate(ports);
    if ports < PORTS.1 {
        return Err(format!("only {ports} ports can be opened for junk; raise the limit on files"));
    }
    let mut crowd = Crowd::new(64, false, options.seed)?;
    crowd.fill(HONEST + 1, link)?;
    let mut quiet = Peace::default();
    quiet.watch(&mut crowd, if options.quick { 4.0 } else { 15.0 })?;
    let before = crowd.server.state()?;
    // What netcode would take for a request to connect, and what it would take for encrypted.
    let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
    let encrypted = [0x15; 64];
    let (mut noisy, mut peak, mut next) = (Peace::default(), before, sockets.iter().cycle().enumerate());
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
    let playing = (0..=HONEST).filter(|client| crowd.plays(*client)).count();
    let growth = |bytes: u64| (bytes as f64 - before.bytes as f64) / 1e6;
    let what = format!("10,000 datagrams a second from {ports} ports, {seconds} s, 16 players");
    figures.add("junk_dropped", (HONEST + 1 - playing) as f64, format!("players who were lost; {what}"))?;
    let refused = after.refused - before.refused;
    figures.add("junk_refused", refused as f64, "datagrams that got no further than the door")?;
    figures.add("junk_p99_ms", p99(&noisy.frames), "processor time of a tick meanwhile")?;
    figures.add("junk_p99_delta_ms", p99(&noisy.frames) - p99(&quiet.frames), "more than before")?;
    figures.add("junk_corrections_per_min", noisy.rate(), "of a player meanwhile")?;
    figures.add("junk_corrections_per_min_before", quiet.rate(), "of a player before")?;
    figures.add("junk_rss_peak_mb", growth(peak.bytes), "more resident memory than before, at most")?;
    figures.add("junk_rss_after_mb", growth(after.bytes), "five seconds later")?;
    figures.add("junk_links_after", after.links as f64 - before.links as f64, "links that are left of it")
}

//! Server that stands still for 40 of every 100 ms while junk arrives: the share of its players' drawn hits that it
//! confirms. Once its process is stopped, once only its main thread.

mod server;

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    thread,
};

use unlag_examples::{
    shot_stats::ShotStats,
    udp_match::{self, PlayerOptions},
};

use crate::prelude::*;
use server::StallingServer;
pub use server::{StallArgs, serve_stalling};

/// Number of players.
const PLAYERS: u64 = 8;
/// Junk datagrams per second.
const JUNK: f64 = 5_000.0;
/// Preset of the players' links, which they use without its loss.
const LINK: &str = "Good broadband";
/// Length of a stall, and time from one to the next.
const STALL: Duration = Duration::from_millis(40);
const PERIOD: Duration = Duration::from_millis(100);

/// Part of the server that stalls.
#[derive(Clone, Copy, PartialEq)]
enum Stall {
    /// The process: SIGSTOP and SIGCONT.
    Process,
    /// The main thread of a server with a receive thread.
    MainThread,
    /// The main thread of a server that reads its socket in frames only. The control.
    WithoutReceiveThread,
}

/// Results of a match.
struct Played {
    shots: ShotStats,
    /// Datagrams of junk that were sent.
    junk: u64,
    /// Datagrams that the server's socket has dropped; `None` where the system does not tell.
    dropped: Option<u64>,
}

impl Played {
    fn note(&self) -> String {
        let ShotStats { agreed, missed, elsewhere, refused_drawn, lost, clamped, .. } = &self.shots;
        let why: Vec<_> = self.shots.refusals().map(|(why, count)| format!("{count} {why:?}")).collect();
        format!(
            "drawn hits of {PLAYERS} players, {agreed} agreed, {missed} missed, {elsewhere} elsewhere, \
             {refused_drawn} refused, {lost} lost; {} of {} with a limited view agreed; all refusals: {}",
            clamped.agreed,
            clamped.drawn,
            why.join(", ")
        )
    }
}

/// Plays a match against a server that stalls.
fn play(stall: Stall, seconds: f64, options: &Options) -> Result<Played, String> {
    let args = StallArgs {
        stall_main: stall != Stall::Process,
        in_frames_only: stall == Stall::WithoutReceiveThread,
    };
    let server = StallingServer::start(&args)?;
    let conditions = LinkConditions { loss: 0.0, ..preset(LINK)?.conditions() };
    let is_over = AtomicBool::new(false);
    let (reports, junk) = thread::scope(|scope| {
        let (server, is_over) = (&server, &is_over);
        if stall == Stall::Process {
            scope.spawn(move || server.stop_again_and_again(is_over));
        }
        let junk = scope.spawn(move || send_junk(server.address, is_over));
        let player = |number: u64| {
            let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number);
            let player = PlayerOptions { player: number, seed, conditions, ..default() };
            scope.spawn(move || udp_match::play(server.address, player, seconds))
        };
        let players: Vec<_> = (1..=PLAYERS).map(player).collect();
        let reports: Vec<_> = players.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        (reports, junk.join())
    });
    let junk = junk.map_err(|_| "the sender of junk panicked".to_owned())??;
    let mut shots = ShotStats::default();
    for report in reports {
        shots.merge(&report.map_err(|_| "a player panicked".to_owned())??.shot_stats);
    }
    Ok(Played { shots, junk, dropped: server.dropped() })
}

/// Sends junk until the match is over: alternately what looks like a connection request and like an encrypted packet.
/// Returns the number of datagrams.
fn send_junk(server: SocketAddr, is_over: &AtomicBool) -> Result<u64, String> {
    let socket =
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| format!("no port for junk: {error}"))?;
    let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
    let (began, mut sent) = (Instant::now(), 0);
    while !is_over.load(Ordering::Relaxed) {
        let due = (began.elapsed().as_secs_f64() * JUNK) as u64;
        while sent < due {
            let bytes = if sent.is_multiple_of(2) { &request[..] } else { &[0x15; 64] };
            socket.send_to(bytes, server).map_err(|error| format!("cannot send junk: {error}"))?;
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(sent)
}

/// Adds the shares of drawn hits that servers confirm which stand still for 40 of every 100 ms.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent(15.0, 60.0);
    let mut add = |stall, name: &str, suffix: &str| {
        let played = play(stall, seconds, options)?;
        let (confirmed, drawn) = (played.shots.confirmed_of_drawn().unwrap_or(f64::NAN), played.shots.drawn);
        figures.add_counted(format!("{name}_confirmed_percent{suffix}"), confirmed, drawn, played.note())?;
        if let Some(dropped) = played.dropped {
            let percent = dropped as f64 * 100.0 / played.junk as f64;
            let note = format!("datagrams of junk, {dropped} dropped by the socket");
            figures.add_counted(format!("{name}_dropped_percent{suffix}"), percent, played.junk, note)?;
        }
        Ok::<(f64, u64), String>((confirmed, drawn))
    };
    let (mut lowest, mut drawn) = add(Stall::MainThread, "stall", "_main_thread")?;
    // Only Unix stops processes by signals.
    if cfg!(unix) {
        let stopped = add(Stall::Process, "stall", "_process")?;
        if stopped.0 < lowest {
            (lowest, drawn) = stopped;
        }
    }
    add(Stall::WithoutReceiveThread, "control_stall", "_without_thread")?;
    let note = "drawn hits, of the kind of stall with the lower share";
    figures.add_counted("stall_confirmed_percent", lowest, drawn, note)
}

//! End of a full match's server in real time: by the signal with which operators drain it, or killed.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    process, thread,
};

use unlag_examples::{
    connection,
    match_end::EndReason,
    operation::Operation,
    reconnect::{self, ReconnectPolicy},
    udp_match::{self, PlayerOptions},
};

use super::{LINK, PLAYERS};
use crate::{
    lab_process::{LabProcess, ProcessSignal, say},
    prelude::*,
};

/// Time that the players have to join.
const JOINING: Duration = Duration::from_secs(5);
/// Length of the match if its server did not end, in seconds.
const MATCH: f64 = 60.0;

/// End of a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// SIGTERM: it drains.
    Drain,
    /// SIGKILL: it tells nobody. The control.
    Kill,
}

impl Ending {
    fn signal(self) -> ProcessSignal {
        match self {
            Self::Drain => ProcessSignal::Terminate,
            Self::Kill => ProcessSignal::Kill,
        }
    }
}

/// Results of a server's end.
pub struct Ended {
    /// Time from the start of the process until it listened.
    pub ready: Duration,
    /// Players who were inside.
    pub players: u64,
    /// Players whom the server did not tell that it stops.
    pub lost: usize,
}

/// Serves as the shooter's server does, until a signal has drained it or standard input ends.
///
/// # Errors
/// Returns a message if the port cannot be bound.
pub fn serve() -> Result<(), String> {
    thread::spawn(|| {
        // An error is an end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(0);
    });
    let access = ServerAccess::development(connection::PROTOCOL_ID);
    udp_match::serve(0, &access, ServerOptions::default(), None, Operation::default(), |_, port| {
        // Without this line the lab ends the process.
        let _ = say(&port);
    })
}

/// Fills a match and ends its server.
///
/// # Errors
/// Returns a message if a player could not join.
pub fn measure(options: &Options, ending: Ending) -> Result<Ended, String> {
    let began = Instant::now();
    let mut server = LabProcess::start("the server process", |command| {
        command.arg("fleet-server").env("RUST_LOG", "error");
    })?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.reply()?));
    let ready = began.elapsed();
    let conditions = preset(LINK)?.conditions();
    let ends = thread::scope(|scope| {
        let play = |number: u64| {
            let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number);
            let player = PlayerOptions { player: number, seed, conditions, ..default() };
            scope.spawn(move || {
                let (token, redial) = reconnect::development_client(address)?;
                // Nobody waits for a killed server.
                let redial = if ending == Ending::Kill { ReconnectPolicy::never() } else { redial };
                let report = udp_match::play_as(token, redial, player, MATCH);
                report.map(|report| report.end.reason).map_err(|end| end.text)
            })
        };
        let players: Vec<_> = (1..=PLAYERS as u64).map(play).collect();
        thread::sleep(JOINING);
        let signalled = server.signal(ending.signal());
        let ends: Vec<_> = players.into_iter().map(thread::ScopedJoinHandle::join).collect();
        signalled.map(|()| ends)
    })?;
    let (mut players, mut lost) = (0, 0);
    for end in ends {
        let reason = end.map_err(|_| "a player panicked".to_owned())?;
        let reason = reason.map_err(|text| format!("a player could not join before the end: {text}"))?;
        players += 1;
        lost += usize::from(reason != EndReason::ServerShutdown);
    }
    Ok(Ended { ready, players, lost })
}

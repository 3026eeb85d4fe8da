//! Server process that stalls: it runs in real time until its standard input ends.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    thread,
};

use bevy_unlag_server::run_by_ticks;
use clap::Args;
use unlag_examples::{app, connection};

use super::{PERIOD, STALL};
use crate::{
    lab_process::{LabProcess, ProcessSignal, say},
    prelude::*,
};

/// Options of the stalling server.
#[derive(Args, Clone, Copy, Debug)]
pub struct StallArgs {
    /// Stop the main thread again and again.
    #[arg(long)]
    pub stall_main: bool,
    /// Read the socket in frames only, with the system's own receive buffer.
    #[arg(long)]
    pub in_frames_only: bool,
}

/// Serves until standard input ends, with an update in each tick as the servers that operators run.
///
/// # Errors
/// Returns a message if the port cannot be bound or standard output fails.
pub fn serve_stalling(args: StallArgs) -> Result<(), String> {
    let mut app = app::server(ServerOptions::default());
    if args.stall_main {
        app.add_systems(First, stall);
    }
    let socket = if args.in_frames_only { ServerUdp::in_frames_only() } else { ServerUdp::default() };
    let access = ServerAccess::development(connection::PROTOCOL_ID);
    connection::listen_udp_with_socket(&mut app, 0, &access, socket);
    finish(&mut app);
    app.update();
    let port =
        connection::bound_port(app.world_mut()).ok_or("the server process could not bind a UDP port")?;
    say(&port)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    thread::spawn(move || {
        // An error is an end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        ends.store(true, Ordering::Relaxed);
    });
    run_by_ticks(&mut app, |_| !is_over.load(Ordering::Relaxed));
    Ok(())
}

/// Stops the main thread for [`STALL`] in every [`PERIOD`].
fn stall(mut next: Local<Option<Instant>>) {
    let now = Instant::now();
    if now >= *next.get_or_insert(now) {
        *next = Some(now + PERIOD);
        thread::sleep(STALL);
    }
}

/// Handle of the process.
pub struct StallingServer {
    process: LabProcess,
    /// Address to connect to.
    pub address: SocketAddr,
}

impl StallingServer {
    /// Starts the process and waits for its port.
    ///
    /// # Errors
    /// Returns a message if the process does not start.
    pub fn start(args: &StallArgs) -> Result<Self, String> {
        let mut process = LabProcess::start("the server process", |command| {
            command.arg("stall-server").args(args.stall_main.then_some("--stall-main"));
            command.args(args.in_frames_only.then_some("--in-frames-only"));
        })?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, process.reply()?));
        Ok(Self { process, address })
    }

    /// Stops the process for [`STALL`] in every [`PERIOD`] until the match is over.
    pub fn stop_again_and_again(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            // It fails if the process has ended, which the players report.
            let _ = self.process.signal(ProcessSignal::Stop);
            thread::sleep(STALL);
            let _ = self.process.signal(ProcessSignal::Continue);
            thread::sleep(PERIOD - STALL);
        }
    }

    /// Returns the number of datagrams that the system has dropped because the process's socket was full; `None` where
    /// the system does not tell.
    pub fn dropped(&self) -> Option<u64> {
        ["/proc/net/udp", "/proc/net/udp6"].iter().find_map(|table| {
            let text = std::fs::read_to_string(table).ok()?;
            drops_of(&text, self.address.port())
        })
    }
}

/// Returns the last column of the line of a local port in a table of Linux's UDP sockets.
fn drops_of(table: &str, port: u16) -> Option<u64> {
    let suffix = format!(":{port:04X}");
    let line =
        table.lines().find(|line| line.split_whitespace().nth(1).is_some_and(|at| at.ends_with(&suffix)))?;
    line.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_line_of_the_port() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode \
             ref pointer drops\n  \
             101: 00000000000000000000000000000000:1389 00000000000000000000000000000000:0000 07 00000000:00000000 \
             00:00000000 00000000     0        0 16384 2 0000000000000000 421\n  \
             102: 0100007F:138A 0100007F:1389 07 00000000:00000000 00:00000000 00000000     0        0 16385 2 \
             0000000000000000 7\n";
        assert_eq!(drops_of(table, 0x1389), Some(421));
        assert_eq!(drops_of(table, 0x138A), Some(7));
        assert_eq!(drops_of(table, 0x138B), None);
    }
}

//! A server and a driver in threads of their own, over UDP, for a window to join.

use core::{net::SocketAddr, sync::atomic::Ordering, time::Duration};
use std::{
    net::Ipv4Addr,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use bevy::prelude::*;
use bevy_unlag::prelude::*;

use super::{app, switches::Switches, truth::Truth};
use crate::{
    app::finish,
    link,
    realtime::{Stop, run},
};

/// How often the server looks at its sockets; ticks stay at their own rate.
const SERVER_FRAME: Duration = Duration::from_millis(4);
/// The frame time of the other driver.
const DRIVER_FRAME: Duration = Duration::from_millis(10);

/// Threads that end when this is dropped.
#[derive(Debug)]
pub struct Others {
    /// Where to dial the server.
    pub server: SocketAddr,
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

impl Others {
    /// Starts a server, and somebody who drives on it by itself over a perfect link.
    ///
    /// # Errors
    /// One line when there is no port to listen on.
    pub fn start(switches: &Switches, truth: &Truth) -> Result<Self, String> {
        let stop = Stop::default();
        let (tell, told) = mpsc::channel();
        let serve = {
            let (stop, switches, truth) = (stop.clone(), switches.clone(), truth.clone());
            thread::spawn(move || {
                let mut app = app::server(switches, truth);
                link::listen_udp(&mut app, 0);
                finish(&mut app);
                app.update();
                let bound = link::bound_port(app.world_mut());
                let _ = tell.send(bound);
                if bound.is_some() {
                    run(&mut app, SERVER_FRAME, |_| !stop.load(Ordering::Relaxed));
                }
            })
        };
        let port = told.recv().ok().flatten().ok_or("cannot listen on any UDP port")?;
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let drive = {
            let (stop, switches) = (stop.clone(), Switches::default());
            // What the watching owner does with its state is not this one's matter.
            switches.set_rate(Switches::RATES.1);
            thread::spawn(move || {
                let mut app = app::driving_client(switches);
                if let Err(line) = link::dial_udp(&mut app, server, link::random_client_id(), NetSim::new(2))
                {
                    error!("the other driver stays away: {line}");
                    return;
                }
                finish(&mut app);
                run(&mut app, DRIVER_FRAME, |_| !stop.load(Ordering::Relaxed));
            })
        };
        Ok(Self { server, stop, threads: vec![serve, drive] })
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                error!("a thread of the race panicked");
            }
        }
    }
}

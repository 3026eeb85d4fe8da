//! Server and scripted driver in background threads over UDP, for a window to join.

use core::{net::SocketAddr, sync::atomic::Ordering, time::Duration};
use std::{
    net::Ipv4Addr,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use bevy::prelude::*;
use bevy_unlag::prelude::*;

use super::{app, ground_truth::GroundTruth, race_settings::RaceSettings};
use bevy_unlag_testkit::finish;

use crate::{
    connection,
    udp_match::{Stop, run},
};

/// Interval at which the server polls its sockets. The tick rate is independent of it.
const SERVER_FRAME: Duration = Duration::from_millis(4);
/// Frame time of the scripted driver.
const DRIVER_FRAME: Duration = Duration::from_millis(10);

/// Background threads of a race. They end when this is dropped.
#[derive(Debug)]
pub struct BackgroundRace {
    /// Address of the server.
    pub server: SocketAddr,
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

impl BackgroundRace {
    /// Starts a server, and a scripted driver with a perfect link.
    ///
    /// # Errors
    /// Returns one line when no UDP port can be bound.
    pub fn start(switches: &RaceSettings, truth: &GroundTruth) -> Result<Self, String> {
        let stop = Stop::default();
        let (tell, told) = mpsc::channel();
        let serve = {
            let (stop, switches, truth) = (stop.clone(), switches.clone(), truth.clone());
            thread::spawn(move || {
                let mut app = app::server(switches, truth);
                connection::listen_udp(&mut app, 0);
                finish(&mut app);
                app.update();
                let bound = connection::bound_port(app.world_mut());
                let _ = tell.send(bound);
                if bound.is_some() {
                    run(&mut app, SERVER_FRAME, |_| !stop.load(Ordering::Relaxed));
                }
            })
        };
        let port = told.recv().ok().flatten().ok_or("cannot bind any UDP port for the server")?;
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let drive = {
            let (stop, switches) = (stop.clone(), RaceSettings::default());
            // The driver has settings of its own: those of the watching player do not apply to it.
            switches.set_rate(RaceSettings::RATES.1);
            thread::spawn(move || {
                let mut app = app::driving_client(switches);
                if let Err(line) =
                    connection::connect_udp(&mut app, server, connection::random_client_id(), NetSim::new(2))
                {
                    error!("the scripted driver cannot join: {line}");
                    return;
                }
                finish(&mut app);
                run(&mut app, DRIVER_FRAME, |_| !stop.load(Ordering::Relaxed));
            })
        };
        Ok(Self { server, stop, threads: vec![serve, drive] })
    }
}

impl Drop for BackgroundRace {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                error!("a thread of the race panicked");
            }
        }
    }
}

//! Server and scripted driver in background threads over UDP, for a window to join.

use core::net::SocketAddr;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use bevy_unlag_testkit::finish;

use super::{app, ground_truth::GroundTruth, race_settings::RaceSettings};
use crate::{
    app_threads::{AppThreads, CLIENT_FRAME, run, serve},
    connection,
};

/// Background threads of a race. They end when this is dropped.
#[derive(Debug)]
pub struct BackgroundRace {
    /// Address of the server.
    pub server: SocketAddr,
    _threads: AppThreads,
}

impl BackgroundRace {
    /// Starts a server, and a scripted driver with a perfect link.
    ///
    /// # Errors
    /// Returns one line when no UDP port can be bound.
    pub fn start(switches: &RaceSettings, truth: &GroundTruth) -> Result<Self, String> {
        let mut threads = AppThreads::default();
        let (switches, truth) = (switches.clone(), truth.clone());
        let server = threads.spawn_server(move |more, ready| {
            let access = ServerAccess::development(connection::PROTOCOL_ID);
            serve(&mut app::server(switches, truth), 0, &access, |_, port| ready(port), |_| more())
        })?;
        // The driver has settings of its own: those of the watching player do not apply to it.
        let switches = RaceSettings::default();
        switches.set_rate(RaceSettings::RATES.1);
        threads.spawn(move |more| {
            let mut app = app::driving_client(switches);
            let id = connection::random_client_id();
            if let Err(line) = connection::connect(&mut app, server, id, NetSim::new(2)) {
                error!("the scripted driver cannot join: {line}");
                return;
            }
            finish(&mut app);
            run(&mut app, CLIENT_FRAME, |_| more());
        });
        Ok(Self { server, _threads: threads })
    }
}

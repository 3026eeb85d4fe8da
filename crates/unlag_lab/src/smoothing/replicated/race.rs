//! Kart race with a scripted driver and two watchers.

use bevy_unlag_testkit::{Client, SteppedApps, headless_app};
use unlag_examples::{
    connection,
    kart::{app, ground_truth::GroundTruth, race_settings::RaceSettings},
};

use crate::prelude::*;

/// Updates of a kart per second: one every three ticks.
const RATE: f32 = 64.0 / 3.0;

/// Starts a race; the first client drives, two others watch from karts that stand.
///
/// # Errors
/// Returns a message if a client could not join.
pub fn start(seed: u64) -> Result<SteppedApps, String> {
    let settings = RaceSettings::default();
    settings.set_rate(RATE);
    let mut server = app::server(settings, GroundTruth::default());
    let listener = connection::listen_in_process(&mut server);
    let mut apps = SteppedApps::with_listener(server, listener);
    for player in 0..3_u32 {
        let mut client = if player == 0 {
            app::driving_client(RaceSettings::default())
        } else {
            let mut client = headless_app();
            app::add_client(&mut client, RaceSettings::default());
            client
        };
        let id = u64::from(player) + 1;
        connection::join(&mut apps.server, listener, &mut client, id, NetSim::new(seed * 31 + id))?;
        finish(&mut client);
        // Staggered, so that no two clients' frames coincide.
        let frame = SteppedApps::CLIENT_FRAME;
        apps.add(client, Client::new(frame, frame.mul_f64(0.37 + 0.61 * f64::from(player) % 1.0)));
    }
    let joined = |apps: &mut SteppedApps| {
        let clients = apps.clients.iter_mut();
        clients.map(|client| drawn_pawns(client.world_mut())).all(|pawns| pawns == 3)
    };
    if !apps.run_until(Duration::from_secs(20), joined) {
        return Err("not every client could join the race".to_owned());
    }
    Ok(apps)
}

fn drawn_pawns(world: &mut World) -> usize {
    world.query_filtered::<(), (With<DrawnPose>, With<NetId>)>().iter(world).count()
}

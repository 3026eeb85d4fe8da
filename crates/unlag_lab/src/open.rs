//! Possession, abilities, server-controlled pawns, remote events and called lifts.

mod abilities;
mod lift;
mod npc;
mod possession;

use bevy_unlag_testkit::SteppedApps;

use crate::prelude::*;

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    possession::measure(options, &mut figures)?;
    abilities::measure(options, &mut figures)?;
    npc::measure(&mut figures)?;
    lift::measure(options, &mut figures)?;
    Ok(figures)
}

/// Ground for all measurements: a plane and a slope.
fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(500.0, 0.5, 500.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    let slope = Transform::from_xyz(0.0, -2.0, -60.0).with_rotation(Quat::from_rotation_x(0.12));
    commands.spawn((Collider::cuboid(100.0, 0.5, 60.0), slope));
}

/// Joins a client over a link with this one-way latency and loss.
fn join(game: &mut SteppedApps, client: App, seed: u64, latency_ms: u64, loss: f32) -> Result<(), String> {
    let mut sim = NetSim::new(seed);
    sim.set(LinkConditions { latency: Duration::from_millis(latency_ms), loss, ..default() });
    game.join_over(client, sim).map_err(|e| e.to_string())?;
    Ok(())
}

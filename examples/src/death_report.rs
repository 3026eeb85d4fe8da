//! Death report: the server explains to the victim why it died, as an example of `DeathExplanationPlugin`.

use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    net::MessageRules,
    prelude::*,
    weapons::{DeathExplained, DeathExplanationPlugin, ShotExplanation},
};

use crate::app::TICK;

/// Duration of a tick in seconds.
pub const TICK_SECONDS: f32 = TICK.as_nanos() as f32 * 1e-9;

/// Server to the victim: why the shot that killed it counted.
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub struct DeathReport(pub ShotExplanation);

/// Explanation of the own player's last death.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct LastDeath(pub Option<ShotExplanation>);

/// Registers the message. Client and server both add it.
pub(crate) fn protocol(app: &mut App) {
    app.init_resource::<LastDeath>()
        .add_game_message::<DeathReport>(MessageRules::to_owner())
        .add_systems(Update, receive);
}

/// Explains deaths on a server, and tells the victims.
pub(crate) fn server_plugin(app: &mut App) {
    app.add_plugins(DeathExplanationPlugin).add_systems(Update, tell);
}

fn tell(
    mut deaths: MessageReader<DeathExplained>,
    hosts: Query<(), With<LocalControl>>,
    mut reports: Outbox<DeathReport>,
    mut last: ResMut<LastDeath>,
) {
    for death in deaths.read() {
        if hosts.contains(death.victim) {
            last.0 = Some(death.explanation);
        } else {
            reports.send_about(death.victim, &DeathReport(death.explanation));
        }
    }
}

fn receive(
    mut reports: MessageReader<Received<DeathReport>>,
    respawned: Query<&DrawnPose, With<LocalControl>>,
    mut last: ResMut<LastDeath>,
    mut was_alive: Local<bool>,
) {
    let is_alive = respawned.iter().any(|drawn| drawn.pose.alive);
    if is_alive && !*was_alive {
        // Of the life before.
        last.0 = None;
    }
    *was_alive = is_alive;
    if let Some(report) = reports.read().last() {
        last.0 = Some(report.message.0);
    }
}

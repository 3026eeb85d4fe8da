//! Runtime checks of the network setup, reported to [`SetupDiagnostics`].

use core::time::Duration;

use bevy::{ecs::error::FallbackErrorHandler, prelude::*};
use bevy_unlag_core::{SetupDiagnostics, SetupIssue, SimulationRate};
use lightyear::prelude::{ChannelRegistry, Connected};

use crate::{
    link::{AppliedSpeed, LightyearPings},
    session::durations_differ,
};

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<SetupDiagnostics>()
        .init_resource::<SimulationRate>()
        .add_systems(Startup, check_error_handler)
        .add_systems(Update, check_tick_rates)
        .add_systems(PostUpdate, check_game_speed);
}

/// Detects an app without an error handler: bytes from a peer can make lightyear's systems fail, and Bevy's
/// default is to panic.
fn check_error_handler(
    handler: Option<Res<FallbackErrorHandler>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    if handler.is_none() {
        diagnostics.report(SetupIssue::NoErrorHandler, || {
            "no error handler is set, so a system that fails on what a peer sends ends the app: call \
             App::set_error_handler(bevy::ecs::error::warn) before adding plugins"
                .to_owned()
        });
    }
}

/// Detects a client with lightyear's inputs, which wait for its timeline, and without lightyear's pings. The
/// host of a listen server needs none.
pub(crate) fn check_pings(
    pings: Res<LightyearPings>,
    channels: Option<Res<ChannelRegistry>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let Some(channels) = channels.filter(|_| pings.interval.is_none()) else { return };
    let mut names = (0..=u16::MAX)
        .map_while(|id| channels.get_kind_from_net_id(id).map(|kind| channels.get_name_from_kind(kind)));
    if names.any(|name| name.ends_with("lightyear_inputs::InputChannel")) {
        diagnostics.report(SetupIssue::LightyearPings, || {
            "lightyear's inputs are registered and its pings are off, so no input is ever sent: insert \
             LightyearPings::ON on the client, or add lightyear's plugins before the suite's"
                .to_owned()
        });
    }
}

/// Detects a game that has replaced `Time<Fixed>`.
fn check_tick_rates(
    fixed: Res<Time<Fixed>>,
    rate: Res<SimulationRate>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let step = fixed.timestep();
    if durations_differ(rate.tick, step) {
        diagnostics.report(SetupIssue::TickRate, || {
            format!(
                "the timestep of Time<Fixed> is {} and SimulationRate::tick is {}: give the same tick to \
                 UnlagClientPlugins or UnlagServerPlugins and to the lightyear plugins of the game, and \
                 do not insert a Time<Fixed> after them",
                milliseconds(step),
                milliseconds(rate.tick)
            )
        });
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// Detects a foreign change of the game speed: between `apply_speed` and the end of the frame, where
/// lightyear sets it, no other system should write it. While nobody is connected an app may pause.
fn check_game_speed(
    (time, set): (Res<Time<Virtual>>, Res<AppliedSpeed>),
    links: Query<(), With<Connected>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    if time.is_paused() && !links.is_empty() {
        diagnostics.report(SetupIssue::GameSpeedOverridden, || {
            "another system has paused Time<Virtual>, which stops this app alone while the others play on: set \
             GameSpeed to 0 on the server instead, and the clients follow"
                .to_owned()
        });
    }
    let speed = time.relative_speed();
    if let Some(ours) = set.0
        && speed != ours
    {
        diagnostics.report(SetupIssue::GameSpeedOverridden, || {
            format!(
                "another system has set the speed of Time<Virtual> to {speed}, which lasts for one frame: \
                 set GameSpeed instead, on the server and on its clients"
            )
        });
    }
}

//! Debug controls: clock speed, forced corrections, dropped packets, and the debug views of corrections and
//! shots.

use bevy::prelude::*;
use bevy_unlag::{
    net::GameSpeed,
    prediction::{ClockSteering, CorrectionView, PredictionDebug},
    prelude::*,
    rewind::RewindView,
};
use lightyear::prelude::Client;
use unlag_examples::{
    screen::{
        ShownIf,
        link_controls::has_link,
        ui::{column, slider},
    },
    server_debug::ServerDebugHandle,
};

use crate::kept_settings::SENSITIVITIES;

/// Key that toggles the debug view of corrections.
const VIEW_KEY: KeyCode = KeyCode::F4;
/// Key that toggles the debug view of shots.
const SHOTS_KEY: KeyCode = KeyCode::F5;
/// Deviation from the normal clock speed below which the slider snaps to it.
const NORMAL_SPEED_SNAP: f32 = 0.04;

/// Applies the debug controls.
pub fn plugin(app: &mut App) {
    app.add_systems(
        Update,
        (steer.run_if(resource_exists_and_changed::<GameSpeed>), tell_server, toggle_views, fetch_shots),
    );
}

/// Spawns the sliders. A client's clock and packets affect only itself; corrections are forced where the
/// process has a server.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    let of_client = ShownIf::new(&mut panel.commands(), has_link);
    let of_server = |links: Query<(), (With<NetSim>, With<Client>)>,
                     server: Option<Res<ServerDebugHandle>>| {
        server.is_some() || !has_link(links)
    };
    let of_server = ShownIf::new(&mut panel.commands(), of_server);
    let has_mouse = |controls: Query<(), With<PlayerControls>>| !controls.is_empty();
    let has_mouse = ShownIf::new(&mut panel.commands(), has_mouse);
    panel.spawn((has_mouse, column())).with_children(|panel| {
        slider(
            panel,
            "Mouse",
            (SENSITIVITIES.0 * 1e3, SENSITIVITIES.1 * 1e3),
            1,
            |controls: Query<&PlayerControls>| {
                let speed = controls.iter().next().map_or(0.0, |controls| controls.sensitivity * 1e3);
                (speed, format!("{speed:.1} mrad/px"))
            },
            |In(value): In<f32>, mut controls: Query<&mut PlayerControls>| {
                controls.iter_mut().for_each(|mut controls| controls.sensitivity = value * 1e-3);
            },
        );
    });
    let percent = |share: f32| (share * 100.0, format!("{:.0} %", share * 100.0));
    panel.spawn((of_client, column())).with_children(|panel| {
        slider(
            panel,
            "Own clock",
            (0.5, 2.0),
            2,
            |speed: Res<GameSpeed>| (speed.0, format!("{:.2} x", speed.0)),
            |In(value): In<f32>, mut speed: ResMut<GameSpeed>| {
                speed.0 = if (value - 1.0).abs() < NORMAL_SPEED_SNAP { 1.0 } else { value };
            },
        );
        slider(
            panel,
            "Dropped move packets",
            (0.0, 100.0),
            0,
            move |debug: Res<PredictionDebug>| percent(debug.drop_packets),
            |In(value): In<f32>, mut debug: ResMut<PredictionDebug>| debug.drop_packets = value / 100.0,
        );
    });
    panel.spawn((of_server, column())).with_children(|panel| {
        slider(
            panel,
            "Forced corrections",
            (0.0, 100.0),
            0,
            move |debug: Res<PredictionDebug>| percent(debug.force_corrections),
            |In(value): In<f32>, mut debug: ResMut<PredictionDebug>| debug.force_corrections = value / 100.0,
        );
    });
}

/// Disables clock steering while the clock speed is set wrong on purpose, and restarts it from scratch
/// afterwards.
fn steer(speed: Res<GameSpeed>, mut config: ResMut<PredictionConfig>, mut steering: ResMut<ClockSteering>) {
    let normal = speed.0 == 1.0;
    if config.steer_clock != normal {
        config.steer_clock = normal;
        *steering = ClockSteering::default();
    }
}

/// Forwards the debug settings to a server in another thread.
fn tell_server(debug: Res<PredictionDebug>, server: Option<Res<ServerDebugHandle>>) {
    if let Some(server) = server.filter(|_| debug.is_changed()) {
        server.force_corrections(debug.force_corrections);
    }
}

fn toggle_views(
    keys: Res<ButtonInput<KeyCode>>,
    mut corrections: ResMut<CorrectionView>,
    mut shots: ResMut<RewindView>,
) {
    if keys.just_pressed(VIEW_KEY) {
        corrections.enabled = !corrections.enabled;
    }
    if keys.just_pressed(SHOTS_KEY) {
        shots.enabled = !shots.enabled;
    }
}

/// Fetches the evidence of the player's own shots from a server in another thread.
fn fetch_shots(
    server: Option<Res<ServerDebugHandle>>,
    own: Query<&NetId, With<LocalControl>>,
    mut view: ResMut<RewindView>,
) {
    let Some(server) = server else { return };
    server.record_shots(view.enabled);
    for shot in server.take_shots() {
        if own.iter().any(|id| shot.shooter == Some(*id)) {
            view.push_tested(shot);
        }
    }
}

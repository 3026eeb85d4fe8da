//! Debug controls: clock speed, forced corrections, dropped packets, and the debug views of corrections and
//! shots.

use bevy::{prelude::*, ui_widgets::ValueChange};
use bevy_unlag::{prediction::ClockSteering, prelude::*};
use lightyear::prelude::Client;
use unlag_examples::{
    realtime::ServerSwitches,
    screen::{
        slider::{Knob, Knobs, Scale, spawn_knob},
        ui::column,
    },
};

/// Key that toggles the debug view of corrections.
const VIEW_KEY: KeyCode = KeyCode::F4;
/// Key that toggles the debug view of shots.
const SHOTS_KEY: KeyCode = KeyCode::F5;
/// Deviation from the normal clock speed below which the slider snaps to it.
const HONEST: f32 = 0.04;

/// Applies the debug controls, and shows their values.
pub struct SwitchesPlugin;

impl Plugin for SwitchesPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(turn).add_systems(
            Update,
            (
                show,
                show_what_applies,
                steer.run_if(resource_exists_and_changed::<GameSpeed>),
                tell_server,
                toggle_views,
                fetch_shots,
            ),
        );
    }
}

#[derive(Component, Clone, Copy)]
enum Switch {
    /// Speed of the own clock.
    Clock,
    /// Share of acknowledgements that the server turns into corrections.
    Forced,
    /// Share of the own move packets that are dropped.
    Thrown,
}

impl Knob for Switch {
    fn scale(self) -> Scale {
        let (name, least, largest, decimals) = match self {
            Self::Clock => ("Own clock", 0.5, 2.0, 2),
            Self::Forced => ("Forced corrections", 0.0, 100.0, 0),
            Self::Thrown => ("Dropped move packets", 0.0, 100.0, 0),
        };
        Scale { name, least, largest, decimals }
    }
}

/// Condition under which a control applies.
#[derive(Component, Clone, Copy)]
enum Needs {
    /// The app is a client, whose clock affects only itself.
    Link,
    /// The process has a server.
    Server,
}

pub fn spawn_switches(panel: &mut ChildSpawnerCommands) {
    panel.spawn((Needs::Link, column())).with_children(|panel| {
        spawn_knob(panel, Switch::Clock);
        spawn_knob(panel, Switch::Thrown);
    });
    panel.spawn((Needs::Server, column())).with_children(|panel| spawn_knob(panel, Switch::Forced));
}

fn turn(
    change: On<ValueChange<f32>>,
    mut knobs: Knobs<Switch>,
    mut speed: ResMut<GameSpeed>,
    mut debug: ResMut<PredictionDebug>,
) {
    let value = change.value;
    match knobs.turned(&change) {
        Some(Switch::Clock) => speed.0 = if (value - 1.0).abs() < HONEST { 1.0 } else { value },
        Some(Switch::Forced) => debug.force_corrections = value / 100.0,
        Some(Switch::Thrown) => debug.lose_packets = value / 100.0,
        None => {}
    }
}

fn show(mut knobs: Knobs<Switch>, speed: Res<GameSpeed>, debug: Res<PredictionDebug>) {
    let value = |switch| match switch {
        Switch::Clock => speed.0,
        Switch::Forced => debug.force_corrections * 100.0,
        Switch::Thrown => debug.lose_packets * 100.0,
    };
    knobs.show(value, |switch| match switch {
        Switch::Clock => format!("{:.2} x", value(switch)),
        Switch::Forced | Switch::Thrown => format!("{:.0} %", value(switch)),
    });
}

fn show_what_applies(
    links: Query<(), (With<NetSim>, With<Client>)>,
    server: Option<Res<ServerSwitches>>,
    mut parts: Query<(&Needs, &mut Node)>,
) {
    let client = !links.is_empty();
    for (needs, mut node) in &mut parts {
        let applies = match needs {
            Needs::Link => client,
            Needs::Server => server.is_some() || !client,
        };
        let wanted = if applies { Display::Flex } else { Display::None };
        if node.display != wanted {
            node.display = wanted;
        }
    }
}

/// Disables clock steering while the clock speed is set wrong on purpose, and restarts it from scratch
/// afterwards.
fn steer(speed: Res<GameSpeed>, mut config: ResMut<PredictionConfig>, mut steering: ResMut<ClockSteering>) {
    let honest = speed.0 == 1.0;
    if config.steer_clock != honest {
        config.steer_clock = honest;
        *steering = ClockSteering::default();
    }
}

/// Forwards the debug settings to a server in another thread.
fn tell_server(debug: Res<PredictionDebug>, server: Option<Res<ServerSwitches>>) {
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
    server: Option<Res<ServerSwitches>>,
    own: Query<&NetId, With<LocalControl>>,
    mut view: ResMut<RewindView>,
) {
    let Some(server) = server else { return };
    server.record_shots(view.enabled);
    for shot in server.take_shots() {
        if own.iter().any(|id| shot.shooter == Some(*id)) {
            view.judged(shot);
        }
    }
}

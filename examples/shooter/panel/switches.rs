//! What can be tried: a clock that runs too fast or too slow, corrections that nobody needs, packets
//! that are thrown away, a picture of corrections, and one of shots.

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

/// Toggles the picture of corrections.
const VIEW_KEY: KeyCode = KeyCode::F4;
/// Toggles the picture of shots.
const SHOTS_KEY: KeyCode = KeyCode::F5;
/// A clock within this of its own speed is meant to have it.
const HONEST: f32 = 0.04;

/// Turns what is done to the switches into settings, and shows those.
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
    /// The speed of the own clock.
    Clock,
    /// The share of answers that the server makes corrections.
    Forced,
    /// The share of the own packets that are thrown away.
    Thrown,
}

impl Knob for Switch {
    fn scale(self) -> Scale {
        let (name, least, largest, decimals) = match self {
            Self::Clock => ("Own clock", 0.5, 2.0, 2),
            Self::Forced => ("Answers that correct", 0.0, 100.0, 0),
            Self::Thrown => ("Moves thrown away", 0.0, 100.0, 0),
        };
        Scale { name, least, largest, decimals }
    }
}

/// Who has what a switch is about.
#[derive(Component, Clone, Copy)]
enum Needs {
    /// A client, for whom the clock is not the whole game's.
    Link,
    /// A server in this process.
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

/// A clock that is meant to be wrong is left alone, and learnt anew when it is right again.
fn steer(speed: Res<GameSpeed>, mut config: ResMut<PredictionConfig>, mut steering: ResMut<ClockSteering>) {
    let honest = speed.0 == 1.0;
    if config.steer_clock != honest {
        config.steer_clock = honest;
        *steering = ClockSteering::default();
    }
}

/// A server in another thread has settings of its own.
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

/// A server in another thread hands over what it judged of the own rounds.
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

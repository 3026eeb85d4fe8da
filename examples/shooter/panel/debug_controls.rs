//! Debug controls: clock speed, forced corrections, dropped packets, and the debug views of corrections and
//! shots.

use bevy::{prelude::*, ui_widgets::ValueChange};
use bevy_unlag::{prediction::ClockSteering, prelude::*};
use lightyear::prelude::Client;
use unlag_examples::{
    screen::{
        slider::{SliderRangeInfo, SliderSetting, Sliders, spawn_slider},
        ui::column,
    },
    udp_match::ServerDebugHandle,
};

/// Key that toggles the debug view of corrections.
const VIEW_KEY: KeyCode = KeyCode::F4;
/// Key that toggles the debug view of shots.
const SHOTS_KEY: KeyCode = KeyCode::F5;
/// Deviation from the normal clock speed below which the slider snaps to it.
const NORMAL_SPEED_SNAP: f32 = 0.04;

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
enum DebugControl {
    /// Speed of the own clock.
    Clock,
    /// Share of acknowledgements that the server turns into corrections.
    Forced,
    /// Share of the own move packets that are dropped.
    Dropped,
}

impl SliderSetting for DebugControl {
    fn scale(self) -> SliderRangeInfo {
        let (name, least, largest, decimals) = match self {
            Self::Clock => ("Own clock", 0.5, 2.0, 2),
            Self::Forced => ("Forced corrections", 0.0, 100.0, 0),
            Self::Dropped => ("Dropped move packets", 0.0, 100.0, 0),
        };
        SliderRangeInfo { name, least, largest, decimals }
    }
}

/// Condition under which a control applies.
#[derive(Component, Clone, Copy)]
enum AppliesTo {
    /// The app is a client, whose clock affects only itself.
    Link,
    /// The process has a server.
    Server,
}

pub fn spawn_switches(panel: &mut ChildSpawnerCommands) {
    panel.spawn((AppliesTo::Link, column())).with_children(|panel| {
        spawn_slider(panel, DebugControl::Clock);
        spawn_slider(panel, DebugControl::Dropped);
    });
    panel
        .spawn((AppliesTo::Server, column()))
        .with_children(|panel| spawn_slider(panel, DebugControl::Forced));
}

fn turn(
    change: On<ValueChange<f32>>,
    mut knobs: Sliders<DebugControl>,
    mut speed: ResMut<GameSpeed>,
    mut debug: ResMut<PredictionDebug>,
) {
    let value = change.value;
    match knobs.changed(&change) {
        Some(DebugControl::Clock) => {
            speed.0 = if (value - 1.0).abs() < NORMAL_SPEED_SNAP { 1.0 } else { value }
        }
        Some(DebugControl::Forced) => debug.force_corrections = value / 100.0,
        Some(DebugControl::Dropped) => debug.drop_packets = value / 100.0,
        None => {}
    }
}

fn show(mut knobs: Sliders<DebugControl>, speed: Res<GameSpeed>, debug: Res<PredictionDebug>) {
    let value = |switch| match switch {
        DebugControl::Clock => speed.0,
        DebugControl::Forced => debug.force_corrections * 100.0,
        DebugControl::Dropped => debug.drop_packets * 100.0,
    };
    knobs.show(value, |switch| match switch {
        DebugControl::Clock => format!("{:.2} x", value(switch)),
        DebugControl::Forced | DebugControl::Dropped => format!("{:.0} %", value(switch)),
    });
}

fn show_what_applies(
    links: Query<(), (With<NetSim>, With<Client>)>,
    server: Option<Res<ServerDebugHandle>>,
    mut parts: Query<(&AppliesTo, &mut Node)>,
) {
    let client = !links.is_empty();
    for (needs, mut node) in &mut parts {
        let applies = match needs {
            AppliesTo::Link => client,
            AppliesTo::Server => server.is_some() || !client,
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

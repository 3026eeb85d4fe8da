//! Controls of the simulated link: sliders for its conditions and buttons for its presets.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::{LinkConditions, LinkPreset, LinkPresets},
    prelude::*,
};
use lightyear::prelude::Client;

use super::{
    LiveText,
    ui::{FONT, TEXT, button, label, line, slider},
};

/// Presets that get a button.
const OFFERED: [&str; 9] = [
    "Perfect",
    "LAN",
    "Good broadband",
    "Average (UE)",
    "Bad (UE)",
    "WiFi congested",
    "Bursty",
    "GNS terrible",
    "Torture A",
];
/// Width of the buttons that step through the presets, in pixels.
const STEP: f32 = 28.0;

/// The presets that the panel offers. Default: the library's.
#[derive(Resource, Default, Debug)]
pub struct ShownPresets(pub LinkPresets);

/// Index of the last matching preset, from which stepping continues after a slider has changed the
/// conditions.
#[derive(Resource, Default)]
struct LastPreset(usize);

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<ShownPresets>().init_resource::<LastPreset>();
}

type Link<'w, 's> = Single<'w, 's, &'static NetSim, With<Client>>;
type LinkMut<'w, 's> = Single<'w, 's, &'static mut NetSim, With<Client>>;

/// Returns whether the app has a simulated link.
#[must_use]
pub fn has_link(links: Query<(), (With<NetSim>, With<Client>)>) -> bool {
    !links.is_empty()
}

/// Spawns sliders for latency, jitter and loss. `most_latency` is the maximum one-way latency, in
/// milliseconds.
pub fn spawn_sliders(panel: &mut ChildSpawnerCommands, most_latency: f32) {
    time_slider(panel, "Latency, one way", most_latency, |link| &mut link.latency);
    time_slider(panel, "Jitter, +/-", 150.0, |link| &mut link.jitter);
    slider(
        panel,
        "Loss",
        (0.0, 30.0),
        1,
        |link: Link| (link.up.loss * 100.0, format!("{:.1} %", link.up.loss * 100.0)),
        |In(value): In<f32>, mut link: LinkMut| change(&mut link, |link| link.loss = value / 100.0),
    );
}

/// Spawns a slider of up to `most` milliseconds.
fn time_slider(
    panel: &mut ChildSpawnerCommands,
    name: &str,
    most: f32,
    field: fn(&mut LinkConditions) -> &mut Duration,
) {
    let show = move |link: Link| {
        let mut conditions = link.up;
        let shown = milliseconds(*field(&mut conditions));
        (shown, format!("{shown:.0} ms"))
    };
    let set = move |In(value): In<f32>, mut link: LinkMut| {
        let time = Duration::from_millis(value.max(0.0).round() as u64);
        change(&mut link, |link| *field(link) = time);
    };
    slider(panel, name, (0.0, most), 0, show, set);
}

/// Spawns the sliders, a row that steps through all presets, and a button for each offered preset.
pub fn spawn_controls(panel: &mut ChildSpawnerCommands) {
    spawn_sliders(panel, 500.0);
    let name = LiveText::new(&mut panel.commands(), preset_name);
    panel.spawn(Node { margin: UiRect::bottom(px(6)), ..line(22.0) }).with_children(|row| {
        step_button(row, "<", false);
        row.spawn((name, label("", FONT, TEXT)));
        step_button(row, ">", true);
    });
    let wrapped = Node { flex_wrap: FlexWrap::Wrap, row_gap: px(4), column_gap: px(4), ..default() };
    panel.spawn(wrapped).with_children(|row| {
        for preset in OFFERED.into_iter().filter_map(LinkPreset::named) {
            button(
                row,
                auto(),
                &preset.name,
                move |mut link: LinkMut| apply(&mut link, preset),
                move |link: Link| is_set(preset, &link),
            );
        }
    });
}

/// Spawns a button that applies the next preset, or the previous one.
fn step_button(row: &mut ChildSpawnerCommands, text: &str, forward: bool) {
    let step = move |presets: Res<ShownPresets>, last: Res<LastPreset>, mut link: LinkMut| {
        let (place, count) = (current(&presets.0, &link).unwrap_or(last.0), presets.0.len().max(1));
        let by = if forward { 1 } else { count - 1 };
        if let Some(preset) = presets.0.get((place + by) % count) {
            apply(&mut link, preset);
        }
    };
    button(row, px(STEP), text, step, || false);
}

fn change(sim: &mut NetSim, set: impl Fn(&mut LinkConditions)) {
    set(&mut sim.up);
    set(&mut sim.down);
    log_link(&sim.up);
}

fn apply(sim: &mut NetSim, preset: &LinkPreset) {
    sim.apply(preset);
    log_link(&sim.up);
}

fn is_set(preset: &LinkPreset, sim: &NetSim) -> bool {
    (preset.up(), preset.down()) == (sim.up, sim.down)
}

/// Returns the index of the preset that matches the link's conditions, if there is one.
fn current(presets: &LinkPresets, sim: &NetSim) -> Option<usize> {
    presets.iter().position(|preset| is_set(preset, sim))
}

fn preset_name(presets: Res<ShownPresets>, mut last: ResMut<LastPreset>, link: Link) -> String {
    let place = current(&presets.0, &link);
    last.0 = place.unwrap_or(last.0);
    let preset = place.and_then(|place| presets.0.get(place));
    preset.map_or("custom", |preset| &preset.name).to_owned()
}

fn milliseconds(time: Duration) -> f32 {
    time.as_secs_f32() * 1e3
}

fn log_link(link: &LinkConditions) {
    let (latency, jitter) = (milliseconds(link.latency), milliseconds(link.jitter));
    info!("link set: latency {latency:.0} ms jitter {jitter:.0} ms loss {:.1} %", link.loss * 100.0);
}

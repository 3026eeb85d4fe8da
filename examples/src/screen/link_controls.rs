//! Controls of the simulated link: sliders for its conditions and buttons for its presets.

use core::time::Duration;

use bevy::{
    picking::hover::Hovered,
    prelude::*,
    ui_widgets::{Activate, ValueChange},
};
use bevy_unlag::{
    link_conditioner::{LinkConditions, LinkPreset, LinkPresets},
    prelude::*,
};
use lightyear::prelude::Client;

use super::{
    slider::{SliderPlugin, SliderRangeInfo, SliderSetting, Sliders, spawn_slider},
    ui::{FONT, TEXT, button, button_colour, label, line},
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

/// Applies the controls to the link's conditions, and shows those.
#[derive(Debug)]
pub struct LinkControlsPlugin;

impl Plugin for LinkControlsPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<SliderPlugin>() {
            app.add_plugins(SliderPlugin);
        }
        app.init_resource::<ShownPresets>()
            .add_observer(turn_knob)
            .add_observer(choose_preset)
            .add_systems(Update, (show_link, show_preset, colour_buttons));
    }
}

/// The presets that the panel offers. Default: the library's.
#[derive(Resource, Default, Debug)]
pub struct ShownPresets(pub LinkPresets);

/// A condition of the link that has a slider.
#[derive(Component, Clone, Copy)]
enum Condition {
    /// Latency; the slider's maximum is this many milliseconds.
    Latency(u16),
    Jitter,
    Loss,
}

impl SliderSetting for Condition {
    fn scale(self) -> SliderRangeInfo {
        let (name, largest, decimals) = match self {
            Self::Latency(most) => ("Latency, one way", f32::from(most), 0),
            Self::Jitter => ("Jitter, +/-", 150.0, 0),
            Self::Loss => ("Loss", 30.0, 1),
        };
        SliderRangeInfo { name, least: 0.0, largest, decimals }
    }
}

impl Condition {
    fn get(self, link: &LinkConditions) -> f32 {
        match self {
            Self::Latency(_) => link.latency.as_secs_f32() * 1e3,
            Self::Jitter => link.jitter.as_secs_f32() * 1e3,
            Self::Loss => link.loss * 100.0,
        }
    }

    fn set(self, link: &mut LinkConditions, value: f32) {
        let milliseconds = Duration::from_millis(value.max(0.0).round() as u64);
        match self {
            Self::Latency(_) => link.latency = milliseconds,
            Self::Jitter => link.jitter = milliseconds,
            Self::Loss => link.loss = value / 100.0,
        }
    }

    fn text(self, link: &LinkConditions) -> String {
        let value = self.get(link);
        if matches!(self, Self::Loss) { format!("{value:.1} %") } else { format!("{value:.0} ms") }
    }
}

/// Preset that a button selects.
#[derive(Component)]
enum Choice {
    This(Box<LinkPreset>),
    /// The preset before the current one, among all presets.
    Previous,
    /// The preset after the current one, among all presets.
    Next,
}

/// Label with the name of the current preset. Holds the index of the last matching preset, from which
/// stepping continues after a slider has changed the conditions.
#[derive(Component)]
struct PresetName(usize);

/// Node that is visible only with a simulated link (`true`), or only without one (`false`).
#[derive(Component, Debug)]
pub struct VisibleIfLink(pub bool);

/// Spawns sliders for latency, jitter and loss. `most_latency` is the maximum one-way latency, in
/// milliseconds.
pub fn spawn_sliders(link: &mut ChildSpawnerCommands, most_latency: u16) {
    for condition in [Condition::Latency(most_latency), Condition::Jitter, Condition::Loss] {
        spawn_slider(link, condition);
    }
}

/// Spawns the sliders, a row that steps through all presets, and a button for each offered preset.
pub fn spawn_controls(link: &mut ChildSpawnerCommands) {
    spawn_sliders(link, 500);
    let name = (PresetName(0), label("", FONT, TEXT));
    let (previous, next) = (button(Choice::Previous, px(STEP), "<"), button(Choice::Next, px(STEP), ">"));
    link.spawn((Node { margin: UiRect::bottom(px(6)), ..line(22.0) }, children![previous, name, next]));
    let wrapped = Node { flex_wrap: FlexWrap::Wrap, row_gap: px(4), column_gap: px(4), ..default() };
    link.spawn(wrapped).with_children(|buttons| {
        for preset in OFFERED.into_iter().filter_map(LinkPreset::named) {
            buttons.spawn(button(Choice::This(Box::new(preset.clone())), auto(), &preset.name));
        }
    });
}

fn turn_knob(
    change: On<ValueChange<f32>>,
    mut knobs: Sliders<Condition>,
    mut links: Query<&mut NetSim, With<Client>>,
) {
    let Some(condition) = knobs.changed(&change) else { return };
    for mut sim in &mut links {
        condition.set(&mut sim.up, change.value);
        condition.set(&mut sim.down, change.value);
        log_link(&sim.up);
    }
}

fn choose_preset(
    pressed: On<Activate>,
    buttons: Query<&Choice>,
    names: Query<&PresetName>,
    presets: Res<ShownPresets>,
    mut links: Query<&mut NetSim, With<Client>>,
) {
    let Ok(choice) = buttons.get(pressed.entity) else { return };
    let last = names.iter().next().map_or(0, |name| name.0);
    for mut sim in &mut links {
        let presets = &presets.0;
        let count = presets.len().max(1);
        let step = |by: usize| presets.get((current(presets, &sim).unwrap_or(last) + by) % count);
        let preset = match choice {
            Choice::This(preset) => Some(&**preset),
            Choice::Previous => step(count - 1),
            Choice::Next => step(1),
        };
        if let Some(preset) = preset {
            sim.apply(preset);
            log_link(&sim.up);
        }
    }
}

fn is_set(preset: &LinkPreset, sim: &NetSim) -> bool {
    (preset.up(), preset.down()) == (sim.up, sim.down)
}

/// Returns the index of the preset that matches the link's conditions, if there is one.
fn current(presets: &LinkPresets, sim: &NetSim) -> Option<usize> {
    presets.iter().position(|preset| is_set(preset, sim))
}

fn log_link(link: &LinkConditions) {
    let [latency, jitter, loss] =
        [Condition::Latency(0), Condition::Jitter, Condition::Loss].map(|condition| condition.get(link));
    info!("link set: latency {latency:.0} ms jitter {jitter:.0} ms loss {loss:.1} %");
}

/// Shows the link's conditions on the sliders, whatever set them.
fn show_link(
    links: Query<&NetSim, With<Client>>,
    mut knobs: Sliders<Condition>,
    mut parts: Query<(&VisibleIfLink, &mut Node)>,
) {
    let link = links.iter().next();
    for (VisibleIfLink(with), mut node) in &mut parts {
        let wanted = if *with == link.is_some() { Display::Flex } else { Display::None };
        if node.display != wanted {
            node.display = wanted;
        }
    }
    if let Some(NetSim { up: link, .. }) = link {
        knobs.show(|condition| condition.get(link), |condition| condition.text(link));
    }
}

fn show_preset(
    links: Query<&NetSim, With<Client>>,
    presets: Res<ShownPresets>,
    mut names: Query<(&mut PresetName, &mut Text)>,
) {
    let Some(sim) = links.iter().next() else { return };
    let presets = &presets.0;
    let place = current(presets, sim);
    for (mut name, mut text) in &mut names {
        name.0 = place.unwrap_or(name.0);
        let preset = place.and_then(|place| presets.get(place));
        text.set_if_neq(Text(preset.map_or("custom", |preset| &preset.name).to_owned()));
    }
}

fn colour_buttons(
    links: Query<&NetSim, With<Client>>,
    mut buttons: Query<(&Choice, &Hovered, &mut BackgroundColor)>,
) {
    let link = links.iter().next();
    for (choice, hovered, mut colour) in &mut buttons {
        let active = matches!(choice, Choice::This(preset) if link.is_some_and(|sim| is_set(preset, sim)));
        colour.set_if_neq(button_colour(active, hovered));
    }
}

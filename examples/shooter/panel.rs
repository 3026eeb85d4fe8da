//! The panels: how the network, prediction and shots fare, a link to make worse, and what to try.

mod link;
mod readout;
mod slider;
mod switches;

use bevy::{picking::hover::Hovered, prelude::*};

use crate::hud::{SHADE, TEXT, label};
use link::{IfLink, LinkControlsPlugin, spawn_controls};
use readout::{MESSAGES, NETWORK, PREDICTION, Readout, ReadoutPlugin, SHOTS, spawn_causes};
use slider::SliderPlugin;
use switches::{SwitchesPlugin, spawn_switches};

const FONT: f32 = 13.0;
const HEADING: Color = Color::srgb(0.55, 0.80, 1.0);
const DIM: Color = Color::srgb(0.72, 0.75, 0.80);

/// Shows counters and offers the simulated link's conditions.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((ReadoutPlugin, SliderPlugin, LinkControlsPlugin, SwitchesPlugin))
            .add_systems(Startup, spawn);
    }
}

/// A panel; [`Hovered`] says whether the mouse is over it.
#[derive(Component)]
#[require(Hovered)]
pub struct PanelRoot;

/// A line of fixed height: what is below it never moves.
fn line(height: f32) -> Node {
    Node {
        height: px(height),
        flex_shrink: 0.0,
        justify_content: JustifyContent::SpaceBetween,
        align_items: AlignItems::Center,
        ..default()
    }
}

fn column() -> Node {
    Node { flex_direction: FlexDirection::Column, ..default() }
}

fn heading(panel: &mut ChildSpawnerCommands, text: &str) {
    panel.spawn((line(22.0), children![label(text, 14.0, HEADING)]));
}

fn readouts(panel: &mut ChildSpawnerCommands, title: &str, all: &[(Readout, &str)]) {
    heading(panel, title);
    for (readout, name) in all {
        let value = (*readout, label("-", FONT, TEXT));
        panel.spawn((line(16.0), children![label(*name, FONT, DIM), value]));
    }
}

fn spawn(mut commands: Commands) {
    let root = Node {
        position_type: PositionType::Absolute,
        top: px(12),
        width: px(300),
        padding: UiRect::all(px(10)),
        border_radius: BorderRadius::all(px(6)),
        ..column()
    };
    let (left, right) = (Node { left: px(12), ..root.clone() }, Node { right: px(12), ..root });
    commands.spawn((PanelRoot, left, BackgroundColor(SHADE))).with_children(|panel| {
        readouts(panel, "Network", &NETWORK);
        readouts(panel, "Shots", &SHOTS);
        heading(panel, "Simulated link");
        panel.spawn((IfLink(false), line(16.0), children![label("hosting: no link", FONT, DIM)]));
        panel.spawn((IfLink(true), column())).with_children(spawn_controls);
    });
    commands.spawn((PanelRoot, right, BackgroundColor(SHADE))).with_children(|panel| {
        readouts(panel, "Prediction", &PREDICTION);
        readouts(panel, "Messages", &MESSAGES);
        heading(panel, "Try it");
        spawn_switches(panel);
        // The last, because it grows.
        heading(panel, "Corrections by cause");
        spawn_causes(panel);
    });
}

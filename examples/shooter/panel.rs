//! The panel: how the network fares, how shots fare, and a link to make worse.

mod link;
mod readout;

use bevy::{picking::hover::Hovered, prelude::*};

use crate::hud::{SHADE, TEXT, label};
use link::{IfLink, LinkControlsPlugin, spawn_controls};
use readout::{NETWORK, ReadoutPlugin, SHOTS};

const FONT: f32 = 13.0;
const HEADING: Color = Color::srgb(0.55, 0.80, 1.0);
const DIM: Color = Color::srgb(0.72, 0.75, 0.80);

/// Shows counters and offers the simulated link's conditions.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((ReadoutPlugin, LinkControlsPlugin)).add_systems(Startup, spawn);
    }
}

/// The panel; [`Hovered`] says whether the mouse is over it.
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

fn spawn(mut commands: Commands) {
    let column = Node { flex_direction: FlexDirection::Column, ..default() };
    let root = Node {
        position_type: PositionType::Absolute,
        left: px(12),
        top: px(12),
        width: px(300),
        padding: UiRect::all(px(10)),
        border_radius: BorderRadius::all(px(6)),
        ..column.clone()
    };
    commands.spawn((PanelRoot, root, BackgroundColor(SHADE))).with_children(|panel| {
        for (heading, readouts) in [("Network", &NETWORK[..]), ("Shots", &SHOTS[..])] {
            panel.spawn((line(22.0), children![label(heading, 14.0, HEADING)]));
            for (readout, name) in readouts {
                let value = (*readout, label("-", FONT, TEXT));
                panel.spawn((line(16.0), children![label(*name, FONT, DIM), value]));
            }
        }
        panel.spawn((line(22.0), children![label("Simulated link", 14.0, HEADING)]));
        panel.spawn((IfLink(false), line(16.0), children![label("hosting: no link", FONT, DIM)]));
        panel.spawn((IfLink(true), column)).with_children(spawn_controls);
    });
}

//! Panels: the pose and the list of boxes on the left, the selected box and the bounds on the right.

mod bounds;
mod list;
mod selected;
mod stance;

use bevy::prelude::*;
use unlag_examples::screen::{
    slider::SliderPlugin,
    ui::{PanelRoot, SHADE, TEXT, column, label, panel_node},
};

use crate::keys::HELP;
use bounds::BoundsPlugin;
use list::ListPlugin;
use selected::SelectedPlugin;
use stance::StancePanelPlugin;

/// Shows and edits the document and the pose.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((SliderPlugin, StancePanelPlugin, ListPlugin, SelectedPlugin, BoundsPlugin))
            .add_systems(Startup, spawn);
    }
}

fn spawn(mut commands: Commands) {
    let (left, right) = (Node { left: px(12), ..panel_node() }, Node { right: px(12), ..panel_node() });
    commands.spawn((PanelRoot, left, BackgroundColor(SHADE))).with_children(|panel| {
        stance::spawn(panel);
        list::spawn(panel);
    });
    commands.spawn((PanelRoot, right, BackgroundColor(SHADE))).with_children(|panel| {
        selected::spawn(panel);
        bounds::spawn(panel);
    });
    let help = Node {
        position_type: PositionType::Absolute,
        left: px(12),
        bottom: px(8),
        padding: UiRect::axes(px(10), px(4)),
        border_radius: BorderRadius::all(px(6)),
        ..column()
    };
    commands.spawn((help, BackgroundColor(SHADE))).with_children(|help| {
        for line in HELP {
            help.spawn(label(line, 12.0, TEXT));
        }
    });
}

//! Panels: the update rate, the link and the own kart on the left, the remote kart on the right.

mod other;
mod own;
mod rate;

use bevy::prelude::*;
use unlag_examples::screen::{
    link_controls::{LinkControlsPlugin, spawn_sliders},
    ui::{DIM, PanelRoot, SHADE, TEXT, heading, label, panel_node},
};

use crate::controls::HELP;
use other::OtherPlugin;
use own::OwnPlugin;
use rate::RatePlugin;

/// Maximum of the latency slider, in milliseconds, one way.
const MOST_LATENCY: u16 = 1_000;

/// Shows the measurements and the settings.
pub struct PanelPlugin {
    /// Whether a script drives.
    pub autoplay: bool,
}

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        let autoplay = self.autoplay;
        app.add_plugins((LinkControlsPlugin, RatePlugin, OwnPlugin, OtherPlugin))
            .add_systems(Startup, move |commands: Commands| spawn(commands, autoplay));
    }
}

fn spawn(mut commands: Commands, autoplay: bool) {
    let (left, right) = (Node { left: px(12), ..panel_node() }, Node { right: px(12), ..panel_node() });
    commands.spawn((PanelRoot, left, BackgroundColor(SHADE))).with_children(|panel| {
        heading(panel, "The server");
        rate::spawn(panel);
        heading(panel, "The own link");
        spawn_sliders(panel, MOST_LATENCY);
        own::spawn(panel);
    });
    commands.spawn((PanelRoot, right, BackgroundColor(SHADE))).with_children(other::spawn);
    let help = Node {
        position_type: PositionType::Absolute,
        left: px(12),
        bottom: px(10),
        padding: UiRect::axes(px(10), px(5)),
        border_radius: BorderRadius::all(px(6)),
        ..default()
    };
    let (text, colour) = if autoplay { ("autoplay    C camera    mouse: panels", DIM) } else { (HELP, TEXT) };
    commands.spawn((help, BackgroundColor(SHADE), children![label(text, 13.0, colour)]));
}

//! Panels: statistics of network, prediction and shots, the simulated link, and debug controls.

mod bandwidth;
mod debug_controls;
mod readout;

use bevy::prelude::*;
use unlag_examples::screen::{
    link_controls::{LinkControlsPlugin, VisibleIfLink, spawn_controls},
    ui::{DIM, FONT, PanelRoot, SHADE, column, heading, label, line, panel_node, readouts},
};

use bandwidth::BandwidthPlugin;
use debug_controls::{SwitchesPlugin, spawn_switches};
use readout::{MESSAGES, NETWORK, PREDICTION, ReadoutPlugin, SHOTS, spawn_causes};

/// Shows the statistics and the controls of the simulated link.
pub struct PanelPlugin {
    /// Whether the table of message bandwidth is shown at first.
    pub bandwidth: bool,
}

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        let table = BandwidthPlugin { shown: self.bandwidth };
        app.add_plugins((ReadoutPlugin, LinkControlsPlugin, SwitchesPlugin, table))
            .add_systems(Startup, spawn);
    }
}

fn spawn(mut commands: Commands) {
    let (left, right) = (Node { left: px(12), ..panel_node() }, Node { right: px(12), ..panel_node() });
    commands.spawn((PanelRoot, left, BackgroundColor(SHADE))).with_children(|panel| {
        readouts(panel, "Network", &NETWORK);
        readouts(panel, "Shots", &SHOTS);
        heading(panel, "Simulated link");
        panel.spawn((VisibleIfLink(false), line(16.0), children![label("hosting: no link", FONT, DIM)]));
        panel.spawn((VisibleIfLink(true), column())).with_children(spawn_controls);
    });
    commands.spawn((PanelRoot, right, BackgroundColor(SHADE))).with_children(|panel| {
        readouts(panel, "Prediction", &PREDICTION);
        readouts(panel, "Messages (F6: all)", &MESSAGES);
        heading(panel, "Try it");
        spawn_switches(panel);
        // Placed last, because it grows.
        heading(panel, "Corrections by cause");
        spawn_causes(panel);
    });
}

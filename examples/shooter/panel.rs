//! Panels: statistics of network, prediction and shots, the simulated link, and debug controls.

mod bandwidth;
mod debug_controls;
mod readout;
mod timeline;

use bevy::prelude::*;
use bevy_unlag::prediction::CorrectionCause;
use unlag_examples::{
    hero::Hero,
    screen::{
        ShownIf,
        link_controls::{has_link, spawn_controls},
        ui::{DIM, FONT, column, heading, label, left_panel, line, right_panel},
    },
};

/// Shows the statistics and the controls of the simulated link, and with `bandwidth` at first the table of
/// message bandwidth.
pub fn add(app: &mut App, bandwidth: bool) {
    app.add_plugins((readout::plugin, debug_controls::plugin))
        .insert_resource(bandwidth::ShowsTable(bandwidth))
        .init_resource::<timeline::ShowsTimeline>()
        .add_systems(Startup, (spawn, bandwidth::spawn, timeline::spawn))
        .add_systems(Update, (bandwidth::toggle, timeline::toggle))
        .add_plugins(unlag_examples::timeline::plugin::<Hero>);
}

fn spawn(mut commands: Commands) {
    let (without, with) = (ShownIf::new(&mut commands, not(has_link)), ShownIf::new(&mut commands, has_link));
    left_panel(&mut commands, |panel| {
        readout::spawn_network(panel);
        readout::spawn_shots(panel);
        heading(panel, "Simulated link");
        panel.spawn((without, line(16.0), children![label("hosting: no link", FONT, DIM)]));
        panel.spawn((with, column())).with_children(spawn_controls);
    });
    right_panel(&mut commands, |panel| {
        readout::spawn_prediction(panel);
        readout::spawn_messages(panel);
        heading(panel, "Try it");
        debug_controls::spawn(panel);
        // Placed last, because it grows.
        heading(panel, "Corrections by cause");
        readout::spawn_no_corrections(panel);
        for cause in CorrectionCause::ALL {
            readout::spawn_cause(panel, cause);
        }
    });
}

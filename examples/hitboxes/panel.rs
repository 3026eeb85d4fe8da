//! Panels: the pose and the list of boxes on the left, the selected box and the bounds on the right.

mod bounds;
mod list;
mod pose_sliders;
mod selected;

use bevy::prelude::*;
use unlag_examples::screen::ui::{help, left_panel, right_panel};

use crate::keys::HELP;

/// Shows and edits the document and the pose.
pub fn plugin(app: &mut App) {
    app.init_resource::<bounds::Reach>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (bounds::measure, list::fill));
}

fn spawn(mut commands: Commands) {
    left_panel(&mut commands, |panel| {
        pose_sliders::spawn(panel);
        list::spawn(panel);
    });
    right_panel(&mut commands, |panel| {
        selected::spawn(panel);
        bounds::spawn(panel);
    });
    help(&mut commands, &HELP);
}

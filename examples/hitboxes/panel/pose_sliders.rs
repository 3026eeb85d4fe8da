//! Sliders of the pose.

use bevy::prelude::*;
use unlag_examples::screen::ui::{heading, slider};

use crate::stance::Stance;

/// Spawns the sliders.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "Pose");
    slider(
        panel,
        "Crouch (C)",
        (0.0, 1.0),
        2,
        |stance: Res<Stance>| (stance.crouch, format!("{:.2}", stance.crouch)),
        |In(value): In<f32>, mut stance: ResMut<Stance>| stance.crouch = value,
    );
    slider(
        panel,
        "Speed (Space walks)",
        (0.0, 7.0),
        1,
        |stance: Res<Stance>| (stance.speed, format!("{:.1} m/s", stance.speed)),
        |In(value): In<f32>, mut stance: ResMut<Stance>| stance.speed = value,
    );
    slider(
        panel,
        "Stride",
        (0.0, 1.0),
        2,
        |stance: Res<Stance>| (stance.phase, format!("{:.2}", stance.phase)),
        |In(phase): In<f32>, mut stance: ResMut<Stance>| {
            *stance = Stance { phase, walking: false, ..*stance };
        },
    );
    slider(
        panel,
        "Look up",
        (-89.0, 89.0),
        0,
        |stance: Res<Stance>| (stance.pitch, format!("{:.0} deg", stance.pitch)),
        |In(value): In<f32>, mut stance: ResMut<Stance>| stance.pitch = value,
    );
}

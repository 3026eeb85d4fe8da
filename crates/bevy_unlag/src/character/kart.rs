//! The kart.

use bevy::prelude::*;
use bevy_unlag_movement::{CapsuleInput, KartInput, KartModel, KartPlugin};
use bevy_unlag_rewind::{HitBox, HitBoxes, HitGroup};

use super::{Character, Side};

/// Forwards is throttle, and right is steering. The hit box is a sphere around the kart.
impl Character for KartModel {
    fn apply_controls(input: &mut KartInput, controls: &CapsuleInput) {
        *input = KartInput { throttle: controls.forward, steering: controls.right };
    }

    fn build(app: &mut App, _: Side) {
        app.add_plugins(KartPlugin);
    }
}

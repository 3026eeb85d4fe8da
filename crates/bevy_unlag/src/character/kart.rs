//! The kart.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{Extended, LimbRig, MoveExtension, PawnClass};
use bevy_unlag_movement::{
    CapsuleInput, KartCollisionPlugin, KartConfig, KartInput, KartModel, KartPlugin, KartState,
};
use bevy_unlag_rewind::{BodyBounds, HitBox, HitBoxes, HitGroup};

use super::{Character, Side};

/// Forwards is throttle, and right is steering. The hit box is a sphere around the kart.
impl Character for KartModel {
    fn state_at(position: Vec3) -> KartState {
        KartState::at(position, 0)
    }

    fn body(config: &KartConfig, class: PawnClass) -> impl Bundle {
        let KartConfig { radius, half_height, .. } = *config.class(class);
        let centre = Isometry3d::from_translation(Vec3::Y * half_height);
        let shell = HitBox::new(0, HitGroup::Body, Collider::ball(radius)).at(centre);
        let bounds = BodyBounds { radius, low: half_height - radius, high: half_height + radius };
        (HitBoxes::new([shell], bounds), LimbRig::rigid())
    }

    fn set_class(state: &mut KartState, class: PawnClass) {
        state.class = class;
    }

    fn has_class(config: &KartConfig, class: PawnClass) -> bool {
        config.has_class(class)
    }

    fn apply_controls(input: &mut KartInput, controls: &CapsuleInput) {
        *input = KartInput { throttle: controls.forward, steering: controls.right };
    }

    fn build(app: &mut App, _: Side) {
        add_karts(app);
    }

    fn build_extended<X: MoveExtension>(app: &mut App, _: Side) {
        add_karts(app);
        app.add_plugins(KartCollisionPlugin::<Extended<Self, X>>::default());
    }
}

/// Adds karts once, however many characters are one.
fn add_karts(app: &mut App) {
    if !app.is_plugin_added::<KartPlugin>() {
        app.add_plugins(KartPlugin);
    }
}

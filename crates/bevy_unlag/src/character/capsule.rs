//! Capsule characters, with and without abilities.

use core::any::TypeId;

use bevy::prelude::*;
use bevy_unlag_core::{Extended, ExtendedEvent, ExtendedState, MoveExtension, MoveModel, PawnClass};
use bevy_unlag_lightyear::SharePawnEvents;
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, CapsuleWith, HasCapsule, HasMoveEvent,
    MoveAbility, MoveEvent, PawnCollisionPlugin,
};
use bevy_unlag_rewind::{humanoid_hit_boxes, humanoid_rig, scaled_humanoid_hit_boxes};

use super::{Character, Side, movement_mode, passenger};
use crate::plugins::SoldierBody;

impl Character for CapsuleModel {
    fn state_at(position: Vec3) -> CapsuleState {
        CapsuleState::at(position)
    }

    fn body(config: &CapsuleConfig, class: PawnClass) -> impl Bundle {
        soldier_body(config, class)
    }

    fn set_class(state: &mut CapsuleState, class: PawnClass) {
        state.class = class;
    }

    fn has_class(config: &CapsuleConfig, class: PawnClass) -> bool {
        config.has_class(class)
    }

    fn apply_controls(input: &mut CapsuleInput, controls: &CapsuleInput) {
        *input = *controls;
    }

    fn build(app: &mut App, side: Side) {
        add_capsule::<Self>(app, side);
    }

    fn build_extended<X: MoveExtension>(app: &mut App, side: Side) {
        add_capsule::<Extended<Self, X>>(app, side);
    }
}

/// The game writes the ability's input, into the field `extension`.
impl<A: MoveAbility> Character for CapsuleWith<A> {
    fn state_at(position: Vec3) -> Self::State {
        ExtendedState::new(CapsuleState::at(position))
    }

    fn body(config: &CapsuleConfig, class: PawnClass) -> impl Bundle {
        soldier_body(config, class)
    }

    fn set_class(state: &mut Self::State, class: PawnClass) {
        state.body.class = class;
    }

    fn has_class(config: &CapsuleConfig, class: PawnClass) -> bool {
        config.has_class(class)
    }

    fn apply_controls(input: &mut Self::Input, controls: &CapsuleInput) {
        input.body = *controls;
    }

    fn is_idle(input: &Self::Input) -> bool {
        input.body == CapsuleInput::default()
    }

    fn build(app: &mut App, side: Side) {
        A::build(app);
        add_capsule::<Self>(app, side);
        share_cues::<A, Self>(app, ability_cue::<A>);
    }

    fn build_extended<X: MoveExtension>(app: &mut App, side: Side) {
        A::build(app);
        add_capsule::<Extended<Self, X>>(app, side);
        share_cues::<A, Extended<Self, X>>(app, |event| match event {
            ExtendedEvent::Body(event) => ability_cue::<A>(event),
            ExtendedEvent::Extension(_) => None,
        });
    }
}

fn add_capsule<M: MoveModel<State: HasCapsule, Event: HasMoveEvent>>(app: &mut App, side: Side) {
    app.add_plugins(PawnCollisionPlugin::<M>::default());
    movement_mode::add::<M>(app);
    if side == Side::Server {
        passenger::add_passenger::<M>(app);
    }
}

fn ability_cue<A: MoveAbility>(event: &ExtendedEvent<MoveEvent, A::Event>) -> Option<A::Cue> {
    match event {
        ExtendedEvent::Extension(event) => A::cue(event),
        ExtendedEvent::Body(_) => None,
    }
}

/// Shares the cues of an ability, unless it has none.
fn share_cues<A: MoveAbility, M: MoveModel>(app: &mut App, select: fn(&M::Event) -> Option<A::Cue>) {
    if TypeId::of::<A::Cue>() != TypeId::of::<()>() {
        app.share_pawn_events::<M, A::Cue>(select);
    }
}

/// Returns the hit boxes and limbs of a soldier. Those of a class are as much larger as its capsule is higher,
/// whatever its radius.
fn soldier_body(config: &CapsuleConfig, class: PawnClass) -> impl Bundle {
    let scale = config.class(class).half_height / config.half_height;
    let own_size = scale == 1.0 || !scale.is_finite();
    let boxes = if own_size { humanoid_hit_boxes() } else { scaled_humanoid_hit_boxes(scale) };
    let rig = if own_size { humanoid_rig() } else { humanoid_rig().scaled(scale) };
    (SoldierBody, boxes, rig)
}

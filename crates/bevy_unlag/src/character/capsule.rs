//! Capsule characters, with and without abilities.

use bevy::prelude::*;
use bevy_unlag_core::{Extended, ExtendedState, MoveExtension, MoveModel};
use bevy_unlag_movement::{
    CapsuleInput, CapsuleModel, CapsuleState, CapsuleWith, HasCapsule, MoveAbility, PawnCollisionPlugin,
};

use super::{Character, Side};
use crate::plugins::SoldierBody;

impl Character for CapsuleModel {
    fn state_at(position: Vec3) -> CapsuleState {
        CapsuleState::at(position)
    }

    fn body() -> impl Bundle {
        SoldierBody
    }

    fn apply_controls(input: &mut CapsuleInput, controls: &CapsuleInput) {
        *input = *controls;
    }

    fn build(app: &mut App, _: Side) {
        add_collision::<Self>(app);
    }

    fn build_extended<X: MoveExtension>(app: &mut App, _: Side) {
        add_collision::<Extended<Self, X>>(app);
    }
}

/// The game writes the ability's input, into the field `extension`.
impl<A: MoveAbility> Character for CapsuleWith<A> {
    fn state_at(position: Vec3) -> Self::State {
        ExtendedState::new(CapsuleState::at(position))
    }

    fn body() -> impl Bundle {
        SoldierBody
    }

    fn apply_controls(input: &mut Self::Input, controls: &CapsuleInput) {
        input.body = *controls;
    }

    fn build(app: &mut App, _: Side) {
        A::build(app);
        add_collision::<Self>(app);
    }

    fn build_extended<X: MoveExtension>(app: &mut App, _: Side) {
        A::build(app);
        add_collision::<Extended<Self, X>>(app);
    }
}

fn add_collision<M: MoveModel<State: HasCapsule>>(app: &mut App) {
    app.add_plugins(PawnCollisionPlugin::<M>::default());
}

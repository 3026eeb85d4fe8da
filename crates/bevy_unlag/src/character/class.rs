//! Classes of pawns, with their configuration and body; teams, and who controls a pawn.

use bevy::prelude::*;
use bevy_unlag_core::{NetRole, PawnClass, PawnModel, TickSystems};
use bevy_unlag_lightyear::{AddPawnState, ControllingPlayerPlugin, OwnPawnState};
use bevy_unlag_rewind::Team;

use super::Character;

/// Adds the classes of one character, and once the sending of classes, teams and controlling players.
pub(super) fn add_character<C: Character>(app: &mut App) {
    app.add_pawn_state::<PawnClass>(OwnPawnState::Follow).add_pawn_state::<Team>(OwnPawnState::Follow);
    bevy_unlag_core::require_plugin(app, ControllingPlayerPlugin);
    app.add_systems(FixedPreUpdate, apply_class::<C>.in_set(TickSystems));
}

/// Class that the body of a pawn is of.
#[derive(Component, Default)]
struct BodyClass(PawnClass);

type Pawn<C> = (
    Entity,
    &'static PawnClass,
    &'static PawnModel,
    &'static NetRole,
    Option<&'static BodyClass>,
    Option<&'static mut <C as bevy_unlag_core::MoveModel>::State>,
);

/// Applies a class that was set or has arrived: to the body, and with authority to the state.
fn apply_class<C: Character>(
    config: Option<Res<C::Config>>,
    mut pawns: Query<Pawn<C>, Changed<PawnClass>>,
    mut commands: Commands,
) {
    let Some(config) = config else { return };
    for (pawn, class, _, role, body, state) in pawns.iter_mut().filter(|(_, _, model, ..)| model.is::<C>()) {
        if let Some(mut state) = state.filter(|_| *role == NetRole::Authority) {
            C::set_class(&mut state, *class);
        }
        // What a pawn of class 0 was spawned with stays.
        if body.map_or(PawnClass::default(), |body| body.0) != *class {
            commands.entity(pawn).insert((C::body(&config, *class), BodyClass(*class)));
        }
    }
}

//! Markers of pawns on the server, for any character.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::PawnClass;
use bevy_unlag_lightyear::{NetworkedPawn, ReplicatedPawn};
use bevy_unlag_prediction::{HostPawn, ServerPawn};

use super::Character;

/// A player's pawn on the server. Place it with a [`Transform`], or spawn it with a
/// [`MoveModel::State`](bevy_unlag_core::MoveModel::State); add
/// [`player_pawn`](bevy_unlag_lightyear::player_pawn).
#[derive(Component)]
#[require(NetworkedPawn<C>, Transform)]
pub struct CharacterPawn<C: Character>(PhantomData<fn() -> C>);

/// A pawn that the server controls: an AI character, a target, an empty vehicle. Place it like a
/// [`CharacterPawn`]; write its [`MoveInput`](bevy_unlag_core::MoveInput), and its
/// [`WeaponControls`](bevy_unlag_weapons::WeaponControls) and [`Aim`](bevy_unlag_weapons::Aim) if it has weapons.
/// A player takes control of it by [`Possess`](bevy_unlag_lightyear::Possess).
#[derive(Component)]
#[require(ReplicatedPawn, ServerPawn<C>, Transform)]
pub struct NpcPawn<C: Character>(PhantomData<fn() -> C>);

/// The pawn that the host of a listen server controls. It is placed and equipped like a [`CharacterPawn`].
#[derive(Component)]
#[require(ReplicatedPawn, HostPawn<C>, Transform)]
pub struct HostCharacterPawn<C: Character>(PhantomData<fn() -> C>);

bevy_unlag_core::marker_impls!(
    CharacterPawn<C: Character>,
    NpcPawn<C: Character>,
    HostCharacterPawn<C: Character>,
);

/// Completes a pawn that was spawned without state, place or equipment.
pub(super) fn complete<C: Character>(
    added: On<Add, (CharacterPawn<C>, HostPawn<C>, NpcPawn<C>)>,
    pawns: Query<(Option<&Transform>, Option<&PawnClass>, Option<&C::State>)>,
    mut commands: Commands,
) {
    let Ok((place, class, state)) = pawns.get(added.entity) else { return };
    let place = place
        .copied()
        .unwrap_or_else(|| Transform::from_translation(state.map_or(Vec3::ZERO, |state| C::position(state))));
    let mut state = C::state_at(place.translation);
    C::set_class(&mut state, class.copied().unwrap_or_default());
    let mut pawn = commands.entity(added.entity);
    pawn.insert_if_new(place).insert_if_new(state).insert_if_new(C::equipment());
}

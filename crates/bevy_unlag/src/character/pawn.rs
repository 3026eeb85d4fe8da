//! Marker of a player's pawn on the server, for any character.

use core::{fmt, marker::PhantomData};

use bevy::prelude::*;
use bevy_unlag_lightyear::NetworkedPawn;
use bevy_unlag_prediction::HostPawn;

use super::Character;

/// A player's pawn on the server. Place it with a [`Transform`], or spawn it with a
/// [`MoveModel::State`](bevy_unlag_core::MoveModel::State); add
/// [`player_pawn`](bevy_unlag_lightyear::player_pawn).
#[derive(Component)]
#[require(NetworkedPawn<C>, Transform)]
pub struct CharacterPawn<C: Character>(PhantomData<fn() -> C>);

impl<C: Character> Default for CharacterPawn<C> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<C: Character> fmt::Debug for CharacterPawn<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CharacterPawn")
    }
}

/// Completes a pawn of a player or of the host that was spawned without state or equipment.
pub(super) fn complete<C: Character>(
    added: On<Add, (CharacterPawn<C>, HostPawn<C>)>,
    pawns: Query<&Transform>,
    mut commands: Commands,
) {
    if let Ok(place) = pawns.get(added.entity) {
        commands
            .entity(added.entity)
            .insert_if_new(C::state_at(place.translation))
            .insert_if_new(C::equipment());
    }
}

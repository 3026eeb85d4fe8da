//! Rate of a pawn's own time, on all machines.

use bevy::prelude::*;
use bevy_unlag_core::{PawnSystems, TickSystems, TimeDilation};
use bevy_unlag_lightyear::{AddPawnState, OwnPawnState};

use super::Character;

/// Adds the rates of one character. A pawn whose rate was never changed costs nothing.
pub(super) fn add_character<C: Character>(app: &mut App) {
    app.add_pawn_state::<TimeDilation>(OwnPawnState::Ignore)
        .add_systems(FixedLast, read_rates::<C>.in_set(TickSystems).in_set(PawnSystems::of::<C>()));
}

/// Reads the rates of pawns that this app simulates.
fn read_rates<C: Character>(
    mut pawns: Query<(Entity, &C::State, Option<&mut TimeDilation>), Changed<C::State>>,
    mut commands: Commands,
) {
    for (pawn, state, rate) in &mut pawns {
        let now = C::time_dilation(state);
        match rate {
            Some(mut rate) => drop(rate.set_if_neq(now)),
            None if now != TimeDilation::NORMAL => drop(commands.entity(pawn).insert(now)),
            None => {}
        }
    }
}

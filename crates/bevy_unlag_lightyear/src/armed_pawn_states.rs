//! Sending of the weapon that a pawn holds, of its health and of its score.

use bevy::prelude::*;
use bevy_unlag_weapons::{Health, HeldWeapon, PlayerScore};

use crate::pawn_state::{AddPawnState, OwnPawnState};

/// Sends [`HeldWeapon`], [`Health`] and [`PlayerScore`] from the authority to all other clients, where they change at
/// the tick at which the pawn is drawn. The owner predicts its weapon and ignores the server's values; its health and
/// score change on arrival.
///
/// Add it on both sides, after the suite's other plugins and in the same order as other registrations. A change of the
/// weapon takes seven or eight bytes, of the health 14 and of the score 10; a weapon switched back within one frame of
/// the server is not visible to others.
#[derive(Debug, Default)]
pub struct ArmedPawnStatesPlugin;

impl Plugin for ArmedPawnStatesPlugin {
    fn build(&self, app: &mut App) {
        app.add_pawn_state::<HeldWeapon>(OwnPawnState::Ignore)
            .add_pawn_state::<Health>(OwnPawnState::Follow)
            .add_pawn_state::<PlayerScore>(OwnPawnState::Follow);
    }
}

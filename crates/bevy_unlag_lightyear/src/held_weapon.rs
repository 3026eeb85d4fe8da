//! Sending of the weapon that a pawn holds.

use bevy::prelude::*;
use bevy_unlag_weapons::HeldWeapon;

use crate::pawn_state::{AddPawnState, OwnPawnState};

/// Sends [`HeldWeapon`] from the authority to all other clients, where it changes at the tick at which the pawn
/// is drawn. The owner predicts it and ignores the server's values.
///
/// Add it on both sides, after the suite's other plugins and in the same order as other registrations. A change
/// takes seven or eight bytes; a weapon switched back within one frame of the server is not visible to others.
#[derive(Debug, Default)]
pub struct HeldWeaponPlugin;

impl Plugin for HeldWeaponPlugin {
    fn build(&self, app: &mut App) {
        app.add_pawn_state::<HeldWeapon>(OwnPawnState::Ignore);
    }
}

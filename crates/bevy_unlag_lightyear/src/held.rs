//! What is in whose hands, for everybody else.

use bevy::{ecs::system::EntityCommands, prelude::*};
use bevy_replicon::shared::replication::deferred_entity::DeferredEntity;
use bevy_unlag_weapons::HeldWeapon;

use crate::smoothed::{OwnPawn, Stamped, replicate};

/// Shows everybody what is in whose hands: replicates [`HeldWeapon`] from where pawns are simulated to all other
/// screens, where it changes at the moment at which the pawn is drawn. Its owner predicts it and takes nothing from
/// the server.
///
/// Both sides add it, after the suite's other plugins and in the same order as other registrations. Changes leave at
/// the server plugin's `snapshot_interval`, six to eight bytes each: others do not see what is over before that.
#[derive(Debug, Default)]
pub struct HeldWeaponPlugin;

impl Plugin for HeldWeaponPlugin {
    fn build(&self, app: &mut App) {
        replicate::<HeldWeapon, Predicted>(app);
    }
}

/// It is written from predicted state already; what comes from the server is a round trip old.
struct Predicted;

impl OwnPawn<HeldWeapon> for Predicted {
    fn begin(_: &mut EntityCommands, _: Option<HeldWeapon>, _: Option<HeldWeapon>) {}

    fn update(_: &mut DeferredEntity, _: &Stamped<HeldWeapon>) {}
}

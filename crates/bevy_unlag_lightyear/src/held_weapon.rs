//! Replication of the weapon that a pawn holds.

use bevy::{ecs::system::EntityCommands, prelude::*};
use bevy_replicon::shared::replication::deferred_entity::DeferredEntity;
use bevy_unlag_weapons::HeldWeapon;

use crate::smoothed_component::{LocalValueHandler, TickedValue, replicate};

/// Replicates [`HeldWeapon`] from the authority to all other clients, where it changes at the tick at which
/// the pawn is drawn. The owner predicts it and ignores the server's values.
///
/// Add it on both sides, after the suite's other plugins and in the same order as other registrations.
/// Changes are sent at the server's snapshot interval, six to eight bytes each: a weapon switched
/// back within one interval is not visible to other clients.
#[derive(Debug, Default)]
pub struct HeldWeaponPlugin;

impl Plugin for HeldWeaponPlugin {
    fn build(&self, app: &mut App) {
        replicate::<HeldWeapon, IgnoreServerValue>(app);
    }
}

/// Ignores the server's values: the component is written from predicted state, and the server's value is a
/// round trip older.
struct IgnoreServerValue;

impl LocalValueHandler<HeldWeapon> for IgnoreServerValue {
    fn begin(_: &mut EntityCommands, _: Option<HeldWeapon>, _: Option<HeldWeapon>) {}

    fn update(_: &mut DeferredEntity, _: &TickedValue<HeldWeapon>) {}
}

//! Weapons that a pawn is equipped with at spawn.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedState, MoveModel, NetId, NetRole};

use crate::{
    arsenal::Arsenal, shot_validation::SpreadSecret, spread, weapon::WeaponId, weapon_extension::WeaponState,
};

/// Weapons of a pawn, the first one held; on the server. Whenever the component is inserted or changed, the
/// pawn gets these weapons with full ammunition: at its spawn and after a respawn.
#[derive(Component, Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[doc(alias = "DefaultInventory")]
pub struct Loadout(pub Vec<WeaponId>);

impl Default for Loadout {
    /// The first weapon of the [`Arsenal`].
    fn default() -> Self {
        Self(vec![WeaponId(0)])
    }
}

pub(crate) fn equip_loadouts<M: MoveModel>(
    arsenal: Res<Arsenal>,
    secret: Res<SpreadSecret>,
    mut given: Local<u32>,
    mut pawns: Query<
        (&Loadout, &NetRole, &NetId, &mut ExtendedState<M::State, WeaponState>),
        Changed<Loadout>,
    >,
) {
    for (loadout, role, id, mut state) in &mut pawns {
        if *role != NetRole::Authority {
            continue;
        }
        *given = given.wrapping_add(1);
        let before = state.extension;
        let seed = spread::pawn_seed(secret.0, *id, *given);
        // The shot count continues, so that shot numbers are never reused.
        state.extension = WeaponState {
            shots: before.shots,
            look: before.look,
            ..WeaponState::new(&arsenal, &loadout.0, seed)
        };
    }
}

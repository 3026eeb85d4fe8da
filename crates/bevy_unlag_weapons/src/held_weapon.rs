//! Visible weapon state of a pawn, for all clients.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedState, Interpolate, InterpolationSpan, MoveModel, Wire};

use crate::{weapon::WeaponId, weapon_extension::WeaponState};

/// Held weapon and weapon activity of a pawn, on every client: for weapon models, poses and sounds. Inserted
/// for every pawn with [`WeaponState`].
///
/// For locally simulated pawns, on the server and at the owner, it is written from [`WeaponState`] after the
/// ticks of every frame, in [`WeaponSystems::UpdateHeldWeapons`](crate::WeaponSystems::UpdateHeldWeapons):
/// the local player's input takes effect after the next tick, and delayed replication never reverts it. For
/// remote pawns it is received over the network and interpolated along with the drawn pose. It is for display
/// only: changing it has no effect on the simulation.
///
/// It takes 10 bits on the wire, 4 without a weapon. Every bit pattern is valid.
#[derive(Component, Wire, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[doc(alias = "m_hActiveWeapon")]
pub struct HeldWeapon {
    /// The held weapon; `None` if the slot is empty.
    pub weapon: Option<WeaponId>,
    /// Whether the pawn aims down sights.
    pub aiming: bool,
    /// Whether the weapon is reloading.
    pub reloading: bool,
    /// Whether the weapon is being charged.
    pub charging: bool,
}

impl From<&WeaponState> for HeldWeapon {
    fn from(weapons: &WeaponState) -> Self {
        Self {
            weapon: weapons.held_slot().weapon,
            aiming: weapons.aiming,
            reloading: weapons.is_reloading(),
            charging: weapons.charge > 0,
        }
    }
}

/// Not interpolated: the older value is kept until the moment of the newer one.
impl Interpolate for HeldWeapon {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

type ArmedState<M> = ExtendedState<<M as MoveModel>::State, WeaponState>;

pub(crate) fn update_held_weapons<M: MoveModel>(
    mut pawns: Query<(Entity, &ArmedState<M>, Option<&mut HeldWeapon>), Changed<ArmedState<M>>>,
    mut commands: Commands,
) {
    for (pawn, state, held) in &mut pawns {
        let now = HeldWeapon::from(&state.extension);
        match held {
            Some(mut held) => drop(held.set_if_neq(now)),
            None => drop(commands.entity(pawn).insert(now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter, WireError};

    use super::*;
    use crate::arsenal::Arsenal;

    #[test]
    fn every_bit_pattern_decodes_and_survives_a_round_trip() {
        for word in 0..=u16::MAX {
            let bytes = word.to_le_bytes();
            let held = HeldWeapon::read(&mut BitReader::new(&bytes)).expect("ten bits are enough");
            let mut w = BitWriter::default();
            held.write(&mut w);
            assert_eq!(w.len_bits(), if held.weapon.is_some() { 10 } else { 4 });
            assert_eq!(HeldWeapon::read(&mut BitReader::new(&w.finish())), Ok(held));
        }
        assert_eq!(HeldWeapon::read(&mut BitReader::new(&[1])), Err(WireError::Ended));
    }

    #[test]
    fn held_weapon_reflects_slot_aiming_reload_and_charge() {
        let weapons = WeaponState::new(&Arsenal::default(), &[WeaponId(0)], 1);
        let rests = HeldWeapon { weapon: Some(WeaponId(0)), ..default() };
        assert_eq!(HeldWeapon::from(&weapons), rests);
        let busy = WeaponState { aiming: true, reload: 1, charge: 9, slot: 3, ..weapons };
        let all = HeldWeapon { weapon: None, aiming: true, reloading: true, charging: true };
        assert_eq!(HeldWeapon::from(&busy), all);
    }
}

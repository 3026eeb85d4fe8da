//! What everybody sees of a pawn's weapons.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, ExtendedState, Interpolate, MoveModel, Span, Wire, WireError};

use crate::{ArmsState, WeaponId};

const WEAPON_BITS: u32 = 6;

/// What a pawn has in hand and what it does with it, on every screen: for models in hands, poses and sounds. Every
/// pawn with [`ArmsState`] gets one.
///
/// Where the pawn is simulated, on the server and at its owner, it is written from [`ArmsState`] after the ticks of
/// every frame, in [`WeaponSystems::Hold`](crate::WeaponSystems::Hold): the own player's button counts in the tick
/// after it, and nothing that comes late from the server changes it back. Everybody else has it from the network,
/// in step with how the pawn is drawn. It is for looking at: to change it is no use.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeldWeapon {
    /// What is in hand; `None` for nothing.
    pub weapon: Option<WeaponId>,
    /// Whether the pawn takes aim.
    pub aiming: bool,
    /// Whether the weapon is being loaded.
    pub reloading: bool,
    /// Whether it is being charged.
    pub charging: bool,
}

impl From<&ArmsState> for HeldWeapon {
    fn from(arms: &ArmsState) -> Self {
        Self {
            weapon: arms.in_hand().weapon,
            aiming: arms.aiming,
            reloading: arms.is_reloading(),
            charging: arms.charge > 0,
        }
    }
}

/// Ten bits, four with nothing in hand. All bits mean something.
impl Wire for HeldWeapon {
    fn write(&self, w: &mut BitWriter) {
        w.bool(self.weapon.is_some());
        if let Some(WeaponId(weapon)) = self.weapon {
            w.bits(u32::from(weapon), WEAPON_BITS);
        }
        for does in [self.aiming, self.reloading, self.charging] {
            w.bool(does);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            weapon: if r.bool()? { Some(WeaponId(r.bits(WEAPON_BITS)? as u8)) } else { None },
            aiming: r.bool()?,
            reloading: r.bool()?,
            charging: r.bool()?,
        })
    }
}

/// There is nothing in between: the older one until the newer one's moment.
impl Interpolate for HeldWeapon {
    fn interpolate(from: &Self, _: &Self, _: &Span) -> Self {
        *from
    }
}

type Armed<M> = ExtendedState<<M as MoveModel>::State, ArmsState>;

pub(crate) fn hold<M: MoveModel>(
    mut pawns: Query<(Entity, &Armed<M>, Option<&mut HeldWeapon>), Changed<Armed<M>>>,
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
    use super::*;
    use crate::Arsenal;

    #[test]
    fn whatever_the_bytes_it_is_somebody_who_holds_something() {
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
    fn it_says_what_hands_do() {
        let arms = ArmsState::new(&Arsenal::default(), &[WeaponId(0)], 1);
        let rests = HeldWeapon { weapon: Some(WeaponId(0)), ..default() };
        assert_eq!(HeldWeapon::from(&arms), rests);
        let busy = ArmsState { aiming: true, reload: 1, charge: 9, slot: 3, ..arms };
        let all = HeldWeapon { weapon: None, aiming: true, reloading: true, charging: true };
        assert_eq!(HeldWeapon::from(&busy), all);
    }
}

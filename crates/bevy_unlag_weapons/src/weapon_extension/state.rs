//! Predicted weapon state of a pawn.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, ExtendedState, TimeDilation, Wire, WireError};

use crate::{
    aim::Aim,
    arsenal::Arsenal,
    weapon::{FireMode, Weapon, WeaponId, ticks},
};

/// Number of weapon slots of a pawn.
pub const SLOTS: usize = 6;
/// Maximum number of rounds in a magazine, and in reserve.
pub const MAX_ROUNDS: u16 = 1_023;
const ROUND_BITS: u32 = 10;

/// A weapon slot of a pawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct WeaponSlot {
    /// The weapon; `None` if the slot is empty.
    pub weapon: Option<WeaponId>,
    /// Rounds in the magazine.
    pub magazine: u16,
    /// Rounds in reserve.
    pub reserve: u16,
}

/// Fastest recent turn of a view within one tick; the value decays by one full turn per second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct FastestTurn {
    /// Angle, in 1/65,536 of a turn: the larger of yaw and pitch.
    pub by: u16,
    /// Ticks since that turn.
    pub ago: u8,
}

/// Predicted weapon state of a pawn. A server may change it between two moves, for example to add picked up
/// ammunition: the owner receives the change with the next correction. Shots fired since then need no special
/// handling, because the owner replays those moves.
///
/// All ticks in it are ticks at the present rate of the pawn's own time: see
/// [`MoveModel::time_dilation`](bevy_unlag_core::MoveModel::time_dilation).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct WeaponState {
    /// Weapon slots.
    pub slots: [WeaponSlot; SLOTS],
    /// Index of the held slot.
    pub slot: u8,
    /// Ticks until the next shot may be fired.
    pub cooldown: u16,
    /// Ticks until the reload, or its next round, is complete; 0 when not reloading.
    pub reload: u16,
    /// Ticks for which the trigger has been down, for weapons with charging.
    pub charge: u16,
    /// Remaining rounds of the current burst.
    pub burst: u8,
    /// Rounds of continuous fire so far: the index into the [`Recoil`](crate::Recoil) pattern.
    pub recoil_index: u8,
    /// Ticks since the last shot, saturating at 255.
    pub since: u8,
    /// Spread added by recent shots, in 1/65,536 of a turn.
    pub bloom: u16,
    /// Accumulated recoil, to the left and up, in 1/65,536 of a turn.
    pub recoil: [i16; 2],
    /// Look direction of the last move; `None` before the first. A game that turns a view itself, for example
    /// in a portal, sets it to `None`, so that the turn is not attributed to the player.
    pub look: Option<Aim>,
    /// Fastest recent turn of the view.
    pub fastest_turn: FastestTurn,
    /// Whether the trigger was down in the last tick.
    pub held: bool,
    /// Whether the player aims down sights.
    pub aiming: bool,
    /// Number of shots fired so far.
    pub shots: u32,
    /// Seed of the spread of all shots. The server chooses it and sends it to the owner only.
    pub seed: u32,
}

impl WeaponState {
    /// Creates the state of a pawn with full magazines of these weapons, the first one held. `seed` is the
    /// spread seed and should be unpredictable. Weapons beyond [`SLOTS`], or not in the arsenal, are skipped.
    #[must_use]
    pub fn new(arsenal: &Arsenal, weapons: &[WeaponId], seed: u32) -> Self {
        let mut state = Self { seed, since: u8::MAX, ..Self::default() };
        for weapon in weapons {
            state.add_weapon(arsenal, *weapon);
        }
        state
    }

    /// Adds a weapon with full ammunition in a free slot, or refills it if the pawn already carries it.
    /// Returns the slot; `None` if none is free or the weapon is not in the arsenal.
    pub fn add_weapon(&mut self, arsenal: &Arsenal, weapon: WeaponId) -> Option<usize> {
        let ammo = arsenal.get(weapon)?.ammo;
        let has = |slot: &WeaponSlot| slot.weapon == Some(weapon);
        let slot = self.slots.iter().position(has);
        let slot = slot.or_else(|| self.slots.iter().position(|slot| slot.weapon.is_none()))?;
        self.slots[slot] =
            WeaponSlot { weapon: Some(weapon), magazine: ammo.magazine, reserve: ammo.reserve };
        Some(slot)
    }

    /// Adds rounds to the reserve of a weapon. Returns the number of rounds that fitted.
    pub fn add_ammo(&mut self, arsenal: &Arsenal, weapon: WeaponId, rounds: u16) -> u16 {
        let Some(most) = arsenal.get(weapon).map(|weapon| weapon.ammo.reserve) else { return 0 };
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.weapon == Some(weapon)) else { return 0 };
        let added = rounds.min(most.saturating_sub(slot.reserve));
        slot.reserve += added;
        added
    }

    /// Returns the held slot.
    #[must_use]
    pub fn held_slot(&self) -> WeaponSlot {
        self.slots.get(usize::from(self.slot)).copied().unwrap_or_default()
    }

    /// Returns the held weapon and its definition.
    #[must_use]
    pub fn weapon<'a>(&self, arsenal: &'a Arsenal) -> Option<(WeaponId, &'a Weapon)> {
        let weapon = self.held_slot().weapon?;
        Some((weapon, arsenal.get(weapon)?))
    }

    /// Whether the held weapon is reloading.
    #[must_use]
    pub fn is_reloading(&self) -> bool {
        self.reload > 0
    }

    /// Returns the recoil that the camera should add, to the left and up, in radians.
    #[must_use]
    pub fn recoil_angles(&self) -> Vec2 {
        let unit = core::f32::consts::TAU / 65_536.0;
        Vec2::new(f32::from(self.recoil[0]), f32::from(self.recoil[1])) * unit
    }

    /// Returns an aim with the recoil added.
    #[must_use]
    pub fn with_recoil(&self, aim: Aim) -> Aim {
        let limit = 16_366;
        Aim {
            yaw: aim.yaw.wrapping_add_signed(self.recoil[0]),
            pitch: aim.pitch.saturating_add(self.recoil[1]).clamp(-limit, limit),
        }
    }

    /// Whether the next tick's input should request a shot: the trigger is `down` in it or was `pulled` since
    /// the last shot, and the weapon is ready. `dt` is the tick in seconds of the pawn's own time.
    #[must_use]
    pub fn wants_shot(&self, arsenal: &Arsenal, down: bool, pulled: bool, dt: f32) -> bool {
        let Some((_, weapon)) = self.weapon(arsenal) else { return false };
        let asked = match weapon.mode {
            FireMode::Semi => pulled,
            FireMode::Auto => down || pulled,
            FireMode::Burst { .. } => pulled || self.in_burst(weapon, dt),
            FireMode::Charge { least, .. } => !down && self.charge > 0 && self.charge >= ticks(least, dt),
        };
        asked && self.check_ready(weapon).is_ok()
    }

    /// Whether a shot requested in the next tick would be fired.
    #[must_use]
    pub fn is_ready(&self, arsenal: &Arsenal) -> bool {
        self.weapon(arsenal).is_some_and(|(_, weapon)| self.check_ready(weapon).is_ok())
    }

    /// Whether the magazine of the held weapon is empty, or no weapon is held.
    #[must_use]
    pub fn is_dry(&self, arsenal: &Arsenal) -> bool {
        self.weapon(arsenal)
            .is_none_or(|(_, weapon)| weapon.ammo.magazine > 0 && self.held_slot().magazine == 0)
    }

    /// Whether further rounds of the current burst are due without a new pull.
    pub(super) fn in_burst(&self, weapon: &Weapon, dt: f32) -> bool {
        let FireMode::Burst { pace, .. } = weapon.mode else { return false };
        // An interrupted burst is over.
        self.burst > 0 && u16::from(self.since) <= ticks(pace, dt).saturating_add(2)
    }

    /// Returns the state after a change of the rate of the pawn's own time, with as much of that time left on all
    /// timers.
    pub(super) fn rescaled(self, from: TimeDilation, to: TimeDilation) -> Self {
        let ticks = |ticks: u16| to.rescaled_ticks(ticks, from);
        Self {
            cooldown: ticks(self.cooldown),
            reload: ticks(self.reload),
            charge: ticks(self.charge),
            // A weapon at rest stays so.
            since: if self.since == u8::MAX { self.since } else { ticks(self.since.into()).min(254) as u8 },
            ..self
        }
    }

    /// Returns the digest that client and server compare in every move.
    pub(super) fn kind(&self) -> u32 {
        let mut hash = 0x811c_9dc5_u32;
        let mut take = |value: u32| hash = (hash ^ value).wrapping_mul(0x0100_0193).rotate_left(5);
        take(self.shots);
        take(self.seed);
        take(u32::from(self.bloom) << 16 | u32::from(self.recoil_index) << 8 | u32::from(self.since));
        take(u32::from(self.recoil[0].cast_unsigned()) << 16 | u32::from(self.recoil[1].cast_unsigned()));
        take(u32::from(self.cooldown) << 16 | u32::from(self.reload));
        take(u32::from(self.charge) << 16 | u32::from(self.slot) << 8 | u32::from(self.burst));
        for slot in &self.slots {
            let weapon = slot.weapon.map_or(u32::MAX, |weapon| u32::from(weapon.0));
            take(weapon << 20 ^ u32::from(slot.magazine) << 10 ^ u32::from(slot.reserve));
        }
        hash
    }
}

/// For corrections: empty slots and idle values take one bit.
impl Wire for WeaponState {
    fn write(&self, w: &mut BitWriter) {
        for slot in &self.slots {
            w.bool(slot.weapon.is_some());
            if let Some(weapon) = slot.weapon {
                weapon.write(w);
                w.bits(u32::from(slot.magazine.min(MAX_ROUNDS)), ROUND_BITS);
                w.bits(u32::from(slot.reserve.min(MAX_ROUNDS)), ROUND_BITS);
            }
        }
        w.bits(u32::from(self.slot), 3);
        for count in [self.cooldown, self.reload, self.charge, self.bloom, self.fastest_turn.by] {
            w.bool(count > 0);
            if count > 0 {
                w.bits(u32::from(count), 16);
            }
        }
        if self.fastest_turn.by > 0 {
            w.bits(u32::from(self.fastest_turn.ago), 8);
        }
        let rests =
            self.burst == 0 && self.recoil_index == 0 && self.since == u8::MAX && self.recoil == [0; 2];
        w.bool(rests);
        if !rests {
            for count in [self.burst, self.recoil_index, self.since] {
                w.bits(u32::from(count), 8);
            }
            self.recoil.iter().for_each(|recoil| w.signed(i32::from(*recoil), 16));
        }
        self.look.write(w);
        w.bool(self.held);
        w.bool(self.aiming);
        w.bits(self.shots, 32);
        w.bits(self.seed, 32);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut state = Self { since: u8::MAX, ..Self::default() };
        for slot in &mut state.slots {
            if r.bool()? {
                *slot = WeaponSlot {
                    weapon: Some(WeaponId::read(r)?),
                    magazine: r.bits(ROUND_BITS)? as u16,
                    reserve: r.bits(ROUND_BITS)? as u16,
                };
            }
        }
        state.slot = r.bits(3)? as u8;
        if usize::from(state.slot) >= SLOTS {
            return Err(WireError::Invalid);
        }
        let Self { cooldown, reload, charge, bloom, fastest_turn, .. } = &mut state;
        for count in [cooldown, reload, charge, bloom, &mut fastest_turn.by] {
            if r.bool()? {
                *count = r.bits(16)? as u16;
            }
        }
        if state.fastest_turn.by > 0 {
            state.fastest_turn.ago = r.bits(8)? as u8;
        }
        if !r.bool()? {
            for count in [&mut state.burst, &mut state.recoil_index, &mut state.since] {
                *count = r.bits(8)? as u8;
            }
            for recoil in &mut state.recoil {
                *recoil = r.signed(16)? as i16;
            }
        }
        state.look = Option::read(r)?;
        state.held = r.bool()?;
        state.aiming = r.bool()?;
        state.shots = r.bits(32)?;
        state.seed = r.bits(32)?;
        Ok(state)
    }
}

/// State of a model with weapons, whatever its body is.
pub trait HasWeapons {
    /// Returns the state of the weapons.
    fn weapons(&self) -> &WeaponState;

    /// Returns the state of the weapons, to be changed.
    fn weapons_mut(&mut self) -> &mut WeaponState;
}

impl<B: Send + Sync + 'static> HasWeapons for ExtendedState<B, WeaponState> {
    fn weapons(&self) -> &WeaponState {
        &self.extension
    }

    fn weapons_mut(&mut self) -> &mut WeaponState {
        &mut self.extension
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_busy_states_survive_the_wire_within_their_bit_budget() {
        let arsenal = Arsenal::default();
        let rests = WeaponState::new(&arsenal, &[WeaponId(0), WeaponId(7)], 99);
        assert_eq!(rests.slots[1], WeaponSlot::default(), "there is no such weapon");
        let busy = WeaponState {
            cooldown: 3,
            charge: 900,
            recoil: [-200, 300],
            since: 4,
            fastest_turn: FastestTurn { by: 9_000, ago: 4 },
            held: true,
            slot: 5,
            shots: 77,
            slots: [WeaponSlot { weapon: Some(WeaponId(63)), magazine: 1_023, reserve: 1 }; SLOTS],
            ..rests
        };
        let mut states = vec![(rests, 130), (busy, 400)];
        // One value alone is enough for a weapon that does not rest.
        let burst = WeaponState { burst: 1, ..rests };
        let pattern = WeaponState { recoil_index: 1, ..rests };
        let fired = WeaponState { since: 7, ..rests };
        let kicked = WeaponState { recoil: [0, 1], ..rests };
        states.extend([burst, pattern, fired, kicked].map(|state| (state, 190)));
        for (state, most) in states {
            let mut w = BitWriter::default();
            state.write(&mut w);
            assert!(w.len_bits() <= most, "{}", w.len_bits());
            assert_eq!(WeaponState::read(&mut BitReader::new(&w.finish())), Ok(state));
        }
    }

    #[test]
    fn digest_differs_for_every_field_that_matters() {
        let state = WeaponState::new(&Arsenal::default(), &[WeaponId(0)], 1);
        let mut slots = state.slots;
        slots[0].reserve += 1;
        for other in [
            WeaponState { shots: 1, ..state },
            WeaponState { cooldown: 1, ..state },
            WeaponState { reload: 1, ..state },
            WeaponState { slot: 1, ..state },
            WeaponState { slots, ..state },
            WeaponState { seed: 2, ..state },
            WeaponState { bloom: 1, ..state },
            WeaponState { recoil: [0, -1], ..state },
        ] {
            assert_ne!(other.kind(), state.kind(), "{other:?}");
        }
    }
}

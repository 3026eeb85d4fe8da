//! Weapon input of one tick.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};

use super::SLOTS;
use crate::fire_input::FireInput;

/// Weapon input of one tick, as sent to the server.
#[derive(Clone, Copy, Debug, Default, Reflect)]
pub struct WeaponInput {
    /// Shot with the view on the screen. The client requests it when a shot is due; see
    /// [`WeaponState::wants_shot`](super::WeaponState::wants_shot).
    pub fire: Option<FireInput>,
    /// Whether the trigger is down: drives charging, and detects a pull on an empty magazine.
    pub trigger: bool,
    /// Requests a reload.
    pub reload: bool,
    /// Whether the player aims down sights.
    pub aiming: bool,
    /// Slot to equip.
    pub equip: Option<u8>,
    /// Whether the server substituted this input because the client's move was missing. It is not sent and
    /// ignored in comparisons.
    pub substituted: bool,
}

impl PartialEq for WeaponInput {
    fn eq(&self, other: &Self) -> bool {
        (self.fire, self.buttons()) == (other.fire, other.buttons())
    }
}

impl Eq for WeaponInput {}

const SLOT_BITS: u32 = 3;
const _: () = assert!(SLOTS <= 1 << SLOT_BITS);

impl WeaponInput {
    fn buttons(&self) -> (bool, bool, bool, Option<u8>) {
        (self.trigger, self.reload, self.aiming, self.equip)
    }

    fn write_buttons(&self, w: &mut BitWriter) {
        w.bool(self.trigger);
        w.bool(self.aiming);
        w.bool(self.reload || self.equip.is_some());
        if self.reload || self.equip.is_some() {
            w.bool(self.reload);
            w.bool(self.equip.is_some());
            if let Some(slot) = self.equip {
                w.bits(u32::from(slot), SLOT_BITS);
            }
        }
    }

    fn read_buttons(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut input = Self { trigger: r.bool()?, aiming: r.bool()?, ..Self::default() };
        if r.bool()? {
            input.reload = r.bool()?;
            if r.bool()? {
                let slot = r.bits(SLOT_BITS)? as u8;
                if usize::from(slot) >= SLOTS {
                    return Err(WireError::Invalid);
                }
                input.equip = Some(slot);
            }
        }
        Ok(input)
    }
}

/// One bit for an idle input, and for a delta against an input with the same buttons and without a shot.
impl Wire for WeaponInput {
    fn write(&self, w: &mut BitWriter) {
        self.write_delta(&Self::default(), w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Self::read_delta(&Self::default(), r)
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        let same = self.buttons() == base.buttons();
        w.bool(same && self.fire.is_none());
        if same && self.fire.is_none() {
            return;
        }
        w.bool(same);
        if !same {
            self.write_buttons(w);
        }
        self.fire.write(w);
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let still = Self { fire: None, substituted: false, ..*base };
        if r.bool()? {
            return Ok(still);
        }
        let input = if r.bool()? { still } else { Self::read_buttons(r)? };
        Ok(Self { fire: Option::read(r)?, ..input })
    }

    /// All parts are quantised where they are set.
    fn quantised(self) -> Self {
        Self { substituted: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_survive_the_wire_and_unchanged_buttons_take_one_bit() {
        let base = WeaponInput { trigger: true, ..WeaponInput::default() };
        for (input, bits) in [
            (base, 1),
            (WeaponInput { trigger: false, ..base }, 6),
            (WeaponInput { reload: true, aiming: true, ..base }, 8),
            (WeaponInput { equip: Some(5), ..base }, 11),
            (WeaponInput { fire: Some(FireInput::default()), ..base }, 36),
        ] {
            let mut w = BitWriter::default();
            input.write_delta(&base, &mut w);
            assert_eq!(w.len_bits(), bits, "{input:?}");
            let bytes = w.finish();
            assert_eq!(WeaponInput::read_delta(&base, &mut BitReader::new(&bytes)), Ok(input));
            let mut w = BitWriter::default();
            input.write(&mut w);
            let bytes = w.finish();
            assert_eq!(WeaponInput::read(&mut BitReader::new(&bytes)), Ok(input));
        }
    }
}

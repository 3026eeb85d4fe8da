//! Assertions about values on the wire.

use core::fmt::Debug;

use bevy_unlag_core::{Wire, check_wire, check_wire_value};

const SEED: u64 = 1;
const ROUNDS: u32 = 2_000;

/// Asserts the contract of [`Wire`] for a type of a game, with random bytes that are the same in
/// every run: see [`check_wire`]. It needs no example values.
///
/// ```
/// use bevy_unlag::core::Wire;
/// use bevy_unlag_testkit::assert_wire;
///
/// #[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
/// struct PilotInput {
///     #[wire(range = -1.0..=1.0, bits = 8)]
///     roll: f32,
///     fire: bool,
/// }
///
/// assert_wire::<PilotInput>();
/// ```
///
/// # Panics
/// Panics if a property is violated.
#[track_caller]
pub fn assert_wire<T: Wire + PartialEq + Debug>() {
    if let Err(violation) = check_wire::<T>(SEED, ROUNDS) {
        panic!("{violation}");
    }
}

/// Asserts that a reader gets [`value.quantised()`](Wire::quantised), and the contract of
/// [`Wire`] for altered forms of the value: see [`check_wire_value`].
///
/// # Panics
/// Panics if a property is violated.
#[track_caller]
pub fn assert_wire_value<T: Wire + PartialEq + Debug>(value: T) {
    if let Err(violation) = check_wire_value(value) {
        panic!("{violation}");
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, ViewTime, WireError};

    use super::*;

    #[test]
    fn identities_and_times_keep_the_contract_of_wire() {
        assert_wire::<NetId>();
        assert_wire::<Tick>();
        assert_wire::<ViewTime>();
        assert_wire_value(Some(NetId(7)));
    }

    #[test]
    #[should_panic(expected = "not finite")]
    fn unchecked_float_fails() {
        #[derive(PartialEq, Debug)]
        struct Unchecked(f32);

        impl Wire for Unchecked {
            fn write(&self, w: &mut BitWriter) {
                w.f32(self.0);
            }

            fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
                r.bits(32).map(f32::from_bits).map(Self)
            }
        }

        assert_wire::<Unchecked>();
    }
}

//! Input of a kart for one tick, and its encoding.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};

use crate::input::{quantised_axis, read_axes, write_axes};

/// Driver input of one tick. It is quantised, so that the simulated input equals the transmitted one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
pub struct KartInput {
    /// Throttle, -127 to 127; negative drives backwards.
    pub throttle: i8,
    /// Steering, -127 to 127; positive is right.
    pub steering: i8,
}

/// Difference of axes, of 127, up to which they count as equal.
const SAME_WISH: i16 = 2;

impl KartInput {
    /// Quantises axes of ± 1: forwards and right are positive. Each is clamped; a NaN becomes 0.
    #[must_use]
    pub fn new(throttle: f32, steering: f32) -> Self {
        Self { throttle: quantised_axis(throttle), steering: quantised_axis(steering) }
    }

    /// Returns the input with values that no device can produce clamped.
    pub(super) fn clamped(self) -> Self {
        Self { throttle: self.throttle.max(-127), steering: self.steering.max(-127) }
    }

    /// Returns throttle and steering, each within ± 1.
    #[must_use]
    pub fn axes(&self) -> (f32, f32) {
        let input = self.clamped();
        (f32::from(input.throttle) / 127.0, f32::from(input.steering) / 127.0)
    }

    /// Returns the input that replaces missing input after this one: the steering stays, and with `axes`
    /// the throttle stays as well.
    pub(super) fn missing_input(self, axes: bool) -> Self {
        Self { throttle: if axes { self.throttle } else { 0 }, ..self }
    }

    /// Returns whether the inputs are similar enough to combine their moves. Straight and turned wheels
    /// never combine, nor do a closed and an open throttle.
    pub(super) fn can_combine_with(&self, newer: &Self) -> bool {
        let alike = |a: i8, b: i8| (i16::from(a) - i16::from(b)).abs() <= SAME_WISH && (a == 0) == (b == 0);
        alike(self.throttle, newer.throttle) && alike(self.steering, newer.steering)
    }

    fn pair(self) -> [i8; 2] {
        let input = self.clamped();
        [input.throttle, input.steering]
    }
}

/// Without a predecessor an input takes 5 bits with keys and 17 with an analogue stick; a delta to an
/// equal input takes one bit.
impl Wire for KartInput {
    fn write(&self, w: &mut BitWriter) {
        write_axes(self.pair(), w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let [throttle, steering] = read_axes(r)?;
        Ok(Self { throttle, steering }.clamped())
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        let same = self.pair() == base.pair();
        w.bool(same);
        if !same {
            self.write(w);
        }
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        if r.bool()? { Ok(base.clamped()) } else { Self::read(r) }
    }

    fn quantised(self) -> Self {
        self.clamped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_round_trips_every_input_and_equal_inputs_take_one_bit() {
        let all = [(127, 0), (-127, 127), (0, 0), (3, -90), (-128, 1)]
            .map(|(t, s)| KartInput { throttle: t, steering: s });
        for input in all {
            for base in all {
                let mut w = BitWriter::default();
                input.write_delta(&base, &mut w);
                let keys = input.pair().iter().all(|axis| matches!(axis, -127 | 0 | 127));
                let bits = if input == base { 1 } else { 1 + if keys { 5 } else { 17 } };
                assert_eq!(w.len_bits(), bits, "{input:?} beside {base:?}");
                let read = KartInput::read_delta(&base, &mut BitReader::new(&w.finish()));
                assert_eq!(read, Ok(input.clamped()));
            }
        }
    }

    #[test]
    fn inputs_read_from_any_bits_are_in_range() {
        for bytes in (0..=u16::MAX).map(|seed| [seed as u8, (seed >> 8) as u8, 0x80]) {
            if let Ok(input) = KartInput::read(&mut BitReader::new(&bytes)) {
                assert!(input.throttle >= -127 && input.steering >= -127);
            }
        }
        assert_eq!(KartInput::read(&mut BitReader::new(&[])), Err(WireError::Ended));
        assert_eq!(KartInput::new(f32::NAN, -9.0), KartInput { throttle: 0, steering: -127 });
    }

    #[test]
    fn missing_input_releases_the_throttle_and_similar_inputs_combine() {
        let full = KartInput::new(1.0, -0.5);
        assert_eq!(full.missing_input(true), full);
        assert_eq!(full.missing_input(false), KartInput { throttle: 0, ..full });
        assert!(full.can_combine_with(&KartInput { throttle: 126, ..full }));
        assert!(!full.can_combine_with(&KartInput { throttle: 120, ..full }));
        assert!(!KartInput::default().can_combine_with(&KartInput { steering: 1, throttle: 0 }));
    }
}

//! Rate at which a pawn's own time passes.

use bevy::prelude::*;

use crate::{
    interpolate::{Interpolate, InterpolationSpan},
    wire::{BitReader, BitWriter, Wire, WireError},
};

/// Rate of a pawn's own time: 1 by default, from 0.1 to 4 in steps of 0.02. A pawn at 0.5 walks, falls, reloads and
/// fires half as fast as the others. Unreal's `CustomTimeDilation`.
///
/// As a component it is on every pawn whose rate the server has ever changed, on all machines and at the moment at
/// which the pawn is drawn: for animations and effects. It is for display only; the rate itself is a part of the
/// predicted state, see [`MoveModel::time_dilation`](crate::MoveModel::time_dilation).
#[doc(alias = "CustomTimeDilation")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct TimeDilation {
    /// Rate in steps of [`STEP`](Self::STEP).
    steps: u8,
}

/// Steps in a rate of 1.
const STEPS_PER_UNIT: f32 = 50.0;
/// Steps of the lowest and of the highest rate.
const RANGE: core::ops::RangeInclusive<u8> = 5..=200;

impl Default for TimeDilation {
    fn default() -> Self {
        Self::NORMAL
    }
}

impl TimeDilation {
    /// The world's own time.
    pub const NORMAL: Self = Self { steps: STEPS_PER_UNIT as u8 };
    /// Distance between two rates.
    pub const STEP: f32 = 1.0 / STEPS_PER_UNIT;

    /// Returns the nearest rate to `factor`, at least 0.1 and at most 4; 1 for NaN.
    #[must_use]
    pub fn new(factor: f32) -> Self {
        if factor.is_nan() {
            return Self::NORMAL;
        }
        let (low, high) = (f32::from(*RANGE.start()), f32::from(*RANGE.end()));
        Self { steps: (factor * STEPS_PER_UNIT).round().clamp(low, high) as u8 }
    }

    /// Returns the seconds of the pawn's own time in a second of the world's.
    #[must_use]
    pub fn factor(self) -> f32 {
        f32::from(self.steps) / STEPS_PER_UNIT
    }

    /// Returns a number of ticks that were left at the rate `from` as one at this rate, at least 1 unless it is 0.
    #[must_use]
    pub fn rescaled_ticks(self, ticks: u16, from: Self) -> u16 {
        if ticks == 0 || self == from {
            return ticks;
        }
        let (was, is) = (u32::from(from.steps), u32::from(self.steps));
        let rescaled = (u32::from(ticks) * was + is / 2) / is;
        rescaled.clamp(1, u32::from(u16::MAX)) as u16
    }

    /// Returns a number that is 0 only for the world's own time, for [`MoveModel::kind`](crate::MoveModel::kind).
    #[must_use]
    pub fn kind(self) -> u32 {
        u32::from(self.steps ^ Self::NORMAL.steps)
    }
}

/// One byte.
impl Wire for TimeDilation {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.steps), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let steps = r.bits(8)? as u8;
        if RANGE.contains(&steps) { Ok(Self { steps }) } else { Err(WireError::Invalid) }
    }
}

/// Not interpolated: the older rate holds until the moment of the newer one.
impl Interpolate for TimeDilation {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_is_rounded_and_clamped_and_nan_is_normal() {
        for (factor, expected) in [
            (1.0, 1.0),
            (0.5, 0.5),
            (0.251, 0.26),
            (3.0, 3.0),
            (0.0, 0.1),
            (-1.0, 0.1),
            (99.0, 4.0),
            (f32::INFINITY, 4.0),
            (f32::NAN, 1.0),
        ] {
            let found = TimeDilation::new(factor).factor();
            assert!((found - expected).abs() < 1e-6, "{factor}: {found}");
        }
        assert_eq!(TimeDilation::default().factor().to_bits(), 1.0f32.to_bits());
        assert_eq!(TimeDilation::new(1.0), TimeDilation::NORMAL);
    }

    #[test]
    fn every_rate_survives_the_wire_and_other_bytes_are_refused() {
        for byte in 0..=u8::MAX {
            match TimeDilation::read(&mut BitReader::new(&[byte])) {
                Ok(rate) => {
                    assert!((0.1..=4.0).contains(&rate.factor()), "{rate:?}");
                    assert_eq!(TimeDilation::new(rate.factor()), rate);
                    let mut w = BitWriter::default();
                    rate.write(&mut w);
                    assert_eq!(w.finish(), [byte]);
                }
                Err(error) => {
                    assert_eq!(error, WireError::Invalid);
                    assert!(!RANGE.contains(&byte));
                }
            }
        }
    }

    #[test]
    fn ticks_left_are_as_many_as_the_same_own_time_takes_at_the_new_rate() {
        let [normal, slow, fast] = [1.0, 0.1, 4.0].map(TimeDilation::new);
        assert_eq!(slow.rescaled_ticks(7, normal), 70);
        assert_eq!(fast.rescaled_ticks(70, slow), 2);
        assert_eq!(fast.rescaled_ticks(1, normal), 1, "a running timer still has to end");
        assert_eq!(slow.rescaled_ticks(0, normal), 0);
        assert_eq!(slow.rescaled_ticks(60_000, fast), u16::MAX);
        assert_eq!(normal.rescaled_ticks(12_345, normal), 12_345);
    }
}

//! Input of a capsule pawn for one tick, and its encoding.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError, look_direction, sin_cos_of_units};

/// Largest pitch, up or down, in 1/65,536 of a turn: 89.9°.
pub const PITCH_LIMIT: i16 = 16_366;

/// Player input of one tick. It is quantised, so that the simulated input equals the transmitted one.
#[doc(alias = "CUserCmd")]
#[doc(alias = "usercmd_t")]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
pub struct CapsuleInput {
    /// Forward axis, -127 to 127.
    pub forward: i8,
    /// Right axis, -127 to 127.
    pub right: i8,
    /// Heading about +Y in 1/65,536 of a turn; 0 looks along -Z.
    pub yaw: u16,
    /// Pitch in 1/65,536 of a turn, within ± [`PITCH_LIMIT`]; up is positive.
    pub pitch: i16,
    /// Whether the jump button is down. Moves up when swimming and flying.
    pub jump: bool,
    /// Whether the crouch button is down. Moves down when swimming and flying.
    pub crouch: bool,
    /// Whether the sprint button is down.
    pub sprint: bool,
    /// Whether the button for walking slowly is down.
    pub walk: bool,
}

impl CapsuleInput {
    /// Sets the axes: `x` is right, `y` is forwards. Each is clamped to ± 1; a NaN becomes 0.
    pub fn set_axes(&mut self, axes: Vec2) {
        self.right = quantised_axis(axes.x);
        self.forward = quantised_axis(axes.y);
    }

    /// Sets the view from radians. The yaw wraps, the pitch is clamped, and a NaN becomes 0.
    pub fn set_look(&mut self, yaw: f64, pitch: f64) {
        let units = 65_536.0 / core::f64::consts::TAU;
        let limit = f64::from(PITCH_LIMIT);
        self.yaw = ((yaw % core::f64::consts::TAU) * units).round() as i64 as u16;
        self.pitch = (pitch * units).round().clamp(-limit, limit) as i16;
    }

    /// Turns the view towards a direction in the world whose up is +Y; straight up or down, the heading stays.
    /// Ignores a direction that is not finite or zero.
    pub fn look_along(&mut self, direction: Vec3) {
        let Some(way) = direction.try_normalize() else { return };
        let yaw = f64::from(-way.x).atan2(f64::from(-way.z));
        let heading = self.yaw;
        self.set_look(yaw, f64::from(way.y).asin());
        if way.x == 0.0 && way.z == 0.0 {
            self.yaw = heading;
        }
    }

    /// Returns the deflection of the axes: `x` is right, `y` is forwards. The length is at most 1.
    #[must_use]
    pub fn axes(&self) -> Vec2 {
        (Vec2::new(f32::from(self.right), f32::from(self.forward)) / 127.0).clamp_length_max(1.0)
    }

    /// Returns the wished walking direction for a pawn whose up is +Y: horizontal, with a length of at
    /// most 1.
    #[must_use]
    pub fn wish(&self) -> Vec3 {
        level_wish(self.axes(), self.yaw)
    }

    /// Returns the view direction, a unit vector.
    #[must_use]
    pub fn look(&self) -> Vec3 {
        look_direction(self.yaw, self.pitch)
    }

    /// Returns the input that replaces missing input after this one: the view and the stance and, with
    /// `axes`, the movement axes.
    pub(crate) fn missing_input(self, axes: bool) -> Self {
        let (forward, right) = if axes { (self.forward, self.right) } else { (0, 0) };
        Self { forward, right, jump: false, sprint: axes && self.sprint, walk: axes && self.walk, ..self }
    }

    /// Returns whether the inputs are similar enough to combine their moves: the same buttons, and
    /// directions within 5°, Unreal's `AccelDotThresholdCombine`. Standing and walking never combine.
    pub(crate) fn can_combine_with(&self, newer: &Self) -> bool {
        let (old, new) = (self.wish(), newer.wish());
        self.buttons() == newer.buttons()
            && (old == Vec3::ZERO) == (new == Vec3::ZERO)
            && (old.length() - new.length()).abs() <= 0.02
            && (old == Vec3::ZERO || old.normalize_or_zero().dot(new.normalize_or_zero()) >= 0.996)
    }

    /// Returns the input with values that no device can produce clamped.
    pub(crate) fn clamped(self) -> Self {
        Self {
            forward: self.forward.max(-127),
            right: self.right.max(-127),
            pitch: self.pitch.clamp(-PITCH_LIMIT, PITCH_LIMIT),
            ..self
        }
    }

    fn buttons(&self) -> [bool; 4] {
        [self.jump, self.crouch, self.sprint, self.walk]
    }

    fn write_move(&self, w: &mut BitWriter) {
        write_axes([self.forward, self.right], w);
        for button in self.buttons() {
            w.bool(button);
        }
    }

    fn read_move(&mut self, r: &mut BitReader<'_>) -> Result<(), WireError> {
        [self.forward, self.right] = read_axes(r)?;
        for button in [&mut self.jump, &mut self.crouch, &mut self.sprint, &mut self.walk] {
            *button = r.bool()?;
        }
        Ok(())
    }

    fn has_equal_move_input(&self, other: &Self) -> bool {
        (self.forward, self.right) == (other.forward, other.right) && self.buttons() == other.buttons()
    }
}

/// Quantises an axis of ± 1. Values beyond are clamped; a NaN becomes 0.
pub(crate) fn quantised_axis(axis: f32) -> i8 {
    // A NaN casts to 0.
    (axis.clamp(-1.0, 1.0) * 127.0).round() as i8
}

/// Writes two axes. Keys produce -127, 0 or 127 and take two bits per axis; an analogue stick takes
/// twelve bits more in total.
pub(crate) fn write_axes(axes: [i8; 2], w: &mut BitWriter) {
    let keys = axes.iter().all(|axis| matches!(axis, -127 | 0 | 127));
    w.bool(keys);
    for axis in axes {
        if keys {
            w.bits((i32::from(axis) / 127 + 1).cast_unsigned(), 2);
        } else {
            w.signed(i32::from(axis), 8);
        }
    }
}

/// Reads two axes that [`write_axes`] wrote.
pub(crate) fn read_axes(r: &mut BitReader<'_>) -> Result<[i8; 2], WireError> {
    let keys = r.bool()?;
    let mut axes = [0; 2];
    for axis in &mut axes {
        *axis = if keys {
            match r.bits(2)? {
                0 => -127,
                1 => 0,
                2 => 127,
                _ => return Err(WireError::Invalid),
            }
        } else {
            r.signed(8)? as i8
        };
    }
    Ok(axes)
}

/// Returns the horizontal direction of `axes` for a pawn turned by `yaw`.
pub(crate) fn level_wish(axes: Vec2, yaw: u16) -> Vec3 {
    let (sin, cos) = sin_cos_of_units(yaw);
    Vec3::new(cos, 0.0, -sin) * axes.x + Vec3::new(-sin, 0.0, -cos) * axes.y
}

/// Golomb order of yaw changes: less than 0.35° from one move to the next takes 8 bits, 1° ten, 5°
/// fourteen.
const YAW_ORDER: u32 = 7;
/// Golomb order of pitch changes: less than 0.05° takes five bits.
const PITCH_ORDER: u32 = 4;

/// Without a predecessor an input takes 41 bits with keys and 52 with an analogue stick. As a delta,
/// unchanged axes and buttons take one bit and an unchanged view takes one; the size of a turn grows
/// with its angle.
impl Wire for CapsuleInput {
    fn write(&self, w: &mut BitWriter) {
        let input = self.clamped();
        input.write_move(w);
        input.yaw.write(w);
        input.pitch.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut input = Self::default();
        input.read_move(r)?;
        input.yaw = u16::read(r)?;
        input.pitch = i16::read(r)?;
        Ok(input.clamped())
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        let (input, base) = (self.clamped(), base.clamped());
        let same = input.has_equal_move_input(&base);
        w.bool(same);
        if !same {
            input.write_move(w);
        }
        let yaw = input.yaw.wrapping_sub(base.yaw).cast_signed();
        // The difference is within twice the pitch limit, so it does not overflow.
        let pitch = input.pitch - base.pitch;
        w.bool(yaw == 0 && pitch == 0);
        if yaw != 0 || pitch != 0 {
            w.signed_golomb(yaw, YAW_ORDER);
            w.signed_golomb(pitch, PITCH_ORDER);
        }
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut input = base.clamped();
        if !r.bool()? {
            input.read_move(r)?;
        }
        if !r.bool()? {
            input.yaw = input.yaw.wrapping_add_signed(r.signed_golomb(YAW_ORDER)?);
            input.pitch = input.pitch.saturating_add(r.signed_golomb(PITCH_ORDER)?);
        }
        Ok(input.clamped())
    }

    fn quantised(self) -> Self {
        self.clamped()
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    fn assert_delta_round_trip(input: CapsuleInput, base: CapsuleInput) -> usize {
        let mut w = BitWriter::default();
        input.write_delta(&base, &mut w);
        let bits = w.len_bits();
        assert_eq!(CapsuleInput::read_delta(&base, &mut BitReader::new(&w.finish())), Ok(input));
        bits
    }

    #[test]
    fn similar_inputs_have_small_deltas() {
        let base =
            CapsuleInput { forward: 127, right: -40, yaw: 65_530, pitch: -300, jump: true, ..default() };
        assert_eq!(assert_delta_round_trip(base, base), 2);
        assert_eq!(assert_delta_round_trip(CapsuleInput { yaw: 20, pitch: -290, ..base }, base), 17);
        // 90° per second, and slightly upwards.
        assert_eq!(assert_delta_round_trip(CapsuleInput { yaw: 250, pitch: -296, ..base }, base), 19);
        assert_eq!(assert_delta_round_trip(CapsuleInput { yaw: 20_000, ..base }, base), 31);
        assert_eq!(assert_delta_round_trip(CapsuleInput { jump: false, ..base }, base), 23);
        assert_eq!(
            assert_delta_round_trip(CapsuleInput { pitch: PITCH_LIMIT, forward: -127, ..base }, base),
            58
        );
        let mut w = BitWriter::default();
        CapsuleInput { forward: 127, right: -127, yaw: 9_000, ..default() }.write(&mut w);
        assert_eq!(w.len_bits(), 41);
    }

    #[test]
    fn inputs_read_from_random_bits_are_in_range() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..2_000 {
            let bytes: [u8; 8] = rng.random();
            let base = CapsuleInput { pitch: i16::MIN, forward: i8::MIN, ..default() };
            for input in [
                CapsuleInput::read(&mut BitReader::new(&bytes)),
                CapsuleInput::read_delta(&base, &mut BitReader::new(&bytes)),
            ] {
                let input = input.unwrap_or_default();
                assert!(input.pitch.abs() <= PITCH_LIMIT && input.forward >= -127 && input.right >= -127);
                assert!(input.wish().length() <= 1.0001);
            }
        }
        assert_eq!(CapsuleInput::read(&mut BitReader::new(&[1, 2])), Err(WireError::Ended));
    }

    #[test]
    fn input_directions_agree_with_bevy_rotations() {
        let mut input = CapsuleInput::default();
        input.set_axes(Vec2::new(f32::NAN, 9.0));
        assert!((input.wish() - Vec3::NEG_Z).length() < 1e-6);
        input.set_look(core::f64::consts::FRAC_PI_2, 0.3);
        assert!((input.wish() - Vec3::NEG_X).length() < 1e-4);
        let look =
            Quat::from_rotation_y(core::f32::consts::FRAC_PI_2) * Quat::from_rotation_x(0.3) * Vec3::NEG_Z;
        assert!((input.look() - look).length() < 1e-3);
        input.set_look(f64::NAN, f64::INFINITY);
        assert_eq!((input.yaw, input.pitch), (0, PITCH_LIMIT));
    }
}

//! One round on the wire: when the screen was, where the eye was, where it looked.

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, NetId, POSITION_UNITS_PER_METRE, ViewTime, Wire, WireError, angle_to_units,
    look_direction,
};
use bevy_unlag_rewind::StampOverride;

/// The most targets that a round can name as drawn from other snapshots than its time implies.
pub const MAX_OVERRIDES: usize = 2;

/// Where the player looks, quantised: what is traced on the client is what is sent.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Aim {
    /// Heading about +Y, 65,536 units a turn; 0 looks along -Z.
    pub yaw: u16,
    /// Elevation, 65,536 units a turn; up is positive.
    pub pitch: i16,
}

impl Aim {
    /// Quantises two angles in radians.
    #[must_use]
    pub fn new(yaw: f32, pitch: f32) -> Self {
        let limit = core::f32::consts::FRAC_PI_2 - 0.001;
        Self { yaw: angle_to_units(yaw), pitch: angle_to_units(pitch.clamp(-limit, limit)).cast_signed() }
    }

    /// The unit vector along which it looks.
    #[must_use]
    pub fn direction(&self) -> Vec3 {
        look_direction(self.yaw, self.pitch)
    }

    /// The aim along a direction, or straight ahead when it has none.
    #[must_use]
    pub fn along(direction: Vec3) -> Self {
        let d = direction.try_normalize().unwrap_or(Vec3::NEG_Z);
        Self::new((-d.x).atan2(-d.z), d.y.clamp(-1.0, 1.0).asin())
    }
}

/// One round, as the shooter's screen showed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FireInput {
    /// The moment at which the screen showed everyone else; `None` for the present, on a machine
    /// that decides.
    pub time: Option<ViewTime>,
    /// The moment at which the screen showed movement bases, on the shooter's own time line, when
    /// somebody was drawn on one.
    pub bases: Option<ViewTime>,
    /// Whom the screen showed it hitting, where [`HitClaims`](crate::HitClaims) are wanted. It needs a `time` to
    /// go over the wire.
    pub claim: Option<NetId>,
    /// Where the eye was drawn, in 1/1024 m.
    eye: [i32; 3],
    /// Where it looked.
    pub aim: Aim,
    overrides: [StampOverride; MAX_OVERRIDES],
    override_count: u8,
}

impl FireInput {
    const EYE_BITS: u32 = 20;

    /// A round from an eye, in metres. More than [`MAX_OVERRIDES`] overrides are cut off.
    #[must_use]
    pub fn new(time: Option<ViewTime>, eye: Vec3, aim: Aim, overrides: &[StampOverride]) -> Self {
        let bound = ((1 << (Self::EYE_BITS - 1)) - 1) as f32;
        let quantise = |v: f32| (v * POSITION_UNITS_PER_METRE).round().clamp(-bound, bound) as i32;
        let mut fire = Self { time, eye: eye.to_array().map(quantise), aim, ..Self::default() };
        for (slot, named) in fire.overrides.iter_mut().zip(overrides) {
            *slot = *named;
            fire.override_count += 1;
        }
        fire
    }

    /// Where the eye was drawn, in metres.
    #[must_use]
    pub fn eye(&self) -> Vec3 {
        Vec3::from_array(self.eye.map(|v| v as f32 / POSITION_UNITS_PER_METRE))
    }

    /// Targets that were drawn from other snapshots than the moment implies.
    #[must_use]
    pub fn overrides(&self) -> &[StampOverride] {
        &self.overrides[..usize::from(self.override_count).min(MAX_OVERRIDES)]
    }
}

impl Wire for FireInput {
    fn write(&self, w: &mut BitWriter) {
        self.time.write(w);
        for axis in self.eye {
            w.signed(axis, Self::EYE_BITS);
        }
        w.bits(u32::from(self.aim.yaw), 16);
        w.signed(i32::from(self.aim.pitch), 16);
        let Some(time) = self.time else { return };
        w.bits(u32::from(self.override_count), 2);
        for named in self.overrides() {
            w.bits(u32::from(named.target.0), 16);
            let own = time.later(i64::from(named.shift));
            w.bits(own.tick.since(named.from).clamp(0, 255).cast_unsigned(), 8);
            w.bits(named.to.map_or(0, |to| to.since(named.from).clamp(1, 255).cast_unsigned()), 8);
            w.bool(named.shift != 0);
            if named.shift != 0 {
                w.signed(i32::from(named.shift), 16);
            }
        }
        self.bases.write(w);
        w.bool(self.claim.is_some());
        if let Some(target) = self.claim {
            w.bits(u32::from(target.0), 16);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let time = Option::<ViewTime>::read(r)?;
        let mut eye = [0; 3];
        for axis in &mut eye {
            *axis = r.signed(Self::EYE_BITS)?;
        }
        let aim = Aim { yaw: r.bits(16)? as u16, pitch: r.signed(16)? as i16 };
        let mut fire = Self { time, eye, aim, ..Self::default() };
        let Some(time) = time else { return Ok(fire) };
        fire.override_count = r.bits(2)? as u8;
        if usize::from(fire.override_count) > MAX_OVERRIDES {
            return Err(WireError::Invalid);
        }
        for slot in fire.overrides.iter_mut().take(usize::from(fire.override_count)) {
            let target = NetId(r.bits(16)? as u16);
            let age = r.bits(8)?.cast_signed();
            let span = r.bits(8)?.cast_signed();
            let shift = if r.bool()? { r.signed(16)? as i16 } else { 0 };
            let from = time.later(i64::from(shift)).tick.offset(-age);
            *slot = StampOverride { target, from, to: (span > 0).then(|| from.offset(span)), shift };
        }
        fire.bases = Option::<ViewTime>::read(r)?;
        fire.claim = if r.bool()? { Some(NetId(r.bits(16)? as u16)) } else { None };
        Ok(fire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_unlag_core::Tick;

    #[test]
    fn a_round_survives_the_wire() {
        let time = ViewTime { tick: Tick(500), fraction: 77 };
        let lost = StampOverride { target: NetId(3), from: Tick(497), to: Some(Tick(503)), shift: 0 };
        let late = StampOverride { target: NetId(4), from: Tick(498), to: None, shift: -100 };
        for claim in [None, Some(NetId(700))] {
            let fire = FireInput {
                bases: Some(ViewTime { tick: Tick(90), fraction: 3 }),
                claim,
                ..FireInput::new(Some(time), Vec3::new(1.5, 2.25, -90.0), Aim::new(2.0, -0.3), &[lost, late])
            };
            let mut w = BitWriter::default();
            fire.write(&mut w);
            assert_eq!(FireInput::read(&mut BitReader::new(&w.finish())), Ok(fire));
        }
    }

    #[test]
    fn aim_points_where_it_was_pointed() {
        for direction in [Vec3::new(1.0, 0.2, 3.0), Vec3::new(-4.0, -2.0, 0.1), Vec3::NEG_Z] {
            let found = Aim::along(direction).direction();
            assert!(found.angle_between(direction) < 2e-4, "{direction} became {found}");
        }
    }
}

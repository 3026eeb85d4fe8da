//! Shots with their verdicts.

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, NetId, Tick, ViewTime, Wire, WireError, look_angles, look_direction,
};

use super::facts::{MAX_BYTES, RecordedView};
use crate::packing::{
    read_bytes, read_optional_time, read_tick, write_bytes, write_optional_time, write_tick,
};

/// Most pawns that one shot hits.
const MAX_HITS: usize = 7;

/// A shot as the server received and resolved it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordedShot {
    /// The shooter.
    pub shooter: NetId,
    /// Identifier of the shot: the tick of its move, on the shooter's count.
    pub shot: Tick,
    /// Number of the weapon in the setup.
    pub weapon: u8,
    /// Tick of the server in which the shot arrived.
    pub arrived: Tick,
    /// View of the shooter's screen, as the shot claims; `None` for the present, on a machine with authority.
    pub claimed: Option<RecordedView>,
    /// View time at which the server resolved it; `None` for the present, and for a refused shot.
    pub used: Option<ViewTime>,
    /// Eye position from which the server traced it, in metres.
    pub eye: Vec3,
    /// Direction of its axis.
    pub direction: Vec3,
    /// Whether the server used another time or eye position than the screen showed.
    pub clamped: bool,
    /// Verdict.
    pub outcome: ShotOutcome,
    /// Further data by which the weapons crate resolves it again: `shot_detail` of the glue reads it.
    pub detail: Vec<u8>,
}

/// Verdict without a [`RecordedShot`] of its own: the end of a projectile, or a shot that the server did not fire.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecordedVerdict {
    /// The shooter.
    pub shooter: NetId,
    /// Identifier of the shot.
    pub shot: Tick,
    /// Verdict.
    pub outcome: ShotOutcome,
}

/// Verdict on a shot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ShotOutcome {
    /// It hit no pawn.
    #[default]
    Miss,
    /// It hit pawns, of which the first ones are listed.
    Hit {
        /// The pawns.
        hits: [RecordedHit; MAX_HITS],
        /// Number of valid ones.
        count: u8,
    },
    /// The server refused it, for a reason of the weapons crate.
    Refused(u8),
    /// It launched a projectile: a [`RecordedVerdict`] follows when that ends.
    Launched,
}

/// Hits of one shot on one pawn; at most 31 of each kind.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordedHit {
    /// The pawn.
    pub target: NetId,
    /// Hits in the head.
    #[wire(bits = 5)]
    pub head: u8,
    /// Hits in the body.
    #[wire(bits = 5)]
    pub body: u8,
    /// Hits in the limbs.
    #[wire(bits = 5)]
    pub limb: u8,
}

impl ShotOutcome {
    /// Returns the outcome of a shot that hit these pawns: a miss if there is none. Those that do not fit are
    /// left out.
    #[must_use]
    pub fn of(struck: impl IntoIterator<Item = RecordedHit>) -> Self {
        let (mut hits, mut count) = ([RecordedHit::default(); MAX_HITS], 0);
        for (slot, hit) in hits.iter_mut().zip(struck) {
            *slot = hit;
            count += 1;
        }
        if count == 0 { Self::Miss } else { Self::Hit { hits, count } }
    }

    /// Returns the pawns that were hit.
    #[must_use]
    pub fn hits(&self) -> &[RecordedHit] {
        match self {
            Self::Hit { hits, count } => &hits[..usize::from(*count).min(MAX_HITS)],
            _ => &[],
        }
    }
}

impl Wire for ShotOutcome {
    fn write(&self, w: &mut BitWriter) {
        match self {
            Self::Miss => w.bits(0, 2),
            Self::Hit { .. } => {
                w.bits(1, 2);
                w.bits(self.hits().len() as u32, 3);
                self.hits().iter().for_each(|hit| hit.write(w));
            }
            Self::Refused(reason) => {
                w.bits(2, 2);
                reason.write(w);
            }
            Self::Launched => w.bits(3, 2),
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(match r.bits(2)? {
            0 => Self::Miss,
            1 => {
                let count = r.bits(3)? as u8;
                let mut hits = [RecordedHit::default(); MAX_HITS];
                for slot in &mut hits[..usize::from(count)] {
                    *slot = RecordedHit::read(r)?;
                }
                if count == 0 { Self::Miss } else { Self::Hit { hits, count } }
            }
            2 => Self::Refused(u8::read(r)?),
            _ => Self::Launched,
        })
    }
}

impl RecordedShot {
    pub(crate) fn write(&self, base: Tick, w: &mut BitWriter) {
        self.shooter.write(w);
        write_tick(self.shot, base, 5, w);
        w.bits(u32::from(self.weapon), 8);
        write_tick(self.arrived, base, 1, w);
        w.bool(self.claimed.is_some());
        if let Some(view) = &self.claimed {
            view.write(base, self.shot, w);
        }
        // Most shots are resolved at the claimed time.
        let claimed = self.claimed.as_ref().map(|view| view.time);
        w.bool(self.used == claimed);
        if self.used != claimed {
            write_optional_time(self.used, base, w);
        }
        write_eye(self.eye, w);
        write_direction(self.direction, w);
        w.bool(self.clamped);
        self.outcome.write(w);
        write_bytes(&self.detail, MAX_BYTES, w);
    }

    pub(crate) fn read(base: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let shooter = NetId::read(r)?;
        let shot = read_tick(base, 5, r)?;
        let weapon = r.bits(8)? as u8;
        let arrived = read_tick(base, 1, r)?;
        let claimed = if r.bool()? { Some(RecordedView::read(base, shot, r)?) } else { None };
        let used =
            if r.bool()? { claimed.as_ref().map(|view| view.time) } else { read_optional_time(base, r)? };
        Ok(Self {
            shooter,
            shot,
            weapon,
            arrived,
            claimed,
            used,
            eye: read_eye(r)?,
            direction: read_direction(r)?,
            clamped: r.bool()?,
            outcome: ShotOutcome::read(r)?,
            detail: read_bytes(MAX_BYTES, r)?,
        })
    }
}

/// Resolution of eye positions on the wire: 1/128 m.
const EYE_UNITS: f32 = 128.0;
/// Bits of an axis of an eye position: ± 8,192 m.
const EYE_BITS: u32 = 21;

/// Appends an eye position. Most are the shooter's, at the resolution of the wire.
fn write_eye(eye: Vec3, w: &mut BitWriter) {
    let (eye, most) = (finite(eye), IVec3::splat((1 << (EYE_BITS - 1)) - 1));
    let units = (eye * EYE_UNITS).as_ivec3().clamp(-most, most);
    units.to_array().into_iter().for_each(|axis| w.signed(axis, EYE_BITS));
    eye.write_delta(&(units.as_vec3() / EYE_UNITS), w);
}

fn read_eye(r: &mut BitReader<'_>) -> Result<Vec3, WireError> {
    let [x, y, z] = [r.signed(EYE_BITS)?, r.signed(EYE_BITS)?, r.signed(EYE_BITS)?];
    Vec3::read_delta(&(IVec3::new(x, y, z).as_vec3() / EYE_UNITS), r)
}

/// Appends a direction. Most are those of a heading and a pitch in whole units.
fn write_direction(direction: Vec3, w: &mut BitWriter) {
    let direction = finite(direction);
    let (yaw, pitch) = look_angles(direction);
    yaw.write(w);
    pitch.write(w);
    direction.write_delta(&look_direction(yaw, pitch), w);
}

fn read_direction(r: &mut BitReader<'_>) -> Result<Vec3, WireError> {
    Vec3::read_delta(&look_direction(u16::read(r)?, i16::read(r)?), r)
}

/// Returns a vector that a reader accepts: zero for one that is not finite.
fn finite(value: Vec3) -> Vec3 {
    if value.is_finite() { value } else { Vec3::ZERO }
}

impl RecordedVerdict {
    pub(crate) fn write(&self, base: Tick, w: &mut BitWriter) {
        self.shooter.write(w);
        write_tick(self.shot, base, 5, w);
        self.outcome.write(w);
    }

    pub(crate) fn read(base: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { shooter: NetId::read(r)?, shot: read_tick(base, 5, r)?, outcome: ShotOutcome::read(r)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(shot: &RecordedShot) -> (RecordedShot, usize) {
        let mut w = BitWriter::default();
        shot.write(Tick(100), &mut w);
        let bits = w.len_bits();
        (RecordedShot::read(Tick(100), &mut BitReader::new(&w.finish())).expect("written above"), bits)
    }

    #[test]
    fn shots_are_exact_to_the_bit_and_usual_ones_small() {
        let claimed = RecordedView { own: Tick(97), time: ViewTime::at(Tick(90)), ..RecordedView::default() };
        let usual = RecordedShot {
            shooter: NetId(3),
            shot: Tick(97),
            arrived: Tick(100),
            used: Some(claimed.time),
            claimed: Some(claimed.clone()),
            eye: Vec3::new(-12.5, 1.6328125, 8_192.0 - 0.007_812_5),
            direction: look_direction(40_000, -900),
            ..RecordedShot::default()
        };
        let (read, bits) = round_trip(&usual);
        assert_eq!(read, usual);
        assert!(bits <= 30 * 8, "{bits} bits");
        let of = |eye: Vec3, direction: Vec3| RecordedShot { eye, direction, ..usual.clone() };
        for shot in [
            of(Vec3::new(0.1, -0.0, 1e-30), Vec3::NEG_Z),
            of(Vec3::splat(-8_192.0), Vec3::new(-0.0, -1.0, 0.0)),
            of(Vec3::new(-16_777_216.0, f32::MAX, f32::MIN), Vec3::new(1e-9, 1.0, 0.0)),
            RecordedShot { used: None, ..usual.clone() },
            RecordedShot { claimed: None, ..usual.clone() },
            RecordedShot { claimed: Some(RecordedView { own: Tick(3), ..claimed }), ..usual.clone() },
        ] {
            let (read, _) = round_trip(&shot);
            assert_eq!(read, shot);
            // The signs of zeros as well.
            let bits =
                |shot: &RecordedShot| [shot.eye, shot.direction].map(|v| v.to_array().map(f32::to_bits));
            assert_eq!(bits(&read), bits(&shot));
        }
        // A reader accepts no other numbers.
        let (read, _) = round_trip(&of(Vec3::splat(f32::NAN), Vec3::splat(f32::INFINITY)));
        assert_eq!((read.eye, read.direction), (Vec3::ZERO, Vec3::ZERO));
    }
}

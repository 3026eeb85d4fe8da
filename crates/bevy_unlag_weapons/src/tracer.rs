//! What everyone else sees of a shot.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Wire, WireError};

use crate::{Aim, Cone, ProjectileEnd, ProjectileLaunch, ShotVerdict, WeaponId, spread};

/// The trail of somebody's shot; written on the server, and on every client but the shooter's. It begins where
/// the shooter is drawn.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Tracer {
    /// Who fired.
    pub shooter: NetId,
    /// With what.
    pub weapon: WeaponId,
    /// Where it went.
    pub trail: Trail,
}

/// Where a shot went.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trail {
    /// To a place, in metres; 8 mm is the least that travels.
    To(Vec3),
    /// Into a cone.
    Spread {
        /// Which.
        cone: Cone,
        /// From which the directions follow.
        seed: u16,
    },
}

impl Tracer {
    /// Where each of its rays goes that begins at `from`, with a length of 1.
    pub fn directions(&self, from: Vec3, pellets: u8) -> impl Iterator<Item = Vec3> {
        let trail = self.trail;
        let count = if matches!(trail, Trail::To(_)) { 1 } else { pellets };
        (0..u32::from(count)).map(move |pellet| match trail {
            Trail::To(to) => (to - from).try_normalize().unwrap_or(Vec3::NEG_Z),
            Trail::Spread { cone, seed } => cone.direction(spread::offset(seed, pellet)),
        })
    }
}

/// 1/128 m: ± 4,096 m.
const UNITS: f32 = 128.0;
const PLACE_BITS: u32 = 20;
const WEAPON_BITS: u32 = 6;

/// 11 bytes.
impl Wire for Tracer {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.shooter.0), 16);
        w.bits(u32::from(self.weapon.0), WEAPON_BITS);
        match self.trail {
            Trail::To(to) => {
                w.bool(false);
                let bound = ((1 << (PLACE_BITS - 1)) - 1) as f32;
                for axis in to.to_array() {
                    w.signed((axis * UNITS).round().clamp(-bound, bound) as i32, PLACE_BITS);
                }
            }
            Trail::Spread { cone, seed } => {
                w.bool(true);
                w.bits(u32::from(cone.aim.yaw), 16);
                w.signed(i32::from(cone.aim.pitch), 16);
                w.bits(u32::from(cone.half_angle), 16);
                w.bits(u32::from(seed), 16);
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (shooter, weapon) = (NetId(r.bits(16)? as u16), WeaponId(r.bits(WEAPON_BITS)? as u8));
        let trail = if r.bool()? {
            let aim = Aim { yaw: r.bits(16)? as u16, pitch: r.signed(16)? as i16 };
            let cone = Cone { aim, half_angle: r.bits(16)? as u16 };
            Trail::Spread { cone, seed: r.bits(16)? as u16 }
        } else {
            let mut axis = || Ok(r.signed(PLACE_BITS)? as f32 / UNITS);
            Trail::To(Vec3::new(axis()?, axis()?, axis()?))
        };
        Ok(Self { shooter, weapon, trail })
    }
}

/// Something in the mailbox of the pawn that it is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mailed {
    /// For the shooter, reliably.
    Verdict(ShotVerdict),
    /// For everyone else, unreliably.
    Tracer(Tracer),
    /// For everyone, reliably, in any order.
    Launched(ProjectileLaunch),
    /// For everyone, reliably, in any order.
    Ended(ProjectileEnd),
}

/// What the server has to say about the shots of this pawn; a transport drains it.
#[derive(Component, Clone, Debug, Default)]
pub struct OutgoingVerdicts(pub Vec<Mailed>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_takes_less_than_twelve_bytes() {
        let cone = Cone { aim: Aim::new(2.0, -0.3), half_angle: 900 };
        for trail in [Trail::To(Vec3::new(1.5, -2.25, 900.0)), Trail::Spread { cone, seed: 9 }] {
            let tracer = Tracer { shooter: NetId(900), weapon: WeaponId(3), trail };
            let mut w = BitWriter::default();
            tracer.write(&mut w);
            let bytes = w.finish();
            assert!(bytes.len() <= 11, "{} bytes", bytes.len());
            assert_eq!(Tracer::read(&mut BitReader::new(&bytes)), Ok(tracer));
            let directions: Vec<Vec3> = tracer.directions(Vec3::ZERO, 12).collect();
            assert!(directions.iter().all(|d| d.is_normalized()) && matches!(directions.len(), 1 | 12));
        }
    }
}

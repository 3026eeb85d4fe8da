//! Shot effects for remote clients: tracers, verdicts and projectile messages.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Wire};

use crate::{
    position_format::PositionFormat,
    projectile::{ProjectileEnd, ProjectileLaunch},
    spread,
    spread::SpreadCone,
    verdict::ShotVerdict,
    weapon::WeaponId,
};

/// Tracer of a remote player's shot; written on the server and on every client except the shooter's. It
/// starts where the shooter is drawn. It takes 11 bytes.
#[derive(Message, Wire, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
#[doc(alias = "UTIL_Tracer")]
pub struct Tracer {
    /// The shooter.
    pub shooter: NetId,
    /// Weapon that was fired.
    pub weapon: WeaponId,
    /// Path of the shot.
    pub trail: TracerPath,
}

/// Positions of ±4,096 m.
const END_POINT: PositionFormat = PositionFormat { units: 128.0, bits: 20 };

/// Path of a shot.
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
pub enum TracerPath {
    /// To an end point, in metres; the resolution on the wire is 8 mm.
    To(#[wire(with = END_POINT)] Vec3),
    /// Several rays within a cone.
    Spread {
        /// The spread cone.
        cone: SpreadCone,
        /// Seed of the directions.
        seed: u16,
    },
}

impl Tracer {
    /// Returns the unit direction of each ray, starting at `from`.
    pub fn directions(&self, from: Vec3, pellets: u8) -> impl Iterator<Item = Vec3> {
        let trail = self.trail;
        let count = if matches!(trail, TracerPath::To(_)) { 1 } else { pellets };
        (0..u32::from(count)).map(move |pellet| match trail {
            TracerPath::To(to) => (to - from).try_normalize().unwrap_or(Vec3::NEG_Z),
            TracerPath::Spread { cone, seed } => cone.direction(spread::pellet_offset(seed, pellet)),
        })
    }
}

/// An outgoing message about the shots of a pawn, with its recipients and delivery.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub enum ShotMessage {
    /// To the shooter, reliable.
    Verdict(ShotVerdict),
    /// To all other clients, unreliable.
    Tracer(Tracer),
    /// To all clients, reliable, unordered.
    Launched(ProjectileLaunch),
    /// To all clients, reliable, unordered.
    Ended(ProjectileEnd),
}

/// Outgoing messages about the shots of a pawn; on the server. A transport drains it.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct OutgoingShotMessages(pub Vec<ShotMessage>);

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter, Up};

    use super::*;
    use crate::aim::Aim;

    #[test]
    fn tracer_takes_at_most_eleven_bytes_and_survives_a_round_trip() {
        let cone = SpreadCone { aim: Aim::new(2.0, -0.3), half_angle: 900, up: Up::Y };
        for trail in [TracerPath::To(Vec3::new(1.5, -2.25, 900.0)), TracerPath::Spread { cone, seed: 9 }] {
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

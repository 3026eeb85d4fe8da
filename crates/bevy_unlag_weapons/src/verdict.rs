//! What the server says of a round.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, POSITION_UNITS_PER_METRE, Wire, WireError};
use bevy_unlag_rewind::HitGroup;

use crate::WeaponId;

/// Why a round was not judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ShotRefusal {
    /// The shooter was dead.
    Dead,
    /// The eye was too far from where the server has it, or behind a wall.
    Eye,
    /// The view lies further back than is honoured.
    TooOld,
    /// The view lies ahead of the server.
    FromTheFuture,
    /// The screen cannot have shown that view, and [`ViewTrust`](bevy_unlag_rewind::ViewTrust) says that such
    /// shots do not count.
    View,
}

/// What became of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShotResult {
    /// It hit nobody.
    Miss,
    /// It hit.
    Hit {
        /// Whom.
        target: NetId,
        /// Where.
        group: HitGroup,
    },
    /// It was not judged.
    Refused(ShotRefusal),
}

/// What the server says of a round of the own pawn. Written on the shooter's client when it
/// arrives, and on a listen server for its host.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShotVerdict {
    /// The round's name; see [`ShotFired::shot`](crate::ShotFired::shot).
    pub shot: u32,
    /// What became of it.
    pub result: ShotResult,
    /// Whether it was judged at another moment than its screen showed, because limits did not allow that one;
    /// see [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age).
    pub clamped: bool,
}

/// Somebody was hit; written on the server for the game to act on.
#[derive(Message, Clone, Copy, Debug)]
pub struct Damage {
    /// Who fired.
    pub shooter: Entity,
    /// Who was hit.
    pub target: Entity,
    /// With what.
    pub weapon: WeaponId,
    /// Where.
    pub group: HitGroup,
    /// How much, looked up by weapon and hit group in the [`DamageTable`](crate::DamageTable).
    pub amount: f32,
}

/// The trail of somebody's round; written on the server, and on every client but the shooter's.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Tracer {
    /// Who fired.
    pub shooter: NetId,
    /// From where, in metres.
    pub from: Vec3,
    /// To where.
    pub to: Vec3,
}

/// A verdict or tracer in the mailbox of the pawn that it is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mailed {
    /// For the shooter, reliably.
    Verdict(ShotVerdict),
    /// For everyone else, unreliably.
    Tracer(Tracer),
}

/// What the server has to say about the rounds of this pawn; a transport drains it.
#[derive(Component, Clone, Debug, Default)]
pub struct OutgoingVerdicts(pub Vec<Mailed>);

impl Wire for ShotVerdict {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.shot, 32);
        w.bool(self.clamped);
        match self.result {
            ShotResult::Miss => w.bits(0, 2),
            ShotResult::Hit { target, group } => {
                w.bits(1, 2);
                w.bits(u32::from(target.0), 16);
                w.bits(group as u32, 2);
            }
            ShotResult::Refused(refusal) => {
                w.bits(2, 2);
                w.bits(refusal as u32, 3);
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let shot = r.bits(32)?;
        let clamped = r.bool()?;
        let result = match r.bits(2)? {
            0 => ShotResult::Miss,
            1 => ShotResult::Hit {
                target: NetId(r.bits(16)? as u16),
                group: match r.bits(2)? {
                    0 => HitGroup::Head,
                    1 => HitGroup::Body,
                    2 => HitGroup::Limb,
                    _ => return Err(WireError::Invalid),
                },
            },
            2 => ShotResult::Refused(match r.bits(3)? {
                0 => ShotRefusal::Dead,
                1 => ShotRefusal::Eye,
                2 => ShotRefusal::TooOld,
                3 => ShotRefusal::FromTheFuture,
                4 => ShotRefusal::View,
                _ => return Err(WireError::Invalid),
            }),
            _ => return Err(WireError::Invalid),
        };
        Ok(Self { shot, result, clamped })
    }
}

impl Wire for Tracer {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.shooter.0), 16);
        for axis in self.from.to_array().into_iter().chain(self.to.to_array()) {
            let bound = ((1 << 19) - 1) as f32;
            w.signed((axis * POSITION_UNITS_PER_METRE).round().clamp(-bound, bound) as i32, 20);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let shooter = NetId(r.bits(16)? as u16);
        let mut axis = || Ok(r.signed(20)? as f32 / POSITION_UNITS_PER_METRE);
        let from = Vec3::new(axis()?, axis()?, axis()?);
        let to = Vec3::new(axis()?, axis()?, axis()?);
        Ok(Self { shooter, from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_survive_the_wire() {
        let results = [
            ShotResult::Miss,
            ShotResult::Hit { target: NetId(900), group: HitGroup::Limb },
            ShotResult::Refused(ShotRefusal::View),
        ];
        for result in results {
            let verdict = ShotVerdict { shot: 77, result, clamped: result == ShotResult::Miss };
            let mut w = BitWriter::default();
            verdict.write(&mut w);
            assert_eq!(ShotVerdict::read(&mut BitReader::new(&w.finish())), Ok(verdict));
        }
    }
}

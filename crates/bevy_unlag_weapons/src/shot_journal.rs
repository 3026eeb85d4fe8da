//! Journal of the shots that a server resolves: what it knew of each, and what it decided.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, NetId, Tick, ViewTime, Wire, WireError, wire_format::WireFormat,
};
use bevy_unlag_rewind::StampOverride;

use crate::{
    aim::Aim,
    fire_input::{FireInput, ShooterView},
    spread::SpreadCone,
    verdict::ShotVerdict,
    weapon::WeaponId,
    weapon_extension::PredictedShot,
};

/// Shots that the server has resolved, in their order, for recordings; on a server into which it is inserted. Whoever
/// inserts it empties it in every tick: beyond 4,096 shots none is added.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ShotJournal(
    // Not for inspectors: they would show it only between two systems.
    #[reflect(ignore)] pub Vec<JournalShot>,
);

impl ShotJournal {
    const MOST: usize = 4_096;

    pub(crate) fn push(&mut self, shot: JournalShot) {
        if self.0.len() < Self::MOST {
            self.0.push(shot);
        }
    }
}

/// A shot that the server has resolved.
#[derive(Clone, PartialEq, Debug)]
pub struct JournalShot {
    /// The shooter.
    pub shooter: Entity,
    /// Network id of the shooter.
    pub id: NetId,
    /// Tick of the server in which the shot arrived.
    pub arrived: Tick,
    /// Weapon that fired it.
    pub weapon: WeaponId,
    /// What the shooter's screen showed, as the shot claims.
    pub seen: ShooterView,
    /// Eye position from which the server traced it; that of the screen if it was refused before.
    pub eye: Vec3,
    /// Everything else that the verdict depends on.
    pub detail: ShotDetail,
    /// Verdict. A projectile has [`ShotResult::Launched`](crate::ShotResult::Launched), whatever becomes of it.
    pub verdict: ShotVerdict,
}

/// What the verdict on a shot depends on beside its eye, its claimed view and the pawns: the move of the shot, and the
/// view at which the server resolved it.
#[derive(Wire, Clone, PartialEq, Debug)]
pub struct ShotDetail {
    /// Number of the shot, counted per pawn from 1.
    pub number: u32,
    /// The shot as its move carried it.
    pub fire: FireInput,
    /// Look direction of the move.
    pub look: Aim,
    /// Aim with the spread around it.
    pub cone: SpreadCone,
    /// Up direction of the shooter.
    #[wire(with = UpVector)]
    pub up: Vec3,
    /// Seed of the pellets on the shooter's client.
    pub seed: u16,
    /// Seed of the pellets on the server.
    pub server_seed: u16,
    /// Charge, 0 to 255.
    pub power: u8,
    /// View at which the server resolved it; `None` for the present, and for a shot that was refused before.
    pub view: Option<UsedView>,
    /// Whether the screen showed no pawns, so that the shot cannot hit any.
    pub is_blind: bool,
}

/// View at which the server resolved a shot.
#[derive(Wire, Clone, PartialEq, Debug)]
pub struct UsedView {
    /// View time of most pawns.
    pub time: ViewTime,
    /// View time of movement bases, on the shooter's own time line.
    pub bases: ViewTime,
    /// Targets that the screen drew from other snapshots.
    #[wire(with = Overrides)]
    pub overrides: Vec<StampOverride>,
    /// Ticks for which the shot waited on the server after its arrival.
    pub queued_ticks: u32,
    /// Round trip of the shooter, if it was known.
    #[wire(with = Nanoseconds)]
    pub round_trip: Option<Duration>,
}

impl ShotDetail {
    /// Creates the detail of a shot that has not been examined yet.
    pub(crate) fn new(round: &PredictedShot) -> Self {
        let PredictedShot { number, fire, look, cone, up, seed, power, .. } = *round;
        Self { number, fire, look, cone, up, seed, server_seed: seed, power, view: None, is_blind: false }
    }
}

/// Form of an up direction that is usually +Y: one bit for that.
struct UpVector;

impl WireFormat<Vec3> for UpVector {
    fn write(&self, up: &Vec3, w: &mut BitWriter) {
        w.bool(*up != Vec3::Y);
        if *up != Vec3::Y {
            Wire::write(up, w);
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Vec3, WireError> {
        if r.bool()? { <Vec3 as Wire>::read(r) } else { Ok(Vec3::Y) }
    }
}

/// Form of overrides, exact whatever they name.
struct Overrides;

impl Overrides {
    const BITS: u32 = 5;
}

impl WireFormat<Vec<StampOverride>> for Overrides {
    fn write(&self, all: &Vec<StampOverride>, w: &mut BitWriter) {
        let most = (1 << Self::BITS) - 1;
        w.bits(all.len().min(most) as u32, Self::BITS);
        for one in all.iter().take(most) {
            Wire::write(&one.target, w);
            Wire::write(&one.from, w);
            Wire::write(&one.to, w);
            Wire::write(&one.shift, w);
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Vec<StampOverride>, WireError> {
        let count = r.bits(Self::BITS)?;
        (0..count)
            .map(|_| {
                Ok(StampOverride {
                    target: <NetId as Wire>::read(r)?,
                    from: <Tick as Wire>::read(r)?,
                    to: <Option<Tick> as Wire>::read(r)?,
                    shift: <i16 as Wire>::read(r)?,
                })
            })
            .collect()
    }
}

/// Form of a duration in nanoseconds, exact.
struct Nanoseconds;

impl WireFormat<Option<Duration>> for Nanoseconds {
    fn write(&self, time: &Option<Duration>, w: &mut BitWriter) {
        Wire::write(&time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)), w);
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Option<Duration>, WireError> {
        Ok(<Option<u64> as Wire>::read(r)?.map(Duration::from_nanos))
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::check_wire;

    use super::*;

    #[test]
    fn detail_is_exact_and_any_bytes_are_one_or_an_error() {
        let named = StampOverride { target: NetId(4), from: Tick(9), to: Some(Tick(u32::MAX)), shift: -70 };
        let detail = ShotDetail {
            number: 77,
            fire: FireInput::default(),
            look: Aim { yaw: 9, pitch: -3 },
            cone: SpreadCone { aim: Aim { yaw: 10, pitch: -3 }, half_angle: 40, up: default() },
            up: Vec3::new(0.6, 0.8, 0.0),
            seed: 5,
            server_seed: 6,
            power: 255,
            view: Some(UsedView {
                time: ViewTime { tick: Tick(3), fraction: 9 },
                bases: ViewTime::at(Tick(40)),
                overrides: vec![named; 16],
                queued_ticks: 2,
                round_trip: Some(Duration::from_nanos(123_456_789)),
            }),
            is_blind: false,
        };
        assert_eq!(ShotDetail::from_bytes(&detail.to_bytes()), Ok(detail));
        assert_eq!(check_wire::<ShotDetail>(1, 300), Ok(()));
    }
}

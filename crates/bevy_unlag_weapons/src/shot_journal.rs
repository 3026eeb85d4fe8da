//! Journal of the shots that a server resolves: what it knew of each, and what it decided.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick};

use crate::{fire_input::ShooterView, shot_detail::ShotDetail, verdict::ShotVerdict, weapon::WeaponId};

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
    /// View of the shooter's screen, as the shot claims.
    pub seen: ShooterView,
    /// Eye position from which the server traced it; that of the screen if it was refused before.
    pub eye: Vec3,
    /// Everything else that the verdict depends on.
    pub detail: ShotDetail,
    /// Verdict. A projectile has [`ShotResult::Launched`](crate::ShotResult::Launched), wherever it flies.
    pub verdict: ShotVerdict,
}

//! One step of something that flies, for those who know where the walls are.

use bevy::prelude::*;
use bevy_unlag_core::LimbPoses;

use super::leg::Leg;
use crate::{Rewound, TargetHit, query::sound, world::NearWalls};

/// What something met in a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Meeting {
    /// Somebody.
    Target {
        /// Whom; `point` is where the middle of what flies was, `distance` is in this step.
        hit: TargetHit,
        /// At which part of the step.
        part: f32,
    },
    /// An [`Occluder`](crate::Occluder).
    Mover {
        /// Which.
        by: Entity,
        /// At which part of the step.
        part: f32,
    },
}

impl Rewound<'_, '_, '_> {
    /// What a ball of `radius` (0 is a point) meets first that goes straight from `a` at this moment to `b` at
    /// a later one: everybody moves on meanwhile, and so does every occluder. What never moves is not asked; see
    /// [`WorldTrace::touch`](crate::WorldTrace::touch). `muzzle` is where it was fired. `None` when it meets
    /// nobody, and for what makes no sense.
    #[must_use]
    pub fn fly(&self, later: &Self, (a, b): (Vec3, Vec3), radius: f32, muzzle: Vec3) -> Option<Meeting> {
        let points = [a, b, muzzle].into_iter().all(sound::is_point);
        if !points || !sound::is_size(radius) {
            return None;
        }
        let mut rooms = (LimbPoses::default(), LimbPoses::default());
        let walls = NearWalls::default();
        let step = Leg { then: *self, later: *later, muzzle, a, b, radius, walls: &walls };
        let met = step.meets(&mut rooms)?;
        Some(match met.what {
            Ok(hit) => {
                let point = a.lerp(b, met.part);
                Meeting::Target {
                    hit: TargetHit { distance: a.distance(point), point, ..hit },
                    part: met.part,
                }
            }
            // There are no other walls.
            Err(by) => Meeting::Mover { by: by?, part: met.part },
        })
    }
}

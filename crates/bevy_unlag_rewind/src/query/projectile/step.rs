//! Single step of a projectile, for callers that test static geometry themselves.

use bevy::prelude::*;
use bevy_unlag_core::LimbPoses;

use super::flight_step::{FlightStep, StepHit};
use crate::{query::Rewound, query_result::TargetHit, validity, world::NearbyColliders};

/// Hit of a projectile in a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlightStepHit {
    /// Fraction of the step.
    pub part: f32,
    /// Hit on a target, whose `point` is the centre of the projectile and whose `distance` is within this
    /// step; or the entity of an [`Occluder`](crate::Occluder).
    pub what: Result<TargetHit, Entity>,
}

impl Rewound<'_, '_, '_> {
    /// Returns the first hit of a ball of `radius` metres (0 for a point) that moves in a straight line
    /// from `a` at this moment to `b` at a later one, while targets and occluders move as well. Static
    /// geometry is not tested; see [`WorldTrace::cast_contact`](crate::WorldTrace::cast_contact). `muzzle` is the
    /// position from which it was fired. Returns `None` if it hits nothing or the input is invalid.
    #[must_use]
    pub fn cast_step(
        &self,
        later: &Self,
        (a, b): (Vec3, Vec3),
        radius: f32,
        muzzle: Vec3,
    ) -> Option<FlightStepHit> {
        let points = [a, b, muzzle].into_iter().all(validity::is_point);
        if !points || !validity::is_size(radius) {
            return None;
        }
        let mut rooms = (LimbPoses::default(), LimbPoses::default());
        let walls = NearbyColliders::default();
        let step = FlightStep { then: *self, later: *later, muzzle, a, b, radius, walls: &walls };
        let StepHit { part, what } = step.meets(&mut rooms)?;
        let what = match what {
            Ok(hit) => {
                let point = a.lerp(b, part);
                Ok(TargetHit { distance: a.distance(point), point, ..hit })
            }
            // `walls` is empty, so the obstacle is an occluder.
            Err(by) => Err(by?),
        };
        Some(FlightStepHit { part, what })
    }
}

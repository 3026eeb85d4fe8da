//! Bodies that are posed once for many rays.

use bevy::{
    math::{Vec3A, Vec4},
    prelude::*,
};
use bevy_unlag_core::{LimbPoses, NetId};

use super::{Rewound, rewound::Reason, sound};
use crate::{
    HitBoxes, Miss, TargetHit,
    table::Probe,
    target::{Body, Met, UnitRay, hit_on, is_nearer},
};

/// Everybody near some place at one moment with all limbs posed, for any number of rays. Keep it in a
/// `Local`: one that is filled again allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct PosedTargets {
    targets: Vec<PosedTarget>,
    boxes: Vec<PosedBoxes>,
    /// Why nobody else is here.
    reason: Reason,
}

#[derive(Clone, Debug)]
struct PosedTarget {
    entity: Entity,
    id: NetId,
    body: Isometry3d,
    set: HitBoxes,
    /// Its boxes are from here on, up to the next one's.
    first: usize,
    last: usize,
}

/// Four boxes in the space of their body, each with a ball around it: one look says which a ray comes near.
#[derive(Clone, Copy, Debug)]
struct PosedBoxes {
    /// The middles of the balls, by axis.
    middles: [Vec4; 3],
    /// The squares of their radii; negative where there is no box.
    squares: Vec4,
    /// Into the space of each box.
    back: [Quat; 4],
    index: [u8; 4],
}

impl PosedBoxes {
    const NONE: Self =
        Self { middles: [Vec4::ZERO; 3], squares: Vec4::NEG_ONE, back: [Quat::IDENTITY; 4], index: [0; 4] };

    /// Those that a ray comes near, as bits.
    fn near(&self, ray: &UnitRay) -> u32 {
        let [x, y, z] = self.middles;
        let (origin, direction) = (ray.origin, ray.direction);
        let to = [x - origin.x, y - origin.y, z - origin.z];
        let along = to[0] * direction.x + to[1] * direction.y + to[2] * direction.z;
        let along = along.max(Vec4::ZERO).min(Vec4::splat(ray.max));
        let aside = [to[0] - along * direction.x, to[1] - along * direction.y, to[2] - along * direction.z];
        let squares = aside[0] * aside[0] + aside[1] * aside[1] + aside[2] * aside[2];
        squares.cmple(self.squares).bitmask()
    }

    fn middle(&self, lane: usize) -> Vec3A {
        Vec3A::new(self.middles[0][lane], self.middles[1][lane], self.middles[2][lane])
    }
}

impl Rewound<'_, '_, '_> {
    /// Poses everybody who can be met by what moves from `origin` along `direction` and reaches `radius` to
    /// every side. What was in `posed` before is forgotten.
    ///
    /// # Errors
    /// [`Miss::Nonsense`].
    pub fn pose_along(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
        posed: &mut PosedTargets,
    ) -> Result<(), Miss> {
        posed.clear();
        let ray = UnitRay::new(origin, direction, max_distance);
        let UnitRay { origin, direction, max } =
            ray.filter(|_| sound::is_size(radius)).ok_or(Miss::Nonsense)?;
        self.pose_near(&Probe::Ray { origin, direction, max, radius }, |_| true, posed);
        Ok(())
    }

    /// Poses everybody who can be in a box along the axes of the world, `half` as large to every side. What
    /// was in `posed` before is forgotten.
    ///
    /// # Errors
    /// [`Miss::Nonsense`].
    pub fn pose_around(&self, centre: Vec3, half: Vec3, posed: &mut PosedTargets) -> Result<(), Miss> {
        posed.clear();
        if !sound::is_point(centre) || !half.to_array().into_iter().all(sound::is_size) {
            return Err(Miss::Nonsense);
        }
        let (centre, half) = (Vec3A::from(centre), Vec3A::from(half));
        self.pose_near(&Probe::Box { low: centre - half, high: centre + half }, |_| true, posed);
        Ok(())
    }

    pub(super) fn pose_near(&self, probe: &Probe, wanted: impl Fn(usize) -> bool, posed: &mut PosedTargets) {
        posed.clear();
        let mut room = LimbPoses::default();
        let reason = self.slots(probe, wanted, |_, body| {
            posed.push(body, &mut room);
            true
        });
        posed.reason.consider(reason);
    }
}

impl PosedTargets {
    /// Forgets everybody.
    pub fn clear(&mut self) {
        self.targets.clear();
        self.boxes.clear();
        self.reason = Reason::default();
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Poses one more, and says which that is.
    pub(super) fn push(&mut self, body: &Body<'_>, room: &mut LimbPoses) -> usize {
        let first = self.boxes.len();
        let limbs = body.limbs(room);
        let shapes = body.boxes.shapes().iter().enumerate();
        let posed =
            shapes.filter_map(|(index, shape)| Some((index, shape, shape.pose(*limbs.get(shape.limb)?))));
        for (count, (index, shape, pose)) in posed.enumerate() {
            let lane = count % 4;
            if lane == 0 {
                self.boxes.push(PosedBoxes::NONE);
            }
            let Some(four) = self.boxes.last_mut() else { break };
            for axis in 0..3 {
                four.middles[axis][lane] = pose.translation[axis];
            }
            four.squares[lane] = shape.radius * shape.radius;
            four.back[lane] = pose.rotation.inverse();
            four.index[lane] = index as u8;
        }
        self.targets.push(PosedTarget {
            entity: body.entity,
            id: body.id,
            body: body.pose.body(),
            set: body.boxes.clone(),
            first,
            last: self.boxes.len(),
        });
        self.targets.len() - 1
    }

    /// The first of them that a ray meets, whatever of the world stands in between: that is
    /// [`Rewound::world`]'s to say.
    ///
    /// # Errors
    /// Why it hit nobody.
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Result<TargetHit, Miss> {
        let mut ray = UnitRay::new(origin, direction, max_distance).ok_or(Miss::Nonsense)?;
        let mut best: Option<TargetHit> = None;
        for (index, target) in self.targets.iter().enumerate() {
            let local = ray.within(target.body);
            if local.passes_body(&target.set.bounds()) {
                self.cast_at(index, &mut ray, &local, &mut best);
            }
        }
        best.ok_or(self.reason())
    }

    /// Why a ray that meets nobody meets nobody.
    pub(super) fn reason(&self) -> Miss {
        let mut reason = self.reason;
        reason.consider(self.targets.first().map_or(Miss::Nobody, |target| Miss::Beside(target.id)));
        reason.0
    }

    /// Notes why somebody is not here.
    pub(super) fn consider(&mut self, miss: Miss) {
        self.reason.consider(miss);
    }

    /// Casts a ray, and the same in the space of the body, at one of them. A hit that counts before `best` takes
    /// its place and shortens the ray.
    pub(super) fn cast_at(
        &self,
        index: usize,
        ray: &mut UnitRay,
        local: &UnitRay,
        best: &mut Option<TargetHit>,
    ) {
        let Some(target) = self.targets.get(index) else { return };
        let shapes = target.set.shapes();
        let mut met = Met::default();
        for four in &self.boxes[target.first..target.last] {
            let mut near = four.near(local);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let (back, index) = (four.back[lane], usize::from(four.index[lane]));
                let origin = back * (local.origin - four.middle(lane));
                if let Some(distance) = shapes[index].cast_ray(origin, back * local.direction, local.max) {
                    met.consider(&target.set, index, distance);
                }
            }
        }
        let Some((index, distance)) = met.counts(&target.set) else { return };
        let hit = hit_on((target.entity, target.id), &target.set, index, distance, ray.at(distance));
        if best.as_ref().is_none_or(|best| is_nearer(&hit, best)) {
            ray.max = distance;
            *best = Some(hit);
        }
    }
}

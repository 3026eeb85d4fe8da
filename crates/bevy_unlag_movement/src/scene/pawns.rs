//! Pawns as obstacles for each other.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use super::stable_hash::StableHasher;
use crate::{
    base::BaseId,
    frame::Frame,
    part::{Part, PartShape},
};

/// Collision capsule of a pawn for other pawns, see [`PawnCollision`](crate::PawnCollision). Steps see
/// it as it was before the tick, in whatever order pawns move. A capsule that is not finite or has no
/// radius is ignored.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct PawnCapsule {
    /// Lowest point in metres.
    pub feet: Vec3,
    /// Unit vector from the feet to the head.
    pub up: Vec3,
    /// Radius in metres.
    pub radius: f32,
    /// Distance from the middle to the feet in metres; not less than the radius.
    pub half_height: f32,
    /// Id that distinguishes pawns at the very same place, the same on all machines: such as a
    /// [`NetId`](bevy_unlag_core::NetId).
    pub id: u32,
}

struct Pawn {
    entity: Entity,
    low: Vec3,
    high: Vec3,
    radius: f32,
    id: u32,
    order: u64,
}

impl Pawn {
    fn new(entity: Entity, capsule: &PawnCapsule) -> Option<Self> {
        let PawnCapsule { feet, up, radius, half_height, id } = *capsule;
        let length = 2.0 * half_height.max(radius) - radius;
        let up = up.try_normalize()?;
        let (low, high) = (feet + up * radius, feet + up * length);
        // Cubed, so that sums with it are finite as well.
        let sound = low.is_finite() && high.is_finite() && radius > 0.0 && radius.powi(3).is_finite();
        let order = StableHasher::new().vector(feet).vector(high).word(u64::from(id)).finish();
        sound.then_some(Self { entity, low, high, radius, id, order })
    }
}

/// All pawns, sorted by geometry.
#[derive(Default)]
pub(super) struct Pawns(Vec<Pawn>);

impl Pawns {
    pub(super) fn set<'a>(&mut self, capsules: impl Iterator<Item = (Entity, &'a PawnCapsule)>) {
        self.0.clear();
        self.0.extend(capsules.filter_map(|(entity, capsule)| Pawn::new(entity, capsule)));
        // Sorted by position, because entities differ between machines.
        self.0.sort_unstable_by_key(|pawn| pawn.order);
    }

    /// Returns the id of a pawn; 0 if it has no capsule.
    pub(super) fn id(&self, entity: Entity) -> u32 {
        self.0.iter().find(|pawn| pawn.entity == entity).map_or(0, |pawn| pawn.id)
    }

    /// Adds all pawns but `own` that touch `region`, which is in `frame`.
    pub(super) fn push(&self, own: Entity, frame: Frame, region: &Aabb, out: &mut Vec<Part>) {
        for pawn in self.0.iter().filter(|pawn| pawn.entity != own) {
            let (a, b) = (frame.to_local(pawn.low), frame.to_local(pawn.high));
            let aabb = Aabb::new(a.min(b), a.max(b)).loosened(pawn.radius);
            if aabb.intersects(region) {
                out.push(Part {
                    aabb,
                    shape: PartShape::Capsule { a, b, radius: pawn.radius },
                    order: pawn.order,
                    index: 0,
                    base: BaseId::NONE,
                    one_way: None,
                    pawn: true,
                });
            }
        }
    }
}

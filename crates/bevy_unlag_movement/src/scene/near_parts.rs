//! Collection of the parts near a pawn, in an order that is the same on all machines.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    math::Pose,
};

use super::{
    MoverScene,
    cache::{self, CachedParts},
    part_builder::{PartBuilder, sort, turned},
};
use crate::{base::BaseId, frame::Frame, part::Part};

/// Margin in metres by which the collected region exceeds the requested one, so that later moves find
/// their parts in it. A larger margin means fewer searches and more parts to examine per move.
const MARGIN: Vec3 = Vec3::new(0.5, 0.25, 0.5);
/// Number of fixed parts from which nothing beyond the requested region is collected and nothing is
/// cached.
const MAX_CACHED_PARTS: usize = 4096;
/// Largest number of fixed parts, and of moving parts, that a step examines.
const MAX_PARTS: usize = 65_536;

/// Obstacles that a step includes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Include {
    /// The fixed world.
    Fixed,
    /// The fixed world and movement bases.
    Bases,
    /// The fixed world, bases and other pawns.
    Pawns,
}

/// Parts in the regions that a step has requested so far. There may be others further away, depending on
/// earlier steps: check a part's bounding box before examining the part.
pub(crate) struct NearParts<'s> {
    scene: &'s MoverScene,
    own: Entity,
    seconds: f64,
    mask: u32,
    frame: Frame,
    include: Include,
    /// Union of all requested regions.
    requested: Option<Aabb>,
    /// Region that is completely covered.
    covered: Option<Aabb>,
    entry: Box<CachedParts>,
}

impl MoverScene {
    /// Runs `f` with the parts around a pawn: in `frame`, at the time `seconds`, restricted to parts
    /// that block a member of `mask`, and without the pawn's own. Fixed parts come first, then those of
    /// bases by id, then other pawns.
    pub(crate) fn with_parts<R>(
        &self,
        own: Entity,
        seconds: f64,
        mask: u32,
        frame: Frame,
        include: Include,
        f: impl FnOnce(&mut NearParts<'_>) -> R,
    ) -> R {
        let entry = cache::take(self, own, mask);
        let mut near = NearParts {
            scene: self,
            own,
            seconds,
            mask,
            frame,
            include,
            requested: None,
            covered: None,
            entry,
        };
        let result = f(&mut near);
        cache::put(near.entry);
        result
    }
}

impl NearParts<'_> {
    /// Makes sure that all parts that touch `region` are collected, in the space of the step. Earlier
    /// parts stay.
    pub(crate) fn cover(&mut self, region: Aabb) {
        if self.covered.is_some_and(|covered| covered.contains(&region)) {
            return;
        }
        if !region.mins.is_finite() || !region.maxs.is_finite() {
            return;
        }
        let requested = self.requested.map_or(region, |requested| requested.merged(&region));
        self.requested = Some(requested);
        self.entry.parts.truncate(self.entry.fixed);
        if self.frame.is_world() {
            let region = self.fixed(requested);
            self.moving(region, None);
            self.covered = Some(region);
        } else {
            // One centimetre, because boxes are rotated there and back.
            let near = requested.loosened(0.01);
            let world = self.frame.aabb_to_world(near);
            self.fixed(world);
            let to_frame = self.frame.pose().inverse();
            let CachedParts { parts, turned: out, .. } = &mut *self.entry;
            let touching = parts.iter().filter(|part| part.aabb.intersects(&world));
            out.clear();
            out.extend(touching.map(|part| turned(part, &to_frame)));
            self.moving(near, Some(&to_frame));
            self.covered = Some(requested);
        }
    }

    /// Returns the collected parts in order.
    pub(crate) fn parts(&self) -> &[Part] {
        if self.covered.is_none() {
            &[]
        } else if self.frame.is_world() {
            &self.entry.parts
        } else {
            &self.entry.turned
        }
    }

    /// Collects the fixed parts in world space; returns the region that is completely covered.
    fn fixed(&mut self, world: Aabb) -> Aabb {
        if let Some(known) = self.entry.region
            && known.contains(&world)
        {
            return known;
        }
        let generous = Aabb::new(world.mins - MARGIN, world.maxs + MARGIN);
        let cacheable = self.search(generous, MAX_CACHED_PARTS) < MAX_CACHED_PARTS;
        if !cacheable {
            // The choice of parts over the limit must not depend on the margin, so search without it.
            self.search(world, MAX_PARTS);
        }
        let region = if cacheable { generous } else { world };
        let entry = &mut *self.entry;
        sort(&mut entry.parts);
        entry.fixed = entry.parts.len();
        entry.cacheable = cacheable;
        entry.region = Some(region);
        region
    }

    fn search(&mut self, region: Aabb, limit: usize) -> usize {
        self.entry.parts.clear();
        let mut pieces = PartBuilder { region, base: BaseId::NONE, limit, out: &mut self.entry.parts };
        for obstacle in self.scene.fixed.near(&region) {
            if obstacle.blocks(self.mask) && !self.scene.is_own(self.own, obstacle.entity) {
                pieces.add_obstacle(obstacle, None);
            }
        }
        self.entry.parts.len()
    }

    /// Adds moving parts and pawns in `region`, which is in the space of the step; `to_frame` is the
    /// transform from world space to it, if they differ.
    fn moving(&mut self, region: Aabb, to_frame: Option<&Pose>) {
        if self.include == Include::Fixed {
            return;
        }
        let world = self.frame.aabb_to_world(region);
        let entry = &mut *self.entry;
        let out = if to_frame.is_some() { &mut entry.turned } else { &mut entry.parts };
        for (base, pose, obstacles) in self.scene.bases.near(world, self.seconds) {
            let pose = to_frame.map_or(pose, |to_frame| *to_frame * pose);
            let first = out.len();
            let mut pieces = PartBuilder { region, base, limit: first + MAX_PARTS, out: &mut *out };
            for obstacle in obstacles {
                if obstacle.blocks(self.mask)
                    && obstacle.aabb.transform_by(&pose).intersects(&region)
                    && !self.scene.is_own(self.own, obstacle.entity)
                {
                    pieces.add_obstacle(obstacle, Some(&pose));
                }
            }
            sort(&mut out[first..]);
        }
        if self.include == Include::Pawns {
            self.scene.pawns.push(self.own, self.frame, &region, out);
        }
    }
}

//! Oracle that checks moves with parry's own queries on the colliders of a level, independently of the
//! mover's code.

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    math::Pose,
    query::{Ray, distance},
    shape::{Segment, SharedShape, TypedShape},
};
use bevy_unlag_core::StepContext;
use bevy_unlag_movement::{
    AccelerationModel, BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleState, MoveEvent, MovementMode,
    VolumeId,
};

use super::levels::{CEILING, Level, PlacedCollider, ROOM, walk_limit};

/// Greatest allowed penetration of a capsule, in metres: its skin.
const MAX_DEPTH: f32 = 0.005;
/// Distance, in metres, within which a platform may have influenced a move.
const PLATFORM_NEAR: f32 = 0.15;

/// The axis segment of a capsule, and its radius.
pub(crate) struct CapsuleSegment {
    low: Vec3,
    high: Vec3,
    radius: f32,
}

impl CapsuleSegment {
    pub(crate) fn of(config: &CapsuleConfig, state: &CapsuleState) -> Self {
        let half = if state.crouched { config.crouched_half_height } else { config.half_height };
        let half = half.max(config.radius);
        let low = state.position + state.up * config.radius;
        let high = state.position + state.up * (2.0 * half - config.radius);
        Self { low, high, radius: config.radius }
    }

    fn middle(&self) -> Vec3 {
        (self.low + self.high) * 0.5
    }

    fn aabb(&self) -> Aabb {
        Aabb::new(self.low.min(self.high), self.low.max(self.high)).loosened(self.radius)
    }
}

/// A convex piece of a collider.
struct ConvexPiece {
    pose: Pose,
    shape: SharedShape,
    aabb: Aabb,
    /// Index of its collider in the level.
    thing: usize,
}

impl ConvexPiece {
    fn distance(&self, core: &CapsuleSegment) -> f32 {
        let segment = Segment::new(core.low, core.high);
        let Ok(found) = distance(&Pose::identity(), &segment, &self.pose, &*self.shape) else {
            panic!("parry cannot measure the distance to {:?}", self.shape.shape_type());
        };
        found
    }

    /// An independent, slightly too large distance: the minimum over 97 points of the capsule's segment.
    fn sampled_distance(&self, core: &CapsuleSegment) -> f32 {
        let points = (0..=96_u8).map(|i| core.low.lerp(core.high, f32::from(i) / 96.0));
        points.map(|point| self.shape.distance_to_point(&self.pose, point, true)).fold(f32::MAX, f32::min)
    }
}

/// Splits a collider into convex pieces.
fn split_into_convex_pieces(pose: Pose, shape: &SharedShape, thing: usize, out: &mut Vec<ConvexPiece>) {
    let mut push = |pose: Pose, shape: SharedShape| {
        let aabb = shape.compute_aabb(&pose);
        out.push(ConvexPiece { pose, shape, aabb, thing });
    };
    match shape.as_typed_shape() {
        TypedShape::TriMesh(mesh) => {
            mesh.triangles().for_each(|t| push(pose, SharedShape::triangle(t.a, t.b, t.c)));
        }
        TypedShape::HeightField(field) => {
            field.triangles().for_each(|t| push(pose, SharedShape::triangle(t.a, t.b, t.c)));
        }
        TypedShape::Compound(compound) => {
            for (offset, child) in compound.shapes() {
                split_into_convex_pieces(pose * *offset, child, thing, out);
            }
        }
        _ => push(pose, shape.clone()),
    }
}

fn pose_of(place: &Transform) -> Pose {
    Pose::from_parts(place.translation, place.rotation)
}

fn pieces_of(things: &[PlacedCollider]) -> Vec<ConvexPiece> {
    let mut out = Vec::new();
    for (i, thing) in things.iter().enumerate() {
        split_into_convex_pieces(pose_of(&thing.place), &thing.collider.raw, i, &mut out);
    }
    out
}

/// The colliders and platforms of a level.
pub(crate) struct Oracle {
    pieces: Vec<ConvexPiece>,
    rides: Vec<(BaseTrack, Vec<ConvexPiece>)>,
}

impl Oracle {
    pub(crate) fn new(level: &Level) -> Self {
        let rides = level.rides.iter();
        let rides = rides.map(|ride| (ride.base.track.clone(), pieces_of(&ride.things))).collect();
        Self { pieces: pieces_of(&level.things), rides }
    }

    /// Returns the greatest penetration of a capsule into the fixed colliders, and the index of that
    /// collider. The depth is at most 0 if the capsule is free. A depth above the limit must be confirmed
    /// by both distance measures.
    pub(crate) fn depth(&self, core: &CapsuleSegment) -> (f32, usize) {
        let about = core.aabb();
        let mut deepest = (0.0, usize::MAX);
        for piece in self.pieces.iter().filter(|piece| piece.aabb.intersects(&about)) {
            let mut depth = core.radius - piece.distance(core);
            if depth > MAX_DEPTH {
                depth = depth.min(core.radius - piece.sampled_distance(core));
            }
            if depth > deepest.0 {
                deepest = (depth, piece.thing);
            }
        }
        deepest
    }

    /// Returns a fixed collider whose surface lies between two points, or that contains the first one.
    fn between(&self, from: Vec3, to: Vec3) -> Option<usize> {
        let length = from.distance(to);
        if length < 1e-5 {
            return None;
        }
        let about = Aabb::new(from.min(to), from.max(to)).loosened(1e-3);
        let ray = Ray::new(from, (to - from) / length);
        let hit = |piece: &&ConvexPiece| {
            let Some(at) = piece.shape.cast_ray(&piece.pose, &ray, length, true) else { return false };
            // Ray casts against round shapes are iterative and may end off the surface.
            piece.shape.distance_to_point(&piece.pose, ray.point_at(at), true) < 1e-3
        };
        self.pieces.iter().filter(|piece| piece.aabb.intersects(&about)).find(hit).map(|piece| piece.thing)
    }

    /// Whether a platform may touch the capsule at `seconds`.
    fn platform_near(&self, core: &CapsuleSegment, seconds: f64) -> bool {
        self.rides.iter().any(|(track, pieces)| {
            let pose = track.pose(seconds);
            let pose = Pose::from_parts(pose.translation.into(), pose.rotation);
            let local = CapsuleSegment {
                low: pose.inverse_transform_point(core.low),
                high: pose.inverse_transform_point(core.high),
                radius: core.radius,
            };
            let about = local.aabb().loosened(PLATFORM_NEAR);
            pieces
                .iter()
                .filter(|piece| piece.aabb.intersects(&about))
                .any(|piece| piece.distance(&local) < core.radius + PLATFORM_NEAR)
        })
    }
}

/// A move with its state before and after, its input and its events.
pub(crate) struct Move<'a> {
    pub(crate) before: &'a CapsuleState,
    pub(crate) after: &'a CapsuleState,
    pub(crate) input: &'a CapsuleInput,
    pub(crate) ctx: &'a StepContext,
    pub(crate) events: &'a [MoveEvent],
}

/// Checks the moves of a pawn one by one.
pub(crate) struct MoveChecker<'a> {
    level: &'a Level,
    config: &'a CapsuleConfig,
    oracle: Oracle,
    /// Whether a platform has squeezed the pawn into a collider that it is still inside.
    squeezed: bool,
    /// Penetration depth after the previous move.
    depth: f32,
    /// Whether the level is a room with walls, floor and ceiling.
    pub(crate) room: bool,
    /// Number of moves that no platform influenced.
    pub(crate) checked_moves: usize,
}

/// Whether all numbers of a state are finite.
pub(crate) fn is_finite(state: &CapsuleState) -> bool {
    let vectors = [state.position, state.velocity, state.up, state.base_position, state.base_velocity];
    let timers = [state.air_seconds, state.jump_hold, state.jump_buffer];
    vectors.iter().all(|v| v.is_finite()) && timers.iter().all(|t| t.is_finite())
}

impl<'a> MoveChecker<'a> {
    pub(crate) fn new(level: &'a Level, config: &'a CapsuleConfig) -> Self {
        let oracle = Oracle::new(level);
        Self { level, config, oracle, squeezed: false, depth: 0.0, room: true, checked_moves: 0 }
    }

    /// Whether `state` overlaps nothing and is a valid start.
    pub(crate) fn is_free(&self, state: &CapsuleState) -> bool {
        let core = CapsuleSegment::of(self.config, state);
        // Exact contact is free, and rounding is not zero.
        self.oracle.depth(&core).0 <= 1e-3 && !self.oracle.platform_near(&core, 0.0)
    }

    /// Returns why the move was not allowed.
    pub(crate) fn check(&mut self, m: &Move<'_>) -> Result<(), String> {
        let (before, after) = (m.before, m.after);
        if !is_finite(after) {
            return Err(format!("is not finite: {after:?}"));
        }
        if after.velocity.length() > self.config.max_speed * 1.0001 {
            return Err(format!("is faster than max_speed: {} m/s", after.velocity.length()));
        }
        if self.room {
            self.check_within_room(after)?;
        }
        let (old, new) = (CapsuleSegment::of(self.config, before), CapsuleSegment::of(self.config, after));
        let end = f64::from(m.ctx.tick.0) * f64::from(m.ctx.dt);
        let start = end - f64::from(m.ctx.dt);
        let carried = [before.base, after.base].iter().any(|base| *base != BaseId::NONE)
            || [start, end].into_iter().any(|seconds| {
                self.oracle.platform_near(&old, seconds) || self.oracle.platform_near(&new, seconds)
            });
        let (depth, thing) = self.oracle.depth(&new);
        let was_in = core::mem::replace(&mut self.depth, depth).max(depth) > 1e-4;
        self.squeezed = (carried || self.squeezed) && depth > MAX_DEPTH;
        // A platform may squeeze a pawn, but must not push it through a wall.
        if let Some(thing) = self.oracle.between(old.middle(), new.middle())
            && before.teleports == after.teleports
        {
            return Err(format!("went through collider {thing}"));
        }
        if carried || self.squeezed {
            return Ok(());
        }
        self.checked_moves += 1;
        if depth > MAX_DEPTH {
            return Err(format!("penetrates collider {thing} by {depth} m"));
        }
        self.check_walking_speed(m)?;
        self.check_airborne_energy(m, was_in)
    }

    /// Checks that the pawn is within the outer walls.
    fn check_within_room(&self, after: &CapsuleState) -> Result<(), String> {
        let at = self.level.turn.inverse() * after.position;
        // The floor is thick: a squeezed pawn may be inside it for a while.
        let most = Vec3::new(ROOM, CEILING, ROOM) + Vec3::splat(0.3);
        let least = Vec3::new(-ROOM, 0.0, -ROOM) - Vec3::splat(0.3);
        if at.cmpge(least).all() && at.cmple(most).all() {
            return Ok(());
        }
        Err(format!("left the room: {at}"))
    }

    /// Checks that only input accelerates a walking pawn.
    fn check_walking_speed(&self, m: &Move<'_>) -> Result<(), String> {
        let walks = |state: &CapsuleState| state.mode == MovementMode::Walking;
        let plain = |event: &MoveEvent| {
            matches!(event, MoveEvent::HitWall { .. } | MoveEvent::Stepped { .. } | MoveEvent::Crouched)
                || matches!(event, MoveEvent::Stood | MoveEvent::VolumeChanged { .. })
        };
        if !walks(m.before) || !walks(m.after) || !m.events.iter().all(plain) {
            return Ok(());
        }
        let limit = walk_limit(self.level, self.config, m.input, m.after);
        let (was, is) = (m.before.velocity.length(), m.after.velocity.length());
        // Quake's acceleration adds speed perpendicular to the velocity, whatever the speed is.
        let gain = match self.config.acceleration_model {
            AccelerationModel::Unreal => 1e-3,
            AccelerationModel::Quake => self.config.acceleration / 100.0,
        };
        if is > was.max(limit) + gain {
            return Err(format!("walks at {is} m/s after {was} m/s; its limit is {limit} m/s"));
        }
        Ok(())
    }

    /// Checks that an airborne pawn with neutral input gains no energy from walls.
    fn check_airborne_energy(&self, m: &Move<'_>, was_in: bool) -> Result<(), String> {
        let (before, after) = (m.before, m.after);
        let pull = match (before.mode, after.mode) {
            (MovementMode::Falling, MovementMode::Falling) => self.config.gravity,
            (MovementMode::Flying, MovementMode::Flying) => 0.0,
            _ => return Ok(()),
        };
        let wants = m.input.axes() != Vec2::ZERO || m.input.jump || m.input.crouch;
        let in_volume = [before.volume, after.volume].iter().any(|volume| *volume != VolumeId::NONE);
        let plain = |event: &MoveEvent| {
            matches!(event, MoveEvent::HitWall { .. } | MoveEvent::Stood | MoveEvent::Crouched)
        };
        if wants || in_volume || before.jump_hold > 0.0 || !m.events.iter().all(plain) {
            return Ok(());
        }
        let energy = |state: &CapsuleState| {
            0.5 * state.velocity.length_squared() + pull * state.position.dot(self.config.up)
        };
        let (was, is) = (energy(before), energy(after));
        // Allows a contact in the middle of a tick of gravity, rounding, and depenetration.
        let tick = pull * m.ctx.dt;
        let out = if was_in { pull * 0.03 } else { pull * 0.002 };
        let allowed = tick * tick + out + 0.01 + 2e-5 * before.velocity.length_squared();
        if is > was + allowed {
            return Err(format!("gained {} J/kg; at most {allowed} J/kg are rounding", is - was));
        }
        Ok(())
    }
}

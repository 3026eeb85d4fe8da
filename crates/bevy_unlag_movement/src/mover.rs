//! What a game's own moves may do to the pawn.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::{StepContext, Tick};

use crate::{
    BaseId, CapsuleConfig, CapsuleInput, CapsuleState, MoveEvent, MovementMode, PawnCollision,
    distance::separation,
    floor::find_floor,
    free,
    part::Part,
    scene::NearParts,
    slice::Slice,
    step::body_of,
    sweep::{depth, sweep},
};

/// Metres that a sweep goes at most: all that lies that far around would have to be looked at.
const FURTHEST: f32 = 100.0;

/// What a sweep met.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoverHit {
    /// The feet where the capsule touches, in the world.
    pub position: Vec3,
    /// Metres that it got.
    pub distance: f32,
    /// Out of what it met, in the world.
    pub normal: Vec3,
    /// Where it touched, in the world.
    pub point: Vec3,
    /// What carries the thing it met.
    pub base: BaseId,
    /// Whether that is another pawn.
    pub pawn: bool,
}

/// The pawn in the middle of a step, in the hands of a [`MoveAbility`](crate::MoveAbility).
/// Everything is in the world's space, in metres and seconds.
pub struct Mover<'m, 'a, 's> {
    slice: &'m mut Slice<'a>,
    near: &'m mut NearParts<'s>,
    ctx: &'m StepContext,
    dt: f32,
}

impl core::fmt::Debug for Mover<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Mover").field("state", &self.state()).finish_non_exhaustive()
    }
}

impl<'m, 'a, 's> Mover<'m, 'a, 's> {
    pub(crate) fn new(
        slice: &'m mut Slice<'a>,
        near: &'m mut NearParts<'s>,
        ctx: &'m StepContext,
        dt: f32,
    ) -> Self {
        Self { slice, near, ctx, dt }
    }

    /// The tuning.
    #[must_use]
    pub fn config(&self) -> &CapsuleConfig {
        self.slice.config
    }

    /// What the player wants of the body, as far as it counts.
    #[must_use]
    pub fn input(&self) -> &CapsuleInput {
        &self.slice.input
    }

    /// The tick of the move.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.ctx.tick
    }

    /// Seconds: of the whole step in `begin` and `end`, of the slice in `custom`.
    #[must_use]
    pub fn seconds(&self) -> f32 {
        self.dt
    }

    /// The state as it is now.
    #[must_use]
    pub fn state(&self) -> CapsuleState {
        CapsuleState { position: self.position(), velocity: self.velocity(), ..self.slice.state }
    }

    /// The feet.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        self.slice.frame.to_world(self.slice.feet)
    }

    /// Metres per second, relative to the base.
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        self.slice.frame.direction_to_world(self.slice.velocity)
    }

    /// Sets the velocity; what is not finite is ignored.
    pub fn set_velocity(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            let local = self.slice.frame.direction_to_local(velocity);
            self.slice.velocity = local.clamp_length_max(self.slice.config.max_speed);
        }
    }

    /// How it moves.
    #[must_use]
    pub fn mode(&self) -> MovementMode {
        self.slice.state.mode
    }

    /// Changes how it moves.
    pub fn set_mode(&mut self, mode: MovementMode) {
        if self.slice.state.mode != mode {
            self.slice.set_mode(mode);
        }
    }

    /// Lets go of the floor: falls, with the velocity of its base.
    pub fn leave_floor(&mut self) {
        self.slice.leave_floor();
    }

    /// Against gravity, one long.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.slice.state.up
    }

    /// Where the player wants to go on a floor, at most 1 long.
    #[must_use]
    pub fn wish(&self) -> Vec3 {
        self.slice.frame.direction_to_world(self.slice.wish())
    }

    /// Where the pawn is headed, level, one long.
    #[must_use]
    pub fn forward(&self) -> Vec3 {
        let forward = crate::input::level_wish(Vec2::Y, self.slice.state.yaw);
        self.slice.frame.direction_to_world(forward)
    }

    /// Whether the capsule in its stance would be in nothing with its feet at `position`.
    #[must_use]
    pub fn is_free(&mut self, position: Vec3) -> bool {
        if !position.is_finite() {
            return false;
        }
        let feet = self.slice.frame.to_local(position);
        let body = self.slice.body;
        self.near.cover(body.aabb(feet).loosened(0.1));
        let parts = self.parts();
        let stopped = |part: &Part| {
            part.pawn
                && separation(part, body.low(feet), body.core, body.radius)
                    .is_some_and(|near| near.distance < body.radius)
        };
        depth(parts, body, feet) <= 0.0 && !parts.iter().any(stopped)
    }

    /// What stops the pawn: pawns that only push each other do not.
    fn parts(&self) -> &[Part] {
        let parts = self.near.parts();
        if self.slice.config.pawns == PawnCollision::Push {
            // Pawns come last.
            &parts[..parts.iter().position(|part| part.pawn).unwrap_or(parts.len())]
        } else {
            parts
        }
    }

    /// Throws the pawn: `velocity`, in metres per second, is added to its own. It lets go of the
    /// floor.
    pub fn launch(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            self.slice.leave_floor();
            self.set_velocity(self.velocity() + velocity);
            self.slice.state.jump_hold = 0.0;
            // No late jump on top of it.
            self.slice.state.air_seconds = crate::state::MAX_TIMER;
            self.slice.events.push(MoveEvent::Launched { velocity });
        }
    }

    /// What the capsule would meet on its way along `motion`, 100 m of it at most; none when the way
    /// is free.
    #[must_use]
    pub fn sweep(&mut self, motion: Vec3) -> Option<MoverHit> {
        let frame = self.slice.frame;
        let motion = frame.direction_to_local(motion);
        if !motion.is_finite() {
            return None;
        }
        let motion = motion.clamp_length_max(FURTHEST);
        let (body, feet) = (self.slice.body, self.slice.feet);
        let swept = body.aabb(feet).merged(&body.aabb(feet + motion)).loosened(0.1);
        self.near.cover(swept);
        let hit = sweep(self.parts(), body, feet, motion)?;
        Some(MoverHit {
            position: frame.to_world(feet + motion.normalize_or_zero() * hit.distance),
            distance: hit.distance,
            normal: frame.direction_to_world(hit.normal),
            point: frame.to_world(hit.point),
            base: hit.base,
            pawn: hit.pawn,
        })
    }

    /// Moves at the current velocity for `seconds` and slides along what is in the way. Says
    /// whether anything was.
    pub fn slide(&mut self, seconds: f32) -> bool {
        let seconds = if seconds.is_finite() { seconds.clamp(0.0, 1.0) } else { 0.0 };
        let region = self.slice.region(seconds);
        self.near.cover(region);
        let before = self.slice.velocity;
        let solid = self.parts().len();
        free::slide(self.slice, &self.near.parts()[..solid], seconds);
        self.slice.velocity != before
    }

    /// Puts the pawn elsewhere at once, if it is free there: not smoothed and not taken for an
    /// error. Says whether it was.
    pub fn teleport_to(&mut self, position: Vec3) -> bool {
        if !self.is_free(position) {
            return false;
        }
        self.slice.set_base(BaseId::NONE);
        self.slice.feet = self.slice.frame.to_local(position);
        self.slice.state.teleports = self.slice.state.teleports.wrapping_add(1);
        true
    }

    /// Metres down to a walkable floor, if there is one within `most`.
    #[must_use]
    pub fn floor_below(&mut self, most: f32) -> Option<f32> {
        let most = if most.is_finite() { most.clamp(0.0, 100.0) } else { return None };
        let (body, feet) = (self.slice.body, self.slice.feet);
        self.near.cover(body.aabb(feet).merged(&body.aabb(feet - Vec3::Y * most)).loosened(0.1));
        find_floor(&self.slice.config.footing(), self.near.parts(), body, feet, most)
            .map(|floor| floor.distance)
    }

    /// Shrinks or grows the capsule, feet kept. Says whether there is room.
    pub fn set_crouched(&mut self, crouched: bool) -> bool {
        let body = body_of(self.slice.config, crouched);
        let region = self.slice.region(0.0);
        self.near.cover(region);
        if !crouched && depth(self.near.parts(), body, self.slice.feet) > 0.0 {
            return false;
        }
        self.slice.state.crouched = crouched;
        self.slice.body = body;
        true
    }

    /// Adds an event of the body.
    pub fn push_event(&mut self, event: MoveEvent) {
        self.slice.events.push(event);
    }
}

//! Access to the pawn for a game's custom moves.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::{StepContext, Tick, TimeDilation};

use crate::{
    base::BaseId,
    body::body_of,
    config::{CapsuleConfig, PawnCollision},
    distance::separation,
    event::MoveEvent,
    floor::find_floor,
    frame::Frame,
    free_movement,
    input::CapsuleInput,
    mode::MovementMode,
    part::Part,
    scene::NearParts,
    state::CapsuleState,
    step_state::PawnStep,
    sweep::{Hit, depth, sweep},
};

/// Longest sweep in metres, because all colliders along it have to be looked up.
const MAX_SWEEP_LENGTH: f32 = 100.0;

/// Hit of a sweep.
#[doc(alias = "FHitResult")]
#[doc(alias = "trace_t")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoverHit {
    /// Position of the feet where the capsule touches, in world space.
    pub position: Vec3,
    /// Distance moved up to the hit in metres.
    pub distance: f32,
    /// Normal of the obstacle in world space.
    pub normal: Vec3,
    /// Point of contact in world space.
    pub point: Vec3,
    /// Movement base of the obstacle.
    pub base: BaseId,
    /// Whether the obstacle is another pawn.
    pub pawn: bool,
}

impl MoverHit {
    /// Returns the hit in world space; all arguments are in `frame`.
    pub(crate) fn new(frame: Frame, feet: Vec3, motion: Vec3, hit: &Hit) -> Self {
        Self {
            position: frame.to_world(feet + motion.normalize_or_zero() * hit.distance),
            distance: hit.distance,
            normal: frame.direction_to_world(hit.normal),
            point: frame.to_world(hit.point),
            base: hit.base,
            pawn: hit.pawn,
        }
    }
}

/// Pawn in the middle of a step, as a [`MoveAbility`](crate::MoveAbility) accesses it. Everything is in
/// world space, in metres and seconds.
pub struct Mover<'m, 'a, 's> {
    pawn: &'m mut PawnStep<'a>,
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
        pawn: &'m mut PawnStep<'a>,
        near: &'m mut NearParts<'s>,
        ctx: &'m StepContext,
        dt: f32,
    ) -> Self {
        Self { pawn, near, ctx, dt }
    }

    /// Returns the tuning.
    #[must_use]
    pub fn config(&self) -> &CapsuleConfig {
        self.pawn.config
    }

    /// Returns the body's input after all filters.
    #[must_use]
    pub fn input(&self) -> &CapsuleInput {
        &self.pawn.input
    }

    /// Returns the tick of the move.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.ctx.tick
    }

    /// Returns the duration in seconds of the pawn's own time: of the whole step in `begin` and `end`, of the slice
    /// in `custom`.
    #[must_use]
    pub fn seconds(&self) -> f32 {
        self.dt
    }

    /// Returns the current state.
    #[must_use]
    pub fn state(&self) -> CapsuleState {
        CapsuleState { position: self.position(), velocity: self.velocity(), ..self.pawn.state }
    }

    /// Returns the position of the feet.
    #[must_use]
    pub fn position(&self) -> Vec3 {
        self.pawn.frame.to_world(self.pawn.feet)
    }

    /// Sets the rate of the pawn's own time, from the next step on: a haste that the player starts itself. See
    /// [`CapsuleState::time_dilation`].
    pub fn set_time_dilation(&mut self, rate: TimeDilation) {
        self.pawn.state.set_time_dilation(rate);
    }

    /// Returns the velocity in metres per second of the pawn's own time, relative to the base.
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        self.pawn.frame.direction_to_world(self.pawn.velocity)
    }

    /// Sets the velocity. Ignores values that are not finite.
    pub fn set_velocity(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            let local = self.pawn.frame.direction_to_local(velocity);
            self.pawn.velocity = local.clamp_length_max(self.pawn.config.max_speed);
        }
    }

    /// Returns the movement mode.
    #[must_use]
    pub fn mode(&self) -> MovementMode {
        self.pawn.state.mode
    }

    /// Sets the movement mode.
    pub fn set_mode(&mut self, mode: MovementMode) {
        if self.pawn.state.mode != mode {
            self.pawn.set_mode(mode);
        }
    }

    /// Leaves the floor: the pawn falls with the velocity of its base added.
    pub fn leave_floor(&mut self) {
        self.pawn.leave_floor();
    }

    /// Returns the up direction, a unit vector against gravity.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.pawn.state.up
    }

    /// Returns the wished direction on a floor, with a length of at most 1.
    #[must_use]
    pub fn wish(&self) -> Vec3 {
        self.pawn.frame.direction_to_world(self.pawn.wish())
    }

    /// Returns the heading of the pawn, a horizontal unit vector.
    #[must_use]
    pub fn forward(&self) -> Vec3 {
        let forward = crate::input::level_wish(Vec2::Y, self.pawn.state.yaw);
        self.pawn.frame.direction_to_world(forward)
    }

    /// Returns whether the capsule, in its current stance, would touch nothing with its feet at
    /// `position`.
    #[must_use]
    pub fn is_free(&mut self, position: Vec3) -> bool {
        if !position.is_finite() {
            return false;
        }
        let feet = self.pawn.frame.to_local(position);
        let body = self.pawn.body;
        self.near.cover(body.aabb(feet).loosened(0.1));
        let parts = self.parts();
        let stopped = |part: &Part| {
            part.pawn
                && separation(part, body.low(feet), body.core, body.radius)
                    .is_some_and(|near| near.distance < body.radius)
        };
        depth(parts, body, feet) <= 0.0 && !parts.iter().any(stopped)
    }

    /// Returns the parts that block the pawn: with [`PawnCollision::Push`], pawns do not.
    fn parts(&self) -> &[Part] {
        let parts = self.near.parts();
        if self.pawn.config.pawns == PawnCollision::Push {
            &parts[..parts.iter().position(|part| part.pawn).unwrap_or(parts.len())]
        } else {
            parts
        }
    }

    /// Launches the pawn: adds `velocity`, in metres per second, to its own and leaves the floor.
    #[doc(alias = "LaunchCharacter")]
    pub fn launch(&mut self, velocity: Vec3) {
        if velocity.is_finite() {
            self.pawn.leave_floor();
            self.set_velocity(self.velocity() + velocity);
            self.pawn.state.jump_hold = 0.0;
            // No coyote jump in addition.
            self.pawn.state.air_seconds = crate::state::MAX_TIMER;
            self.pawn.events.push(MoveEvent::Launched { velocity });
        }
    }

    /// Sweeps the capsule along `motion`, at most 100 m of it, and returns the first hit; `None` when
    /// the path is free.
    #[must_use]
    pub fn sweep(&mut self, motion: Vec3) -> Option<MoverHit> {
        let frame = self.pawn.frame;
        let motion = frame.direction_to_local(motion);
        if !motion.is_finite() {
            return None;
        }
        let motion = motion.clamp_length_max(MAX_SWEEP_LENGTH);
        let (body, feet) = (self.pawn.body, self.pawn.feet);
        let swept = body.aabb(feet).merged(&body.aabb(feet + motion)).loosened(0.1);
        self.near.cover(swept);
        let hit = sweep(self.parts(), body, feet, motion)?;
        Some(MoverHit::new(frame, feet, motion, &hit))
    }

    /// Moves at the current velocity for `seconds` and slides along obstacles. Returns whether there
    /// were any.
    pub fn slide(&mut self, seconds: f32) -> bool {
        let seconds = if seconds.is_finite() { seconds.clamp(0.0, 1.0) } else { 0.0 };
        let region = self.pawn.region(seconds);
        self.near.cover(region);
        let before = self.pawn.velocity;
        let solid = self.parts().len();
        free_movement::slide(self.pawn, &self.near.parts()[..solid], seconds);
        self.pawn.velocity != before
    }

    /// Teleports the pawn if it is free at `position`; the move is neither smoothed nor counted as a
    /// prediction error. Returns whether the pawn was teleported.
    pub fn teleport_to(&mut self, position: Vec3) -> bool {
        if !self.is_free(position) {
            return false;
        }
        self.pawn.set_base(BaseId::NONE);
        self.pawn.feet = self.pawn.frame.to_local(position);
        self.pawn.state.teleports = self.pawn.state.teleports.wrapping_add(1);
        true
    }

    /// Returns the distance down to a walkable floor within `most` metres, if there is one.
    #[must_use]
    pub fn floor_below(&mut self, most: f32) -> Option<f32> {
        let most = if most.is_finite() { most.clamp(0.0, 100.0) } else { return None };
        let (body, feet) = (self.pawn.body, self.pawn.feet);
        self.near.cover(body.aabb(feet).merged(&body.aabb(feet - Vec3::Y * most)).loosened(0.1));
        find_floor(&self.pawn.config.floor_rules(), self.near.parts(), body, feet, most)
            .map(|floor| floor.distance)
    }

    /// Crouches or stands up, with the feet in place. Returns false when there is no room to stand up.
    pub fn set_crouched(&mut self, crouched: bool) -> bool {
        let body = body_of(self.pawn.config, crouched);
        let region = self.pawn.region(0.0);
        self.near.cover(region);
        if !crouched && depth(self.near.parts(), body, self.pawn.feet) > 0.0 {
            return false;
        }
        self.pawn.state.crouched = crouched;
        self.pawn.body = body;
        true
    }
}

//! Simulation step of a kart.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::Aabb;
use bevy_unlag_core::StepContext;

use super::{
    KartConfig, KartEvent, KartInput, KartState,
    dynamics::{KartMotion, drag_factor, drive},
    state::MAX_SECONDS,
};
use crate::{
    config::PawnCollision,
    depenetration::{Depenetration, depenetrate},
    floor::{Floor, FloorRules, HOVER_MAX, along_floor, find_floor, hover_above},
    floor_motion::{FloorMotion, impact, move_along_floor},
    frame::Frame,
    part::Part,
    pawn_capsules::HasStance,
    pawn_collision::separate_pawns,
    planes::Planes,
    scene::Include,
    state::MAX_POSITION,
    sweep::{Body, SKIN, sweep},
    world::MoverWorld,
};

/// Depth in metres below the wheels that is searched first for the floor of the last step.
const FLOOR_SEARCH_DEPTH: f32 = 0.06;
/// Tolerance in metres for rounding, by which a floor may be lower than where the wheels settle.
const SETTLE_TOLERANCE: f32 = 0.002;

/// Kart during a step.
pub(super) struct KartStep<'a> {
    config: &'a KartConfig,
    /// `None` when the caller needs no events.
    events: Option<&'a mut Vec<KartEvent>>,
    floor_rules: FloorRules,
    body: Body,
    pub(super) state: KartState,
    /// Speed in metres per second that the engine can add in the step: a kart that leans on a wall does
    /// not hit it.
    gain: f32,
}

/// Returns the duration of a step in seconds, or `None` if there is nothing to simulate.
pub(super) fn seconds_of(ctx: &StepContext) -> Option<f32> {
    // A NaN is not a duration, and `min` would drop it.
    (ctx.dt > 0.0).then(|| ctx.dt.min(MAX_SECONDS))
}

/// Returns the frame of a kart, which is always upright: karts only know the world's gravity.
pub(super) fn frame(state: &KartState) -> Frame {
    Frame::new(state.stance().up, state.position)
}

/// Simulates one step. See [`KartModel`](super::KartModel).
pub(super) fn step(
    config: &KartConfig,
    state: &KartState,
    input: KartInput,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
    events: &mut Vec<KartEvent>,
) -> KartState {
    // Rapier panics on values that are not finite.
    let Some(dt) = seconds_of(ctx).filter(|_| state.is_valid()) else { return *state };
    let config = config.class(state.class);
    let first_event = events.len();
    let input = if state.alive { input.clamped() } else { KartInput::default() };
    let velocity = state.velocity.clamp_length_max(config.max_speed);
    let include = if config.pawns == PawnCollision::Ignore { Include::Bases } else { Include::Pawns };
    let (seconds, mask) = (world.step_seconds(ctx), config.blocked_by);
    let next = world.scene.with_parts(ctx.entity, seconds, mask, frame(state), include, |near| {
        let begin = KartState { velocity, last_input: input, seconds: dt, ..*state };
        let mut kart = KartStep::new(config, begin, Some(events), dt);
        near.cover(kart.region(dt));
        let parts = match config.pawns {
            PawnCollision::Push => kart.drift(near.parts(), world.scene.pawn_id(ctx.entity), dt),
            _ => near.parts(),
        };
        kart.advance(parts, |state, level| drive(config, level, state.heading, input, dt), dt);
        // Also recovers from bases that have moved into the kart.
        near.cover(kart.region(0.0));
        if let Some(Depenetration { feet, was_reset, stuck }) =
            depenetrate(near, kart.body, kart.state.position, state.position)
        {
            kart.state.position = feet;
            if was_reset {
                kart.state.velocity = Vec3::ZERO;
            }
            if let Some(depth) = stuck {
                kart.emit(KartEvent::Stuck { depth });
            }
        }
        let limit = Vec3::splat(MAX_POSITION);
        kart.state.position = kart.state.position.clamp(-limit, limit);
        kart.state
    });
    if next.is_valid() {
        next
    } else {
        events.truncate(first_event);
        *state
    }
}

impl<'a> KartStep<'a> {
    pub(super) fn new(
        config: &'a KartConfig,
        state: KartState,
        events: Option<&'a mut Vec<KartEvent>>,
        dt: f32,
    ) -> Self {
        let gain = config.max_driving_force / config.mass * dt;
        Self { config, events, floor_rules: config.floor_rules(), body: config.body(), state, gain }
    }

    fn emit(&mut self, event: KartEvent) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Returns the box that contains everything that `dt` of driving can touch.
    pub(super) fn region(&self, dt: f32) -> Aabb {
        let config = self.config;
        let gain = self.gain.min(config.max_speed) + config.gravity * dt;
        let push = if config.pawns == PawnCollision::Push { config.pawn_push_speed * dt } else { 0.0 };
        let reach = (self.state.velocity.length() + gain) * dt + push + SKIN + 0.1;
        let side = Vec3::new(self.body.radius + reach, 0.0, self.body.radius + reach);
        let up = Vec3::Y * (reach + config.clearance + HOVER_MAX);
        let feet = self.state.position;
        Aabb::new(feet - side - up, feet + side + up + Vec3::Y * self.body.height())
    }

    /// Moves overlapping karts apart; returns the parts that still block, that is all but the pawns.
    fn drift<'p>(&mut self, parts: &'p [Part], own: u32, dt: f32) -> &'p [Part] {
        let reach = self.config.pawn_push_speed * dt;
        let (feet, solid) = separate_pawns(parts, self.body, self.state.position, own, reach);
        self.state.position = feet;
        solid
    }

    fn floor(&self, parts: &[Part], down: f32) -> Option<Floor> {
        find_floor(&self.floor_rules, parts, self.body, self.state.position, down)
    }

    /// Moves for `dt`. On a floor, `drive` returns the new horizontal velocity, heading and turn rate.
    pub(super) fn advance(
        &mut self,
        parts: &[Part],
        drive: impl FnOnce(&KartState, Vec3) -> KartMotion,
        dt: f32,
    ) {
        let below = self.config.clearance + HOVER_MAX;
        let wheels = self
            .state
            .grounded
            .then(|| self.floor(parts, FLOOR_SEARCH_DEPTH).or_else(|| self.floor(parts, below)));
        match wheels.flatten() {
            Some(floor) => {
                let level = self.state.velocity.with_y(0.0);
                let KartMotion { velocity, heading, spin } = drive(&self.state, level);
                self.state = KartState { velocity, heading, spin, ..self.state };
                self.roll(parts, &floor, dt);
            }
            None => {
                if self.state.grounded {
                    self.take_off();
                }
                self.fall(parts, dt);
            }
        }
    }

    fn take_off(&mut self) {
        self.state.grounded = false;
        self.emit(KartEvent::TookOff);
    }

    fn bump(&mut self, normal: Vec3, velocity: Vec3) {
        if let Some(speed) = impact(velocity, normal, self.gain) {
            self.emit(KartEvent::Bumped { normal, speed });
        }
    }

    /// Rolls along a floor at the horizontal velocity and settles on the floor below the new position.
    fn roll(&mut self, parts: &[Part], floor: &Floor, dt: f32) {
        let (floor_rules, body) = (self.floor_rules, self.body);
        let begin = (self.state.position, self.state.velocity);
        let FloorMotion { feet, velocity, .. } =
            move_along_floor(&floor_rules, parts, body, begin, floor, dt, |normal, velocity| {
                self.bump(normal, velocity);
            });
        self.state.position = feet;
        let follows = HOVER_MAX + SETTLE_TOLERANCE + self.config.stick_speed * dt;
        let down = self.config.clearance + HOVER_MAX;
        match self.floor(parts, down).filter(|below| below.distance <= follows) {
            Some(below) => {
                self.state.position = hover_above(parts, body, feet, &below);
                self.state.velocity = along_floor(velocity, below.face);
            }
            // Beyond an edge or a crest: it keeps its direction.
            None => {
                self.state.velocity = along_floor(velocity, floor.face);
                self.take_off();
            }
        }
    }

    /// Falls for `dt` or until it lands; without a floor there is neither drive nor steering.
    fn fall(&mut self, parts: &[Part], dt: f32) {
        let (config, before) = (self.config, self.state.velocity);
        let after = before * drag_factor(config, before, dt) - Vec3::Y * (config.gravity * dt);
        let after = after.clamp_length_max(config.max_speed);
        self.state.spin = 0.0;
        self.state.velocity = after;
        // The mean of both velocities is exact for constant gravity.
        let mut motion = (before + after) * (0.5 * dt);
        let (start, mut left) = (self.state.position, dt);
        let mut walls = Planes::default();
        for _ in 0..4 {
            if motion.length_squared() < 1e-12 {
                break;
            }
            let Some(hit) = sweep(parts, self.body, self.state.position, motion) else {
                self.state.position += motion;
                return;
            };
            let fraction = (hit.distance / motion.length()).min(1.0);
            self.state.position += motion * fraction;
            motion *= 1.0 - fraction;
            left *= 1.0 - fraction;
            let lands = self.state.velocity.y <= 0.0 && hit.normal.y > 1e-3;
            if lands && let Some(floor) = self.floor(parts, HOVER_MAX) {
                let speed = -(before.y + (after.y - before.y) * (1.0 - left / dt).clamp(0.0, 1.0));
                self.emit(KartEvent::Landed { speed });
                self.state.grounded = true;
                self.state.position = hover_above(parts, self.body, self.state.position, &floor);
                self.state.velocity.y = 0.0;
                self.roll(parts, &floor, left);
                return;
            }
            self.bump(hit.normal, self.state.velocity);
            walls.push(hit.normal);
            motion = walls.clip(motion);
            self.state.velocity = walls.clip(self.state.velocity);
        }
        // Blocked by several walls: limit the velocity to the actual motion, or the falling speed would
        // grow in place.
        let real = (self.state.position - start) / dt;
        self.state.velocity = self.state.velocity.clamp_length_max(real.length());
    }
}

//! Working state of a step: see [`PawnStep`].

use bevy::prelude::*;
use bevy_rapier3d::{parry::bounding_volume::Aabb, parry::math::Pose};
use bevy_unlag_core::look_direction;

use crate::{
    base::BaseId,
    config::{CapsuleConfig, PawnCollision},
    event::MoveEvent,
    floor::HOVER_MAX,
    floor_motion::impact,
    frame::Frame,
    input::{CapsuleInput, level_wish},
    mode::{ModePhysics, MovementMode},
    scene::MoverScene,
    state::{CapsuleState, MAX_VELOCITY},
    sweep::{Body, SKIN},
    velocity::Forces,
    volume::MoveVolume,
};

/// Time in seconds over which the velocity of a base is measured.
const BASE_WINDOW: f64 = 1.0 / 64.0;

/// Physics of a mode, built-in and custom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Physics {
    /// Along a floor.
    Walk,
    /// Under gravity.
    Fall,
    /// In water.
    Swim,
    /// Free flight.
    Fly,
    /// Moved by the game's ability.
    Ability,
}

/// Pawn during a step. Position and velocity are in the space of the step, where up is +Y; `state`
/// contains the rest and receives them at the end.
pub(crate) struct PawnStep<'a> {
    pub(crate) config: &'a CapsuleConfig,
    pub(crate) scene: &'a MoverScene,
    pub(crate) events: &'a mut Vec<MoveEvent>,
    /// Input after all filters.
    pub(crate) input: CapsuleInput,
    pub(crate) state: CapsuleState,
    pub(crate) frame: Frame,
    pub(crate) feet: Vec3,
    pub(crate) velocity: Vec3,
    pub(crate) body: Body,
    /// Duration of the current slice in seconds of the pawn's own time, like all durations of a step.
    pub(crate) dt: f32,
    /// Motion of the pawn by its base in this step.
    pub(crate) base_displacement: Vec3,
    /// Whether the jump button is down, also while input is ignored.
    pub(crate) raw_jump: bool,
    /// End of the step on the time line of bases, in seconds.
    pub(crate) seconds: f64,
    /// Volume that contains the pawn.
    pub(crate) volume: Option<MoveVolume>,
    /// Time in this step during which a held jump suspends gravity, in seconds.
    pub(crate) gravity_suspended: f32,
    /// Whether the pawn is wedged in the air between slopes.
    pub(crate) wedged: bool,
    /// Limits of speed and acceleration after the abilities.
    pub(crate) limits: Limits,
}

/// Top speed and acceleration of the current mode.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Limits {
    /// Top speed in metres per second.
    pub(crate) speed: f32,
    /// Acceleration in metres per second squared.
    pub(crate) acceleration: f32,
}

impl PawnStep<'_> {
    /// Returns the physics of the current mode.
    pub(crate) fn physics(&self) -> Physics {
        match self.state.mode {
            MovementMode::Walking => Physics::Walk,
            MovementMode::Falling => Physics::Fall,
            MovementMode::Swimming => Physics::Swim,
            MovementMode::Flying => Physics::Fly,
            mode @ MovementMode::Custom(_) => match self.config.custom_mode(mode).map(|m| m.physics) {
                Some(ModePhysics::Walk) => Physics::Walk,
                // An unregistered mode falls.
                Some(ModePhysics::Fall) | None => Physics::Fall,
                Some(ModePhysics::Fly) => Physics::Fly,
                Some(ModePhysics::Ability) => Physics::Ability,
            },
        }
    }

    /// Returns the limits by config, stance, buttons and volume.
    pub(crate) fn default_limits(&self) -> Limits {
        let (config, input) = (self.config, &self.input);
        let factor = self.volume.map_or(1.0, |volume| volume.speed_factor);
        let factor = if factor.is_finite() { factor.max(0.0) } else { 1.0 };
        let (speed, acceleration) = match self.state.mode {
            MovementMode::Swimming => (config.max_swim_speed, config.acceleration),
            MovementMode::Flying => (config.max_fly_speed, config.acceleration),
            mode @ MovementMode::Custom(_) if config.custom_mode(mode).is_some() => {
                config.custom_mode(mode).map_or((0.0, 0.0), |custom| (custom.max_speed, custom.acceleration))
            }
            _ if self.state.crouched => (config.crouched_speed, config.acceleration),
            _ if input.walk => (config.slow_walk_speed, config.acceleration),
            _ if input.sprint && input.forward > 0 => (config.sprint_speed, config.acceleration),
            _ => (config.max_walk_speed, config.acceleration),
        };
        Limits { speed: speed * factor, acceleration }
    }

    /// Returns the forces on the velocity in the current mode.
    pub(crate) fn forces(&self) -> Forces {
        let config = self.config;
        let fluid = self.volume.and_then(|volume| volume.fluid_friction).unwrap_or(config.fluid_friction);
        let Limits { speed: max_speed, acceleration } = self.limits;
        let (friction, braking, fluid_friction) = match self.physics() {
            Physics::Swim => (0.5 * fluid, config.braking_swimming, fluid),
            Physics::Fly if self.state.mode == MovementMode::Flying => {
                (0.5 * fluid, config.braking_flying, fluid)
            }
            _ => match config.custom_mode(self.state.mode) {
                Some(custom) => (custom.friction, custom.braking_deceleration, 0.0),
                None => (config.ground_friction, config.braking_deceleration, 0.0),
            },
        };
        let braking_friction = friction * config.braking_friction_factor;
        Forces { max_speed, acceleration, friction, braking_friction, braking, fluid_friction }
    }

    /// Returns the gravity in the current mode, in metres per second squared downwards.
    pub(crate) fn gravity(&self) -> f32 {
        let scale = self.config.custom_mode(self.state.mode).map_or(1.0, |custom| custom.gravity_scale);
        gravity_strength(self.config, self.volume.as_ref()) * scale
    }

    /// Returns the wished direction on a floor: horizontal, with a length of at most 1.
    pub(crate) fn wish(&self) -> Vec3 {
        level_wish(self.input.axes(), self.state.yaw)
    }

    /// Returns the wished direction in water or in flight: along the view, and up and down by the
    /// buttons.
    pub(crate) fn free_wish(&self) -> Vec3 {
        let axes = self.input.axes();
        let right = level_wish(Vec2::X, self.state.yaw);
        let look = look_direction(self.state.yaw, self.state.pitch);
        let rise = f32::from(i8::from(self.input.jump) - i8::from(self.input.crouch));
        (look * axes.y + right * axes.x + Vec3::Y * rise).clamp_length_max(1.0)
    }

    /// Returns the box that contains everything that `dt` of motion can touch.
    pub(crate) fn region(&self, dt: f32) -> Aabb {
        let config = self.config;
        let gain = (self.limits.acceleration.max(config.acceleration) + self.gravity().abs()) * dt;
        let speed = self.velocity.length().max(config.jump_speed).min(config.max_speed) + gain;
        let push = if config.pawns == PawnCollision::Push { config.pawn_push_speed * dt } else { 0.0 };
        let reach = speed * dt + push + SKIN + 0.1;
        let perches = config.perch_radius_threshold > 0.0;
        let perch = if perches { config.step_height + config.perch_height } else { 0.0 };
        let up = reach + config.step_height + HOVER_MAX;
        let tall = Body::new(config.radius, config.half_height).height().max(self.body.height());
        let side = Vec3::new(self.body.radius + reach, 0.0, self.body.radius + reach);
        let (low, high) = (Vec3::Y * (up + perch), Vec3::Y * (tall + up));
        Aabb::new(self.feet - side - low, self.feet + side + high)
    }

    /// Sets the mode.
    pub(crate) fn set_mode(&mut self, mode: MovementMode) {
        self.state.mode = mode;
    }

    /// Leaves the floor: changes the mode and adds the base's velocity to the pawn's.
    pub(crate) fn leave_floor(&mut self) {
        let airborne = self.config.transitions_of(self.state.mode).airborne;
        self.set_base(BaseId::NONE);
        self.set_mode(airborne);
    }

    /// Changes the base and keeps the velocity in world space.
    pub(crate) fn set_base(&mut self, base: BaseId) {
        if base == self.state.base {
            return;
        }
        let before = self.state.base_velocity;
        self.state.base = base;
        self.state.base_velocity = match self.scene.base_pose(base, self.seconds) {
            Some(pose) => {
                let local = pose.inverse_transform_point(self.frame.to_world(self.feet));
                self.base_velocity(base, &pose, local)
            }
            None => Vec3::ZERO,
        };
        if self.config.impart_base_velocity {
            self.velocity += self.frame.direction_to_local(before - self.state.base_velocity);
        }
    }

    /// Returns the velocity of a base below the feet, in the space of the step.
    pub(crate) fn velocity_of(&self, base: BaseId) -> Vec3 {
        let Some(pose) = self.scene.base_pose(base, self.seconds) else { return Vec3::ZERO };
        let local = pose.inverse_transform_point(self.frame.to_world(self.feet));
        self.frame.direction_to_local(self.base_velocity(base, &pose, local))
    }

    /// Returns the velocity of a point of a base in world space, in metres per second of the pawn's own time.
    pub(crate) fn base_velocity(&self, base: BaseId, pose: &Pose, local: Vec3) -> Vec3 {
        let before = self.scene.base_pose(base, self.seconds - BASE_WINDOW).unwrap_or(*pose);
        let moved = pose.transform_point(local) - before.transform_point(local);
        let velocity = moved / BASE_WINDOW as f32;
        // A base that teleports, such as a train at the end of its line, gives pawns no velocity.
        if velocity.length() > self.config.max_speed {
            return Vec3::ZERO;
        }
        (velocity / self.state.time_dilation.factor()).clamp_length_max(MAX_VELOCITY)
    }

    /// Emits a [`MoveEvent::HitWall`] if the capsule hits the wall at sufficient speed.
    pub(crate) fn hit_wall(&mut self, normal: Vec3) {
        let gain = self.limits.acceleration * self.dt;
        if let Some(speed) = impact(self.velocity, normal, gain) {
            let normal = self.frame.direction_to_world(normal);
            self.events.push(MoveEvent::HitWall { normal, speed });
        }
    }
}

/// Returns the strength of gravity in a volume.
pub(crate) fn gravity_strength(config: &CapsuleConfig, volume: Option<&MoveVolume>) -> f32 {
    match volume.and_then(|volume| volume.gravity) {
        Some(crate::volume::GravityField::Uniform(pull)) => pull.length(),
        Some(crate::volume::GravityField::Towards { strength, .. }) => strength,
        None => config.gravity,
    }
}

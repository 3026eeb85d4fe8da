//! Stance of the humanoid: crouch, speed, stride and view pitch.

use bevy::prelude::*;
use bevy_unlag::core::PoseSample;

/// Distance of a whole stride in the preset, in metres.
pub const STRIDE: f32 = core::f32::consts::TAU / 2.4;

/// Stance of the humanoid.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Stance {
    /// 0 is standing, 1 is crouched.
    pub crouch: f32,
    /// Speed, in metres per second.
    pub speed: f32,
    /// Phase of the stride, 0 to 1.
    pub phase: f32,
    /// View pitch upwards, in degrees.
    pub pitch: f32,
    /// Whether the stride advances with time.
    pub walking: bool,
}

impl Default for Stance {
    fn default() -> Self {
        Self { crouch: 0.0, speed: 0.0, phase: 0.15, pitch: 0.0, walking: false }
    }
}

impl Stance {
    /// Returns the pose at the origin. The preset's stride depends on the position: pose limbs with
    /// [`along`](Self::along).
    pub fn sample(&self) -> PoseSample {
        PoseSample {
            velocity: Vec3::NEG_Z * self.speed,
            pitch: self.pitch.to_radians(),
            crouch: self.crouch,
            alive: true,
            grounded: true,
            ..default()
        }
    }

    /// Returns the pose displaced along its path by the phase of the stride.
    pub fn along(&self) -> PoseSample {
        PoseSample { position: Vec3::NEG_Z * (self.phase * STRIDE), ..self.sample() }
    }
}

/// Advances the stride while the humanoid stays in place.
pub fn walk(time: Res<Time>, mut stance: ResMut<Stance>) {
    if stance.walking {
        let step = stance.speed * time.delta_secs() / STRIDE;
        stance.phase = (stance.phase + step).fract();
    }
}

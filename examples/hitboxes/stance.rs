//! How the humanoid stands, goes and looks.

use bevy::prelude::*;
use bevy_unlag::core::PoseSample;

/// Metres along its way that a whole stride of the preset takes.
pub const STRIDE: f32 = core::f32::consts::TAU / 2.4;

/// How the humanoid stands, goes and looks.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct Stance {
    /// 0 stands, 1 is down.
    pub crouch: f32,
    /// Metres a second.
    pub speed: f32,
    /// The part of a stride, 0 to 1.
    pub phase: f32,
    /// Degrees that it looks up.
    pub pitch: f32,
    /// Whether time passes.
    pub plays: bool,
}

impl Default for Stance {
    fn default() -> Self {
        Self { crouch: 0.0, speed: 0.0, phase: 0.15, pitch: 0.0, plays: false }
    }
}

impl Stance {
    /// The pose, on the spot: the preset's stride depends on the place, so limbs are asked for
    /// at [`along`](Self::along).
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

    /// The same so far along its way.
    pub fn along(&self) -> PoseSample {
        PoseSample { position: Vec3::NEG_Z * (self.phase * STRIDE), ..self.sample() }
    }
}

/// Lets it walk on the spot.
pub struct StancePlugin;

impl Plugin for StancePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Stance>().add_systems(Update, walk);
    }
}

fn walk(time: Res<Time>, mut stance: ResMut<Stance>) {
    if stance.plays {
        let step = stance.speed * time.delta_secs() / STRIDE;
        stance.phase = (stance.phase + step).fract();
    }
}

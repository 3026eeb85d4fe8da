//! Camera: overview of the course, third person, or first person.

use bevy::{prelude::*, transform::TransformSystems, ui::UiSystems};
use bevy_rapier3d::prelude::{QueryFilter, ReadRapierContext};
use bevy_unlag::core::units_to_angle;
use bevy_unlag_movement::CapsuleConfig;
use unlag_examples::screen::{WindowArgs, scene::camera};

use crate::{
    pawn::{Drawn, Player},
    tour::Tour,
};

/// Distance of the third-person camera behind the pawn, in metres.
const ARM: f32 = 4.6;
/// Additional downward pitch of the third-person camera, in radians.
const TILT: f32 = 0.22;
/// Minimum height change in a frame that is smoothed as a step, in metres.
const STEP: f32 = 0.10;

/// Camera mode.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum View {
    /// Overview of the course.
    #[default]
    Overview,
    /// Third person.
    Third,
    /// First person.
    First,
}

impl View {
    /// Returns the next mode.
    pub fn next(self) -> Self {
        match self {
            Self::Overview => Self::Third,
            Self::Third => Self::First,
            Self::First => Self::Overview,
        }
    }
}

/// System set that places the camera, in [`PostUpdate`].
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct CameraSystems;

/// Spawns and moves the camera.
pub fn plugin(app: &mut App) {
    app.init_resource::<View>()
        .add_systems(Startup, |window: Res<WindowArgs>, mut commands: Commands| {
            let rig = SmoothedCamera { arm: ARM, ..default() };
            commands.spawn((camera(window.plain, 65.0, overview()), rig));
        })
        .add_systems(
            PostUpdate,
            // Labels depend on the camera, and the UI layout on the labels.
            place.in_set(CameraSystems).before(UiSystems::Layout).before(TransformSystems::Propagate),
        );
}

/// Smoothed camera values.
#[derive(Component, Default)]
struct SmoothedCamera {
    /// Rotation from +Y to the pawn's up direction.
    upright: Quat,
    yaw: f32,
    pitch: f32,
    arm: f32,
    eye: f32,
    /// Remaining height of recent steps, in metres.
    step: f32,
    feet: Vec3,
}

fn overview() -> Transform {
    Transform::from_xyz(0.0, 25.0, 43.0).looking_at(Vec3::new(0.0, 0.0, -5.0), Vec3::Y)
}

fn place(
    view: Res<View>,
    tour: Res<Tour>,
    time: Res<Time>,
    config: Res<CapsuleConfig>,
    rapier: ReadRapierContext,
    players: Query<&Drawn, With<Player>>,
    mut cameras: Query<(&mut SmoothedCamera, &mut Transform)>,
) {
    let (Ok(Drawn(body)), Ok((mut rig, mut transform))) = (players.single(), cameras.single_mut()) else {
        return;
    };
    let dt = time.delta_secs();
    // Share of the remaining distance to cover in this frame, for a time constant of 1/rate seconds.
    let part = |rate: f32| 1.0 - (-rate * dt).exp();

    let yaw = units_to_angle(body.yaw);
    let pitch = units_to_angle(body.pitch.cast_unsigned());
    let upright = body.rotation() * Quat::from_rotation_y(-yaw);
    rig.upright = rig.upright.slerp(upright, part(8.0)).normalize();
    if tour.on {
        // A script turns its view at once; smoothing makes it pleasant to watch.
        let turn = (yaw - rig.yaw + core::f32::consts::PI).rem_euclid(core::f32::consts::TAU);
        rig.yaw += (turn - core::f32::consts::PI) * part(5.0);
        rig.pitch += (pitch * 0.3 - rig.pitch) * part(5.0);
    } else {
        (rig.yaw, rig.pitch) = (yaw, pitch);
    }

    let rise = (body.position - rig.feet).dot(body.up) - body.world_velocity().dot(body.up) * dt;
    if body.is_grounded() && (STEP..1.0).contains(&rise.abs()) {
        rig.step -= rise;
    }
    rig.feet = body.position;
    rig.step -= rig.step * part(14.0);
    let height = (body.eye(&config) - body.position).dot(body.up);
    rig.eye = if rig.eye == 0.0 { height } else { rig.eye + (height - rig.eye) * part(14.0) };
    let eye = body.position + body.up * (rig.eye + rig.step);

    *transform = match *view {
        View::Overview => overview(),
        View::First => {
            let rotation = rig.upright * Quat::from_euler(EulerRot::YXZ, rig.yaw, rig.pitch, 0.0);
            Transform::from_translation(eye).with_rotation(rotation)
        }
        View::Third => {
            // Clamped short of straight down.
            let down = (rig.pitch - TILT).clamp(-1.5, 1.5);
            let rotation = rig.upright * Quat::from_euler(EulerRot::YXZ, rig.yaw, down, 0.0);
            let back = rotation * Vec3::Z;
            let free = free_way(&rapier, eye, back).min(ARM);
            // Moves in at once, so that the camera never looks through a wall; moves out smoothly.
            rig.arm = if free < rig.arm { free } else { rig.arm + (free - rig.arm) * part(4.0) };
            Transform::from_translation(eye + back * rig.arm).with_rotation(rotation)
        }
    };
}

/// Returns the free distance from `from` along `back`, in metres.
fn free_way(rapier: &ReadRapierContext, from: Vec3, back: Vec3) -> f32 {
    let Ok(context) = rapier.single() else { return ARM };
    let filter = QueryFilter::only_fixed().exclude_sensors();
    let hit = context.cast_ray(from, back, ARM + 0.3, true, filter);
    hit.map_or(ARM, |(_, distance)| (distance - 0.3).max(0.3))
}

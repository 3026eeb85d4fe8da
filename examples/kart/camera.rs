//! Camera: behind the own kart, behind the remote kart, or above the track.

use bevy::{prelude::*, transform::TransformSystems};
use unlag_examples::screen::{WindowArgs, scene::camera};

use crate::view_settings::{View, ViewSettings};

/// Distance behind and above the own kart, in metres.
const ARM: (f32, f32) = (8.5, 3.6);
/// Distance behind and above the remote kart; larger, so that all copies are in view.
const LONG_ARM: (f32, f32) = (12.5, 6.0);
/// Rate at which the camera turns behind its kart, per second.
const TURN_RATE: f32 = 3.0;

/// Karts that the camera can follow, and its heading.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct CameraTargets {
    /// Pose of the own kart.
    pub own: Option<(Vec3, Quat)>,
    /// Pose of the remote kart on the server.
    pub other: Option<(Vec3, Quat)>,
    /// Smoothed heading of the camera.
    yaw: f32,
}

impl CameraTargets {
    /// Returns the horizontal direction to the right on the screen, along which the copies' lanes are laid
    /// out.
    pub fn right(&self) -> Vec3 {
        Quat::from_rotation_y(self.yaw) * Vec3::X
    }
}

/// System set that places the camera, in [`PostUpdate`].
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct CameraSystems;

/// Spawns and moves the camera.
pub fn plugin(app: &mut App) {
    app.init_resource::<CameraTargets>()
        .add_systems(Startup, |window: Res<WindowArgs>, mut commands: Commands| {
            commands.spawn(camera(window.plain, 60.0, above()));
        })
        .add_systems(PostUpdate, follow.in_set(CameraSystems).before(TransformSystems::Propagate));
}

/// Returns the camera position above the whole track.
fn above() -> Transform {
    Transform::from_xyz(0.0, 95.0, 95.0).looking_at(Vec3::new(0.0, 0.0, 8.0), Vec3::Y)
}

fn follow(
    time: Res<Time<Real>>,
    picture: Res<ViewSettings>,
    mut followed: ResMut<CameraTargets>,
    mut cameras: Query<&mut Transform, With<Camera3d>>,
) {
    let Ok(mut camera) = cameras.single_mut() else { return };
    let (target, (back, up)) = match picture.view {
        View::Own => (followed.own, ARM),
        View::Other => (followed.other, LONG_ARM),
        View::Above => (None, ARM),
    };
    let Some((position, rotation)) = target else {
        if picture.view == View::Above {
            followed.yaw = 0.0;
            *camera = above();
        }
        return;
    };
    let (yaw, ..) = rotation.to_euler(EulerRot::YXZ);
    let turn = (yaw - followed.yaw + core::f32::consts::PI).rem_euclid(core::f32::consts::TAU);
    let part = 1.0 - (-TURN_RATE * time.delta_secs()).exp();
    followed.yaw += (turn - core::f32::consts::PI) * part;
    let behind = Quat::from_rotation_y(followed.yaw) * Vec3::Z;
    let at = position + Vec3::Y * 0.8;
    *camera = Transform::from_translation(at + behind * back + Vec3::Y * up).looking_at(at, Vec3::Y);
}

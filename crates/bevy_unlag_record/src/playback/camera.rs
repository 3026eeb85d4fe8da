//! Camera that follows a pawn.

use bevy::prelude::*;
use bevy_unlag_core::DrawnPose;

use super::{Playback, PlaybackView, look::PlaybackLook, pawns::PlaybackPawn};

/// Marks the camera of a [`Playback`]. The plugin places it in first and third person; in the free view the game moves
/// it.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Transform)]
pub struct PlaybackCamera {
    /// Height of the eye of a standing pawn above its root, in metres. Default: 1.64, that of the capsule.
    pub eye_height: f32,
    /// Height of the eye of a crouched pawn, in metres. Default: 0.66.
    pub crouched_eye_height: f32,
    /// Distance behind the eye in third person, in metres. Default: 3.5.
    pub distance: f32,
    /// Turn of the third person about the pawn, as yaw and pitch in radians; 0 looks where the pawn looks. Default: 0.
    pub turn: Vec2,
}

impl Default for PlaybackCamera {
    fn default() -> Self {
        Self { eye_height: 1.64, crouched_eye_height: 0.66, distance: 3.5, turn: Vec2::ZERO }
    }
}

pub(super) fn place_camera(
    playback: Res<Playback>,
    look: Res<PlaybackLook>,
    pawns: Query<(&PlaybackPawn, &DrawnPose)>,
    mut cameras: Query<(&PlaybackCamera, &mut Transform), Without<PlaybackPawn>>,
) {
    let Some((_, DrawnPose { pose, .. })) = pawns.iter().find(|(pawn, _)| pawn.is_followed) else { return };
    let exact = look.0.filter(|(of, _)| playback.view().followed() == Some(*of)).map(|(_, look)| look);
    for (camera, mut place) in &mut cameras {
        let height = camera.eye_height + (camera.crouched_eye_height - camera.eye_height) * pose.crouch;
        let eye = pose.position + pose.up() * height;
        let aim = exact.unwrap_or(pose.rotation * Quat::from_rotation_x(pose.pitch));
        *place = match playback.view() {
            PlaybackView::Free => continue,
            PlaybackView::FirstPerson(_) => Transform::from_translation(eye).with_rotation(aim),
            PlaybackView::ThirdPerson(_) => {
                let (yaw, pitch, _) = aim.to_euler(EulerRot::YXZ);
                let turned = Quat::from_euler(
                    EulerRot::YXZ,
                    yaw + camera.turn.x,
                    (pitch + camera.turn.y).clamp(-1.5, 1.5),
                    0.0,
                );
                Transform::from_translation(eye + turned * Vec3::Z * camera.distance).with_rotation(turned)
            }
        };
    }
}

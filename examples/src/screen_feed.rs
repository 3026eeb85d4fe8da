//! Picture of an app for a window of another thread of the process: the split view.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use bevy::prelude::*;
use bevy_unlag::{
    core::{DrawnEye, PoseSample},
    prelude::*,
    rewind::{Frame, FrameHistory},
};

/// Poses of all pawns at one moment, as an app has or draws them.
#[derive(Clone, Debug, Default)]
pub struct ScreenFrame {
    /// Pawns that are alive.
    pub pawns: Vec<(NetId, PoseSample)>,
    /// The app's own pawn, and its eye; `None` on a dedicated server.
    pub own: Option<(NetId, Transform)>,
}

/// Feed of [`ScreenFrame`]s from one thread to another.
#[derive(Clone, Debug, Default)]
pub struct ScreenFeed {
    is_wanted: Arc<AtomicBool>,
    frame: Arc<Mutex<ScreenFrame>>,
}

impl ScreenFeed {
    /// Sets whether frames are published.
    pub fn want(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::Relaxed);
    }

    /// Returns the newest frame.
    #[must_use]
    pub fn newest(&self) -> ScreenFrame {
        self.frame.lock().map(|frame| frame.clone()).unwrap_or_default()
    }

    /// Publishes what a client draws, or where the server has all pawns, if it is wanted.
    pub fn publish(&self, world: &mut World) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        let mut pawns = world.query::<(
            &NetId,
            Option<(&DrawnPose, Option<&VisualOffset>)>,
            Option<&FrameHistory>,
            Option<&DrawnEye>,
            Has<LocalControl>,
        )>();
        let mut shown = ScreenFrame::default();
        for (id, drawn, history, eye, is_own) in pawns.iter(world) {
            let drawn = drawn.map(|(drawn, offset)| PoseSample {
                position: drawn.pose.position + offset.map_or(Vec3::ZERO, |offset| offset.offset),
                ..drawn.pose
            });
            let frame = || history.and_then(|history| history.frames().next_back()).map(pose_of);
            let Some(pose) = drawn.or_else(frame).filter(|pose| pose.alive) else { continue };
            shown.pawns.push((*id, pose));
            if is_own {
                let at = pose.position + pose.up() * eye.map_or(1.6, |eye| eye.0);
                let look = pose.rotation * Quat::from_rotation_x(pose.pitch);
                shown.own = Some((*id, Transform::from_translation(at).with_rotation(look)));
            }
        }
        if let Ok(mut frame) = self.frame.lock() {
            *frame = shown;
        }
    }
}

fn pose_of(frame: &Frame) -> PoseSample {
    let Frame { position, velocity, rotation, pitch, crouch, alive, .. } = *frame;
    PoseSample { position, velocity, rotation, pitch, crouch, alive, ..default() }
}

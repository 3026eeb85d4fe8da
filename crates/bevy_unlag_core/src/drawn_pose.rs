//! Pose of a pawn on the screen.

use bevy::prelude::*;

use crate::{pose_sample::PoseSample, view::ViewStamp};

/// Pose of a pawn on this app's screen in the last frame, without [`VisualOffset`](crate::VisualOffset).
#[doc(alias = "GetRenderOrigin")]
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct DrawnPose {
    /// Pose in the world.
    pub pose: PoseSample,
    /// Kind of sampling that gave the pose.
    pub stamp: ViewStamp,
}

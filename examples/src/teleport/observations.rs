//! Observations of one app: what its player sees and is notified of.

use bevy::prelude::*;
use bevy_unlag::{
    core::{DrawnPose, VisualOffset},
    prediction::{Correction, MoveOutcome},
    prelude::LocalControl,
};

use super::Pawn;

/// Minimum distance of a jump within a frame, in metres; more than walking, or the slide that hides a jump,
/// can cover.
const JUMP: f32 = 2.0;
/// Visual offset that counts as noticeable, in metres.
const NOTICEABLE_OFFSET: f32 = 0.05;

/// Events observed in this app, by frame.
#[derive(Resource, Default, Debug)]
pub struct Observations {
    /// Number of frames so far.
    pub frame: u32,
    /// Frames in which the teleport effect was played.
    pub effects: Vec<u32>,
    /// Jumps of the drawn pawn within a frame, in metres; positive is ahead.
    pub jumps: Vec<(u32, f32)>,
    /// Frames in which the drawn pawn slid to hide a jump.
    pub slides: Vec<u32>,
    /// Corrections that count as errors.
    pub corrections: Vec<(u32, Correction<Pawn>)>,
    /// Notifications of the owner about the teleport: the frame, and whether it succeeded. Includes a
    /// refusal by its own app's test.
    pub outcomes: Vec<(u32, bool)>,
    last: Option<Vec3>,
}

impl Observations {
    /// Records the teleport effect, such as a sound and a flash.
    pub fn play_effect(&mut self) {
        self.effects.push(self.frame);
    }

    /// Records that the owner is notified of the result.
    pub fn record_outcome(&mut self, succeeded: bool) {
        self.outcomes.push((self.frame, succeeded));
    }
}

/// Observes the owner's screen.
pub(super) fn watch(app: &mut App) {
    app.init_resource::<Observations>()
        .add_systems(First, |mut seen: ResMut<Observations>| seen.frame += 1)
        .add_systems(Last, (look, listen));
}

fn look(
    mut seen: ResMut<Observations>,
    pawns: Query<(&DrawnPose, Option<&VisualOffset>), With<LocalControl>>,
) {
    let frame = seen.frame;
    for (drawn, offset) in &pawns {
        let offset = offset.map_or(Vec3::ZERO, |offset| offset.offset);
        let at = drawn.pose.position + offset;
        let ahead = seen.last.map_or(0.0, |last| last.z - at.z);
        if ahead.abs() > JUMP {
            seen.jumps.push((frame, ahead));
        }
        if offset.z.abs() > NOTICEABLE_OFFSET {
            seen.slides.push(frame);
        }
        seen.last = Some(at);
    }
}

fn listen(
    mut seen: ResMut<Observations>,
    mut corrections: MessageReader<Correction<Pawn>>,
    mut outcomes: MessageReader<MoveOutcome<Pawn>>,
) {
    let frame = seen.frame;
    seen.corrections.extend(corrections.read().map(|correction| (frame, correction.clone())));
    seen.outcomes.extend(outcomes.read().map(|outcome| (frame, outcome.succeeded)));
}

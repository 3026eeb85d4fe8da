//! What the player of one app sees and is told.

use bevy::prelude::*;
use bevy_unlag::{
    core::{DrawnPose, VisualOffset},
    prediction::{Correction, MoveOutcome},
    prelude::LocalControl,
};

use super::Pawn;

/// Metres in a frame that neither a pawn on foot covers nor the slide that hides a jump.
const JUMP: f32 = 2.0;
/// Metres of a visual offset that somebody notices.
const NOTICED: f32 = 0.05;

/// What happened in this app, by its frame.
#[derive(Resource, Default, Debug)]
pub struct Seen {
    /// Frames so far.
    pub frame: u32,
    /// The effect of the teleport was played.
    pub effects: Vec<u32>,
    /// The pawn on the screen went so many metres ahead, or back, in one frame.
    pub jumps: Vec<(u32, f32)>,
    /// Frames in which the pawn on the screen slid along a jump that it did not show.
    pub slides: Vec<u32>,
    /// Corrections that count.
    pub corrections: Vec<(u32, Correction<Pawn>)>,
    /// The owner learnt what became of the teleport: whether it succeeded. A refusal by its own
    /// app's test counts, too.
    pub outcomes: Vec<(u32, bool)>,
    last: Option<Vec3>,
}

impl Seen {
    /// A sound and a flash.
    pub fn play_effect(&mut self) {
        let frame = self.frame;
        self.effects.push(frame);
    }

    /// A line of text.
    pub fn is_told(&mut self, succeeded: bool) {
        let frame = self.frame;
        self.outcomes.push((frame, succeeded));
    }
}

/// Watches the owner's screen.
pub(super) fn watch(app: &mut App) {
    app.init_resource::<Seen>()
        .add_systems(First, |mut seen: ResMut<Seen>| seen.frame += 1)
        .add_systems(Last, (look, listen));
}

fn look(mut seen: ResMut<Seen>, pawns: Query<(&DrawnPose, Option<&VisualOffset>), With<LocalControl>>) {
    let frame = seen.frame;
    for (drawn, offset) in &pawns {
        let offset = offset.map_or(Vec3::ZERO, |offset| offset.offset);
        let at = drawn.pose.position + offset;
        let ahead = seen.last.map_or(0.0, |last| last.z - at.z);
        if ahead.abs() > JUMP {
            seen.jumps.push((frame, ahead));
        }
        if offset.z.abs() > NOTICED {
            seen.slides.push(frame);
        }
        seen.last = Some(at);
    }
}

fn listen(
    mut seen: ResMut<Seen>,
    mut corrections: MessageReader<Correction<Pawn>>,
    mut outcomes: MessageReader<MoveOutcome<Pawn>>,
) {
    let frame = seen.frame;
    seen.corrections.extend(corrections.read().map(|correction| (frame, correction.clone())));
    seen.outcomes.extend(outcomes.read().map(|outcome| (frame, outcome.succeeded)));
}

//! Recording of what a client's screen shows, in a file of the client's own.

use std::path::PathBuf;

use bevy::prelude::*;
use bevy_unlag_core::{
    CurrentTick, DrawnBaseTime, DrawnPose, DrawnViewTime, LocalControl, NetId, NetRole, ViewStamp,
    VisualSystems,
};
use bevy_unlag_record::{
    MatchRecorder, PlayerNumber, RecordedPlayer, RecordedView, RecorderConfig, RecorderStats, RosterChange,
};

use super::setup::current_record_setup;

/// Records on a client what its screen shows: see [`ScreenRecording`]. Add it after
/// [`UnlagClientNetPlugin`](crate::UnlagClientNetPlugin).
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordScreenPlugin;

impl Plugin for RecordScreenPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ScreenRecording>()
            .add_systems(
                First,
                start.run_if(|recording: Res<ScreenRecording>| !recording.requests.is_empty()),
            )
            .add_systems(PostUpdate, record.after(VisualSystems::Draw).before(VisualSystems::Follow));
    }
}

/// Recording of a client's screen: the view time of each frame and the snapshots from which each pawn was drawn. With
/// the server's recording of the match, every frame can be shown again bit for bit, whatever the link has lost. Costs
/// about 15 bits per pawn and frame.
#[derive(Resource, Debug, Default)]
pub struct ScreenRecording {
    requests: Vec<Option<PathBuf>>,
    recorder: Option<MatchRecorder>,
    ending: Option<MatchRecorder>,
}

impl ScreenRecording {
    /// Starts a file from the next frame on. A file that is open is closed.
    pub fn start(&mut self, path: impl Into<PathBuf>) {
        self.requests.push(Some(path.into()));
    }

    /// Closes the file.
    pub fn stop(&mut self) {
        self.requests.push(None);
    }

    /// Returns what has been written and what went wrong; `None` while nothing is recorded.
    #[must_use]
    pub fn stats(&self) -> Option<RecorderStats> {
        self.recorder.as_ref().map(MatchRecorder::stats)
    }
}

fn start(world: &mut World) {
    let setup = current_record_setup(world, "", "");
    let mut recording = world.resource_mut::<ScreenRecording>();
    for request in core::mem::take(&mut recording.requests) {
        if let Some(mut recorder) = recording.recorder.take() {
            recorder.finish();
            // An earlier one that still writes is waited for.
            recording.ending = Some(recorder);
        }
        if let Some(path) = request {
            let mut recorder = MatchRecorder::new(setup.clone(), RecorderConfig::default());
            recorder.open_file(path);
            recording.recorder = Some(recorder);
        }
    }
}

/// Records a frame, at the tick of its view time.
fn record(
    (tick, time, bases): (Res<CurrentTick>, Res<DrawnViewTime>, Res<DrawnBaseTime>),
    pawns: Query<(&NetId, &NetRole, &DrawnPose)>,
    own: Query<&NetId, With<LocalControl>>,
    mut recording: ResMut<ScreenRecording>,
    mut view: Local<RecordedView>,
) {
    let recording = &mut *recording;
    if recording.ending.as_mut().is_some_and(MatchRecorder::is_finished) {
        recording.ending = None;
    }
    let Some((recorder, time)) = recording.recorder.as_mut().zip(time.0) else { return };
    recorder.begin_tick(time.tick);
    let player = RecordedPlayer { pawn: own.single().ok().copied(), ..RecordedPlayer::default() };
    recorder.change_roster(RosterChange::Player(player));
    let drawn = pawns.iter().filter(|(_, role, drawn)| {
        **role == NetRole::SimulatedProxy && drawn.pose.alive && drawn.stamp != ViewStamp::Present
    });
    view.stamps.clear();
    view.stamps.extend(drawn.map(|(id, _, drawn)| (*id, drawn.stamp)));
    (view.player, view.own, view.time, view.bases) = (PlayerNumber::default(), tick.0, time, bases.0);
    view.is_complete = true;
    recorder.view(&view);
}

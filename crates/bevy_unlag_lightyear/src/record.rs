//! Recording of a match on the server: what was sent to whom, moves, acknowledgements, shots with their verdicts.

mod acks;
mod explanation;
mod marks;
mod moves;
mod recording;
mod roster;
mod screen;
mod sent_rows;
mod setup;
mod shots;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BaseScheduleMailbox, CurrentTick, MoveSystems, TickSystems};
use bevy_unlag_record::Extra;
use bevy_unlag_weapons::{Died, ShotResolved, WeaponSystems};

pub use explanation::{ExplainedShot, ExplanationScene, ShotExplainer, TargetsScreen};
pub use marks::RecordMark;
pub(crate) use moves::record_model;
pub use recording::MatchRecording;
pub use screen::{RecordScreenPlugin, ScreenRecording};
pub use setup::current_record_setup;
pub(crate) use setup::stream_setup;
pub use shots::shot_detail;

use crate::system_sets::{NetSystems, SendSystems};

/// Records matches on a server: see [`MatchRecording`]. Add it after
/// [`UnlagServerNetPlugin`](crate::UnlagServerNetPlugin), with or after the plugins of the characters. Without a
/// recording in progress it costs next to nothing.
///
/// In the book: *Recordings*, `book/src/reference/recording.md`.
#[doc(alias = "DemoNetDriver")]
#[doc(alias = "tv_record")]
#[derive(Clone, PartialEq, Debug)]
pub struct RecordPlugin {
    /// Name and version of the game, for people. Default: empty.
    pub game: String,
    /// Name of the level, by which the game finds it again. Default: empty. [`MatchRecording::set_level`] changes it.
    pub level: String,
    /// Length of the ring of the last seconds in memory, which is kept from the first frame on. Default: 0, and there
    /// is no ring. Costs as much memory as a file of that length.
    pub ring: Duration,
    /// Most segments that wait for the disk; beyond them whole segments are left out. Default: 16. Raising it bridges
    /// longer pauses of a disk and costs up to 256 KiB each.
    pub queue: usize,
    /// Length of a segment. Default: 2 s. As much is lost when power fails; shorter ones cost a few bytes more.
    pub segment: Duration,
}

impl Default for RecordPlugin {
    fn default() -> Self {
        Self {
            game: String::new(),
            level: String::new(),
            ring: Duration::ZERO,
            queue: 16,
            segment: Duration::from_secs(2),
        }
    }
}

impl Plugin for RecordPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(MatchRecording::new(self.clone()))
            .add_message::<RecordMark>()
            .add_message::<Died>()
            .add_message::<ShotResolved>()
            .add_systems(
                First,
                (
                    recording::start.run_if(|recording: Res<MatchRecording>| recording.has_requests()),
                    recording::report_errors,
                )
                    .chain(),
            )
            .add_systems(
                FixedFirst,
                begin_tick.in_set(TickSystems).after(MoveSystems::AdvanceTick).run_if(is_recording),
            )
            .add_systems(
                FixedPostUpdate,
                (acks::record, shots::record)
                    .in_set(TickSystems)
                    .after(WeaponSystems::AdvanceProjectiles)
                    .run_if(is_recording),
            )
            .add_systems(
                FixedLast,
                marks::record_deaths.in_set(TickSystems).after(WeaponSystems::ApplyDamage),
            )
            .add_systems(
                PostUpdate,
                (roster::follow.run_if(is_recording), marks::record)
                    .chain()
                    .before(SendSystems::Snapshots)
                    .before(NetSystems::AnnounceHidden),
            );
    }
}

pub(crate) fn is_recording(recording: Option<Res<MatchRecording>>) -> bool {
    recording.is_some_and(|recording| recording.is_recording())
}

/// Begins a tick. Each segment starts with the schedules of movement bases, so that it needs no earlier one.
fn begin_tick(
    tick: Res<CurrentTick>,
    schedules: Res<BaseScheduleMailbox>,
    mut recording: ResMut<MatchRecording>,
    mut segment: Local<Option<u32>>,
) {
    let Some(recorder) = recording.recorder() else { return };
    recorder.begin_tick(tick.0);
    if *segment != Some(recorder.segment_number()) {
        *segment = Some(recorder.segment_number());
        for message in schedules.published() {
            recorder.extra(&Extra { channel: Extra::BASE_SCHEDULE, bytes: message.to_vec() });
        }
    }
}

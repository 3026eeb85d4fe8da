//! Marks of the game, and of deaths.

use std::borrow::Cow;

use bevy::prelude::*;
use bevy_unlag_core::NetId;
use bevy_unlag_record::Mark;
use bevy_unlag_weapons::Died;

use super::MatchRecording;

/// Marks a moment of the match in its recording, by which people find it again; written on the server. Without a
/// recording it has no effect. Deaths are marked by themselves, as `death` of the victim and its killer.
#[derive(Message, Clone, PartialEq, Debug, Default, Reflect)]
#[reflect(Message, Debug, Default)]
pub struct RecordMark {
    /// Name of its kind, such as `flag captured`; at most 64 bytes are kept.
    pub name: Cow<'static, str>,
    /// Pawn that it is about.
    pub pawn: Option<Entity>,
    /// Other pawn that took part.
    pub other: Option<Entity>,
    /// Data of the game; at most 8 KiB are kept.
    pub bytes: Vec<u8>,
}

/// Records the marks of the frame, in its last tick.
pub(super) fn record(
    mut marks: MessageReader<RecordMark>,
    names: Query<&NetId>,
    mut recording: ResMut<MatchRecording>,
) {
    for mark in marks.read() {
        write(mark, &names, &mut recording);
    }
}

/// Records the deaths of the tick.
pub(super) fn record_deaths(
    mut deaths: MessageReader<Died>,
    names: Query<&NetId>,
    mut recording: ResMut<MatchRecording>,
) {
    for death in deaths.read() {
        let (pawn, other) = (Some(death.victim), death.killer);
        write(&RecordMark { name: "death".into(), pawn, other, ..default() }, &names, &mut recording);
    }
}

/// Records a mark, if a recording is in progress.
fn write(mark: &RecordMark, names: &Query<&NetId>, recording: &mut ResMut<MatchRecording>) {
    let id = |pawn: Option<Entity>| names.get(pawn?).ok().copied();
    if let Some(recorder) = recording.bypass_change_detection().recorder() {
        recorder.mark(&Mark {
            name: mark.name.clone().into_owned(),
            pawn: id(mark.pawn),
            other: id(mark.other),
            bytes: mark.bytes.clone(),
        });
    }
}

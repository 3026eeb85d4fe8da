//! Shots with their verdicts.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewStamp, ViewTime, WireError};
use bevy_unlag_record::{
    PlayerNumber, RecordedHit, RecordedShot, RecordedVerdict, RecordedView, Roster, ShotOutcome,
};
use bevy_unlag_rewind::StampOverride;
use bevy_unlag_weapons::{JournalShot, ShotDetail, ShotJournal, ShotResolved, ShotResult, ShotTimes};

use super::MatchRecording;

/// Records the shots of this tick, and the verdicts that belong to none of them.
pub(super) fn record(
    mut resolved: MessageReader<ShotResolved>,
    mut journal: ResMut<ShotJournal>,
    names: Query<&NetId>,
    mut recording: ResMut<MatchRecording>,
) {
    let Some(recorder) = recording.recorder() else { return };
    for found in resolved.read() {
        let is_of =
            |shot: &JournalShot| shot.shooter == found.shooter && shot.verdict.shot == found.verdict.shot;
        let launched = found.verdict.result == ShotResult::Launched;
        if !launched
            && !journal.0.iter().any(|shot| is_of(shot) && shot.verdict == found.verdict)
            && let Ok(shooter) = names.get(found.shooter)
        {
            recorder.verdict(&RecordedVerdict {
                shooter: *shooter,
                shot: found.verdict.shot,
                outcome: outcome(&found.verdict.result),
            });
        }
    }
    for shot in journal.0.drain(..) {
        let shot = recorded(&shot, recorder.roster());
        recorder.shot(&shot);
    }
}

/// Returns the verdict as it is recorded.
fn outcome(result: &ShotResult) -> ShotOutcome {
    match result {
        ShotResult::Miss => ShotOutcome::Miss,
        ShotResult::Hit(list) => ShotOutcome::of(list.iter().map(|count| RecordedHit {
            target: count.target,
            head: count.head,
            body: count.body,
            limb: count.limb,
        })),
        ShotResult::Refused(why) => ShotOutcome::Refused(*why as u8),
        ShotResult::Launched => ShotOutcome::Launched,
    }
}

fn recorded(shot: &JournalShot, roster: &Roster) -> RecordedShot {
    let player = roster.player_of(shot.id).map_or(PlayerNumber(u16::MAX), |player| player.number);
    let own = shot.verdict.shot;
    let claimed = shot.seen.time.map(|time| RecordedView {
        player,
        own,
        time,
        bases: shot.seen.bases,
        is_complete: false,
        stamps: shot.seen.overrides().iter().map(|named| (named.target, stamp(named, time))).collect(),
    });
    let used = shot.detail.view.as_ref().map(|view| view.time);
    RecordedShot {
        shooter: shot.id,
        shot: own,
        weapon: shot.weapon.0,
        arrived: shot.arrived,
        claimed,
        used,
        eye: shot.eye,
        direction: shot.detail.cone.aim.direction(),
        clamped: shot.verdict.clamped,
        outcome: outcome(&shot.verdict.result),
        detail: shot.detail.pack(&ShotTimes { own, seen: shot.seen.time, used }),
    }
}

/// Returns how the screen drew a target, as the shot claims: even if no honest screen can have done so.
fn stamp(named: &StampOverride, time: ViewTime) -> ViewStamp {
    let time = time.later(i64::from(named.shift));
    match named.to {
        Some(to) => ViewStamp::Interpolated { from: named.from, to, time },
        None => ViewStamp::Extrapolated { from: named.from, time },
    }
}

/// Returns the detail of a recorded shot, for a playback or to resolve it again.
///
/// # Errors
/// Returns a [`WireError`] if another weapons crate has recorded it.
pub fn shot_detail(shot: &RecordedShot) -> Result<ShotDetail, WireError> {
    let seen = shot.claimed.as_ref().map(|view| view.time);
    ShotDetail::unpack(&shot.detail, &ShotTimes { own: shot.shot, seen, used: shot.used })
}

//! Recording of a match as a trace: a process for each player, and one for the server.

use std::io::{Read, Seek, Write};

use bevy_unlag::{
    core::{MoveModel, NetId, PawnModel, Tick},
    movement::KartModel,
    prelude::*,
    record::{Entry, MoveTrack, RecordError, RecordedMove, Recording, Segment, ShotOutcome},
};
use serde_json::json;

use super::{TraceWriter, clients};
use crate::{
    hero::Hero,
    recorded_names::{cause_name, outcome_name, refusal_name},
};

/// Rows of a player.
pub(super) const ROWS: [&str; 6] = ["moves", "packets", "sent to it", "drawn", "corrected", "shots"];
/// Process of the server: no pawn has this id.
const SERVER: u32 = 0;

/// A move without its input.
type Ran = RecordedMove<()>;

/// Writes all segments of a recording. Each player's process has the number of its pawn; times are seconds from the
/// first tick.
///
/// # Errors
/// Returns the error of the recording, or that of the output.
pub fn write_recording<R: Read + Seek, W: Write>(
    recording: &mut Recording<R>,
    trace: &mut TraceWriter<W>,
) -> Result<(), RecordError> {
    let (first, _) = recording.span().ok_or(RecordError::Empty)?;
    let models = recording.setup().characters.clone();
    let second = f64::from(recording.setup().sampler.0.tick_seconds);
    let mut export = Export { trace, first, second, models, named: Vec::new() };
    export.trace.name(SERVER, "server", &["marks"])?;
    for index in 0..recording.segments().len() {
        match recording.segment(index) {
            Ok(segment) => export.segment(&segment)?,
            Err(RecordError::Io(error)) => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(())
}

struct Export<'a, W: Write> {
    trace: &'a mut TraceWriter<W>,
    first: Tick,
    second: f64,
    models: Vec<String>,
    named: Vec<NetId>,
}

impl<W: Write> Export<'_, W> {
    fn seconds(&self, tick: Tick) -> f64 {
        f64::from(tick.since(self.first)) * self.second
    }

    fn segment(&mut self, segment: &Segment) -> std::io::Result<()> {
        let mut roster = segment.roster.clone();
        for (tick, entry) in segment.entries() {
            if let Entry::Roster(change) = entry {
                roster.apply(change);
            }
            for player in roster.players() {
                let Some(pawn) = player.pawn.filter(|pawn| !self.named.contains(pawn)) else { continue };
                self.named.push(pawn);
                let name = match player.name.as_str() {
                    "" => format!("player {}", pawn.0),
                    name => name.to_owned(),
                };
                let rows: Vec<&str> = ROWS.iter().chain(&clients::ROWS).copied().collect();
                self.trace.name(pawn.0.into(), &name, &rows)?;
            }
            let pawn_of = |number| roster.player(number).and_then(|player| player.pawn);
            self.entry(tick, entry, &pawn_of)?;
        }
        for track in &segment.moves {
            let model = roster.pawn(track.pawn).or_else(|| segment.roster.pawn(track.pawn));
            let model = model.and_then(|pawn| self.models.get(usize::from(pawn.model)));
            let Some(moves) = model.and_then(|model| moves_of(track, model)) else { continue };
            for ran in moves {
                let name = if ran.is_substituted { "missing" } else { "move" };
                let at = (self.seconds(ran.ran), self.second);
                self.trace.span((track.pawn.0.into(), 1), name, at, &json!({ "own": ran.own.0 }))?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        tick: Tick,
        entry: &Entry,
        pawn_of: &dyn Fn(bevy_unlag::record::PlayerNumber) -> Option<NetId>,
    ) -> std::io::Result<()> {
        let at = self.seconds(tick);
        let row = |pawn: NetId, row: u32| (u32::from(pawn.0), row);
        match entry {
            Entry::Acks(acks) => {
                for found in acks {
                    let Some(pawn) = pawn_of(found.player) else { continue };
                    let newest = found.ack.last_received_snapshot.map(|tick| tick.0);
                    let args = json!({ "own": found.ack.own.0, "newest snapshot": newest });
                    self.trace.instant(row(pawn, 2), "packet", at, &args)?;
                }
            }
            Entry::Publication(publication) => {
                for (player, _) in &publication.recipients {
                    let Some(pawn) = pawn_of(*player) else { continue };
                    let pawns = publication.sent_to(*player).count();
                    self.trace.instant(row(pawn, 3), "snapshots", at, &json!({ "pawns": pawns }))?;
                }
            }
            Entry::Hidden(notice) => {
                if let Some(pawn) = pawn_of(notice.player) {
                    let args = json!({ "pawns": notice.pawns.len() });
                    self.trace.instant(row(pawn, 3), "hidden", at, &args)?;
                }
            }
            Entry::View(view) => {
                if let Some(pawn) = pawn_of(view.player) {
                    let age = tick.since(view.time.tick);
                    let args =
                        json!({ "own": view.own.0, "view tick": view.time.tick.0, "age in ticks": age });
                    self.trace.instant(row(pawn, 4), "view", at, &args)?;
                }
            }
            Entry::Correction(found) => {
                let cause = cause_name(found.cause).map_or_else(|| found.cause.to_string(), str::to_owned);
                let args = json!({ "own": found.own.0, "metres": found.error });
                self.trace.instant(row(found.pawn, 5), &cause, at, &args)?;
            }
            Entry::Shot(shot) => {
                let view = shot.claimed.as_ref();
                if let Some(view) = view {
                    let args = json!({ "own": view.own.0, "view tick": view.time.tick.0 });
                    self.trace.instant(row(shot.shooter, 4), "view", at, &args)?;
                }
                let args = json!({
                    "shot": shot.shot.0, "arrived": shot.arrived.0, "clamped": shot.clamped,
                    "claimed view": view.map(|view| view.time.tick.0),
                    "used view": shot.used.map(|used| used.tick.0), "outcome": outcome(&shot.outcome),
                });
                self.trace.instant(row(shot.shooter, 6), outcome_name(&shot.outcome), at, &args)?;
            }
            Entry::Verdict(verdict) => {
                let args = json!({ "shot": verdict.shot.0, "outcome": outcome(&verdict.outcome) });
                self.trace.instant(row(verdict.shooter, 6), outcome_name(&verdict.outcome), at, &args)?;
            }
            Entry::Mark(mark) => {
                let args =
                    json!({ "pawn": mark.pawn.map(|pawn| pawn.0), "other": mark.other.map(|pawn| pawn.0) });
                self.trace.instant((SERVER, 1), &mark.name, at, &args)?;
            }
            Entry::Roster(_) | Entry::Extra(_) => {}
        }
        Ok(())
    }
}

fn outcome(outcome: &ShotOutcome) -> String {
    match outcome {
        ShotOutcome::Refused(reason) => refusal_name(*reason).unwrap_or_else(|| reason.to_string()),
        _ => {
            let hits: Vec<String> = outcome.hits().iter().map(|hit| hit.target.0.to_string()).collect();
            hits.join(", ")
        }
    }
}

/// Returns the moves of a track of the models that the shooter has.
fn moves_of(track: &MoveTrack, model: &str) -> Option<Vec<Ran>> {
    of_model::<Soldier>(track, model)
        .or_else(|| of_model::<Hero>(track, model))
        .or_else(|| of_model::<KartModel>(track, model))
}

fn of_model<M: MoveModel>(track: &MoveTrack, model: &str) -> Option<Vec<Ran>> {
    if model != PawnModel::of::<M>().name() {
        return None;
    }
    let moves = track.moves::<M::Input>().ok()?.into_iter();
    Some(
        moves
            .map(|RecordedMove { ran, own, is_substituted, .. }| Ran { ran, own, input: (), is_substituted })
            .collect(),
    )
}

//! Summary of a recording as one JSON object.

use std::{fs::File, io::BufReader, path::Path};

use bevy_unlag::{
    core::{NetId, Tick},
    record::{
        FileEnd, IndexedShot, MatchIndex, PlaybackMarkKind, RecordError, RecordSetup, Recording,
        SegmentSizes, ShotOutcome,
    },
};
use serde_json::{Map, Value, json};

use unlag_examples::recorded_names::{UNKNOWN, cause_name, outcome_name, refusal_name};

use crate::shot_view;

/// Returns the object. `explained`: the setup of this build, if each shot is to be explained.
///
/// # Errors
/// Returns the error of the file.
pub fn of(
    recording: &mut Recording<BufReader<File>>,
    file: &Path,
    explained: Option<&RecordSetup>,
) -> Result<String, RecordError> {
    let (first, last) = recording.span().ok_or(RecordError::Empty)?;
    let index = MatchIndex::of(recording)?;
    let bytes = bytes_by_kind(recording);
    let setup = recording.setup();
    let second = f64::from(setup.sampler.0.tick_seconds);
    let seconds = |tick: Tick| (f64::from(tick.since(first)) * second * 1e3).round() / 1e3;
    let weapon = |number: u8| setup.weapons.get(usize::from(number)).cloned();
    let explanations = match explained {
        Some(own) => shot_view::explain_all(file, own, &index)?,
        None => Vec::new(),
    };
    let shot = |at: usize, shot: &IndexedShot| {
        let mut object = json!({
            "seconds": seconds(shot.tick),
            "tick": shot.tick.0,
            "shooter": index.name_of(shot.shooter),
            "shot": shot.shot.0,
            "weapon": shot.weapon.and_then(weapon),
            "verdict": outcome_name(&shot.outcome),
            "hits": shot.outcome.hits().iter().map(|hit| json!({
                "target": index.name_of(hit.target), "head": hit.head, "body": hit.body, "limb": hit.limb,
            })).collect::<Vec<_>>(),
        });
        if let ShotOutcome::Refused(reason) = shot.outcome {
            object["reason"] = json!(refusal_name(reason).as_deref().unwrap_or(UNKNOWN));
        }
        if let Some(ended) = shot.ended {
            object["ended"] = json!(seconds(ended));
        }
        if let Some(Some(explanation)) = explanations.get(at) {
            object["explanation"] = explanation.clone();
        }
        object
    };
    let shots: Vec<Value> = index.shots().iter().enumerate().map(|(at, one)| shot(at, one)).collect();
    let players = index.players().map(|player| {
        let pawn = player.player.pawn;
        let name = pawn.map_or_else(|| player.player.name.clone(), |pawn| index.name_of(pawn));
        json!({
            "name": name, "pawn": pawn.map(|pawn| pawn.0), "peer": player.player.peer,
            "from": seconds(player.first), "to": seconds(player.last),
        })
    });
    let name = |pawn: Option<NetId>| pawn.map(|pawn| index.name_of(pawn));
    let (mut kills, mut corrections, mut refusals, mut marks) = (vec![], vec![], vec![], vec![]);
    for mark in index.marks() {
        let at = seconds(mark.tick);
        match &mark.kind {
            PlaybackMarkKind::Death => {
                kills.push(json!({ "seconds": at, "victim": name(mark.pawn), "killer": name(mark.other) }));
            }
            PlaybackMarkKind::Correction { cause, error } => corrections.push(json!({
                "seconds": at, "player": name(mark.pawn), "cause": cause_name(*cause).unwrap_or(UNKNOWN),
                "metres": error,
            })),
            PlaybackMarkKind::Refusal { reason } => refusals.push(json!({
                "seconds": at, "shooter": name(mark.pawn),
                "reason": refusal_name(*reason).as_deref().unwrap_or(UNKNOWN),
            })),
            PlaybackMarkKind::Game(text) => marks.push(json!({
                "seconds": at, "name": text, "pawn": name(mark.pawn), "other": name(mark.other),
            })),
        }
    }
    let mut counts = Map::new();
    for kind in ["hit", "miss", "refused", "launched"] {
        let of_kind = index.shots().iter().filter(|shot| outcome_name(&shot.outcome) == kind);
        counts.insert(kind.to_owned(), json!(of_kind.count()));
    }
    let object = json!({
        "game": setup.game, "level": setup.level, "started": setup.started,
        "seconds": seconds(last), "ticks": last.since(first) + 1,
        "is_cut": recording.end() == FileEnd::Cut,
        "missing_segments": recording.missing_segments(), "skipped_bytes": recording.skipped_bytes(),
        "is_truncated": index.is_truncated(), "bytes": bytes,
        "players": players.collect::<Vec<_>>(),
        "verdicts": counts, "shots": shots, "kills": kills, "corrections": corrections, "refusals": refusals,
        "marks": marks,
    });
    Ok(object.to_string())
}

/// Returns the bytes of the file before compression, by what they hold.
fn bytes_by_kind(recording: &mut Recording<BufReader<File>>) -> Map<String, Value> {
    let mut sizes = SegmentSizes::default();
    for index in 0..recording.segments().len() {
        // Damaged ones are counted as missing.
        recording.sizes(index).into_iter().for_each(|of_segment| sizes += of_segment);
    }
    sizes.iter().map(|(name, bits)| (name.to_owned(), json!(bits.div_ceil(8)))).collect()
}

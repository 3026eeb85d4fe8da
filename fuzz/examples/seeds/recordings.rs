//! Seeds of recordings: small files, and the contents of their chunks.

use std::{fs, io};

use bevy::math::Vec3;
use bevy_unlag_core::{NetId, ProxyUpdate, Snapshot, SnapshotAck, Tick, ViewStamp, ViewTime};
use bevy_unlag_record::{
    Extra, HiddenNotice, Mark, MatchRecorder, MoveRecorder, PlayerAck, PlayerNumber, RecordSetup,
    RecordedCorrection, RecordedHit, RecordedPawn, RecordedPlayer, RecordedShot, RecordedVerdict,
    RecordedView, RecorderConfig, RosterChange, ShotOutcome,
};

/// Records two players for some ticks, with every kind of entry.
fn record(recorder: &mut MatchRecorder, ticks: u32) {
    let mut moves = [MoveRecorder::<u32>::default(); 2];
    for tick in (0..ticks).map(|tick| Tick(tick + 500)) {
        recorder.begin_tick(tick);
        for number in 0..2 {
            let id = NetId(number);
            recorder.change_roster(RosterChange::Pawn(RecordedPawn { id, ..RecordedPawn::default() }));
            let player =
                RecordedPlayer { number: PlayerNumber(number), pawn: Some(id), ..RecordedPlayer::default() };
            recorder.change_roster(RosterChange::Player(player));
            moves[usize::from(number)].record(recorder, id, tick.offset(-4), tick.0 / 5, false);
        }
        let ack = SnapshotAck {
            own: tick.offset(-4),
            arrived: tick,
            last_received_snapshot: Some(tick.offset(-9)),
        };
        recorder.acks(&[PlayerAck { player: PlayerNumber(1), ack }]);
        if tick.0.is_multiple_of(3) {
            let updates: Vec<(NetId, ProxyUpdate)> = (0..2)
                .map(|id| {
                    let at = Snapshot::new(tick, Vec3::new(tick.0 as f32 * 0.1, 0.0, 1.0), Vec3::X * 6.4);
                    (NetId(id), ProxyUpdate::new(at, &[Snapshot { tick: tick.offset(-1), ..at }]))
                })
                .collect();
            let sent: &[bool] = if tick.0.is_multiple_of(2) { &[false, true] } else { &[true, true] };
            recorder.publish(updates.iter().map(|(id, update)| (*id, update)), |_| (sent, false));
        }
        let time = ViewTime { tick: tick.offset(-9), fraction: 9 };
        let stamps = vec![
            (NetId(0), ViewStamp::Extrapolated { from: tick.offset(-12), time }),
            (NetId(1), ViewStamp::Interpolated { from: tick.offset(-12), to: tick.offset(-6), time }),
        ];
        let view = RecordedView { time, own: tick.offset(-4), stamps, ..RecordedView::default() };
        match tick.0 % 8 {
            0 => recorder.view(&view),
            1 => recorder.hidden(&HiddenNotice {
                pawns: vec![NetId(1)],
                since: tick,
                ..HiddenNotice::default()
            }),
            2 => recorder.mark(&Mark { name: "flag".to_owned(), pawn: Some(NetId(1)), ..Mark::default() }),
            3 => recorder.extra(&Extra { channel: Extra::BASE_SCHEDULE, bytes: vec![1, 2, 3] }),
            4 => recorder.correction(&RecordedCorrection { error: 0.1, ..RecordedCorrection::default() }),
            5 => recorder.verdict(&RecordedVerdict { shot: tick, ..RecordedVerdict::default() }),
            6 => recorder.shot(&RecordedShot {
                claimed: Some(view),
                outcome: ShotOutcome::of([RecordedHit {
                    target: NetId(1),
                    head: 1,
                    ..RecordedHit::default()
                }]),
                detail: vec![7; 9],
                ..RecordedShot::default()
            }),
            _ => recorder.change_roster(RosterChange::PawnGone(NetId(0))),
        }
    }
}

/// Returns files and contents of chunks, each after the byte that tells them apart.
pub fn recordings() -> io::Result<Vec<(String, Vec<u8>)>> {
    let path = std::env::temp_dir().join(format!("unlag_fuzz_{}.unlagrec", std::process::id()));
    let mut seeds = Vec::new();
    for (name, ticks, segment_ticks) in [("one_segment", 24, 64), ("segments", 40, 10)] {
        let config = RecorderConfig { segment_ticks, ..RecorderConfig::default() };
        let mut recorder =
            MatchRecorder::new(RecordSetup { level: "yard".to_owned(), ..RecordSetup::default() }, config);
        recorder.open_file(&path);
        record(&mut recorder, ticks);
        drop(recorder);
        let file = fs::read(&path)?;
        seeds.push((format!("{name}_cut"), [&[0], &file[..file.len() - 30]].concat()));
        seeds.push((format!("{name}_file"), [&[0], &file[..]].concat()));
        seeds.extend(
            contents(&file).map(|(at, content)| (format!("{name}_{at}"), [&[1], &content[..]].concat())),
        );
    }
    fs::remove_file(&path)?;
    Ok(seeds)
}

/// Returns the contents of a file's segments, decompressed.
fn contents(file: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let mut recording =
        bevy_unlag_record::Recording::read(io::Cursor::new(file.to_vec())).expect("a recording of ours");
    let count = recording.segments().len();
    (0..count).filter_map(move |at| Some((at, recording.content(at).ok()?)))
}

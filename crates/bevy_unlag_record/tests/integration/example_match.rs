//! A small match with every kind of entry, from a seed.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ProxySmoothing, ProxyUpdate, Snapshot, SnapshotAck, Tick, ViewStamp, ViewTime};
use bevy_unlag_record::*;
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Ticks between two updates.
pub const INTERVAL: u32 = 3;

/// Path of a file that is removed at the end of a test.
pub struct TempFile(pub PathBuf);

impl TempFile {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bevy_unlag_record_{}_{number}.unlagrec", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn setup() -> RecordSetup {
    RecordSetup {
        protocol: 16,
        tick_nanos: 15_625_000,
        level: "yard".to_owned(),
        characters: vec!["Soldier".to_owned()],
        weapons: vec!["rifle".to_owned()],
        ..RecordSetup::default()
    }
}

/// Everything that was recorded, as a reader should find it.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Expected {
    pub entries: Vec<(Tick, Entry)>,
    pub moves: Vec<(NetId, RecordedMove<u32>)>,
}

/// A match that goes on tick by tick.
pub struct ExampleMatch {
    pub recorder: MatchRecorder,
    pub expected: Expected,
    pub tick: Tick,
    players: u16,
    rng: SmallRng,
    moves: Vec<MoveRecorder<u32>>,
    inputs: Vec<u32>,
    began: bool,
}

impl ExampleMatch {
    pub fn new(players: u16, first: Tick, config: RecorderConfig) -> Self {
        Self {
            recorder: MatchRecorder::new(setup(), config),
            expected: Expected::default(),
            tick: first,
            players,
            rng: SmallRng::seed_from_u64(7),
            moves: vec![MoveRecorder::default(); usize::from(players)],
            inputs: vec![0; usize::from(players)],
            began: false,
        }
    }

    fn expect(&mut self, entry: Entry) {
        self.expected.entries.push((self.tick, entry));
    }

    fn change_roster(&mut self, change: RosterChange) {
        self.recorder.change_roster(change.clone());
        self.expect(Entry::Roster(change));
    }

    /// Returns a path of a pawn with corners, deaths and teleports.
    pub fn snapshot(id: NetId, tick: Tick) -> Snapshot {
        let t = tick.0 as f32 / 64.0;
        let phase = t * 1.3 + f32::from(id.0);
        let position = Vec3::new(phase.cos() * 9.0, 1.0, phase.sin() * 9.0);
        let velocity = Vec3::new(-phase.sin(), 0.0, phase.cos()) * 11.7;
        Snapshot {
            yaw: tick.0.wrapping_mul(37) as u16,
            alive: tick.0 / 200 % 5 != 4,
            teleports: (tick.0 / 150) as u8,
            ..Snapshot::new(tick, position, velocity)
        }
        .quantised()
    }

    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.step();
            self.tick = self.tick.offset(1);
        }
    }

    fn step(&mut self) {
        let tick = self.tick;
        self.recorder.begin_tick(tick);
        if !self.began {
            self.began = true;
            for number in 0..self.players {
                let smoothing = (number == 1).then_some(ProxySmoothing::Linear);
                let pawn = RecordedPawn { id: NetId(number * 3), smoothing, ..RecordedPawn::default() };
                self.change_roster(RosterChange::Pawn(pawn));
                let player = RecordedPlayer {
                    number: PlayerNumber(number),
                    peer: u64::from(number) + 100,
                    name: format!("player {number}"),
                    pawn: Some(NetId(number * 3)),
                };
                self.change_roster(RosterChange::Player(player));
            }
        }
        self.moves();
        self.acks();
        if tick.0.is_multiple_of(INTERVAL) {
            self.publish();
        }
        self.rare_entries();
    }

    fn moves(&mut self) {
        for player in 0..usize::from(self.players) {
            if self.rng.random_bool(0.02) {
                continue;
            }
            if self.rng.random_bool(0.3) {
                self.inputs[player] = self.rng.random();
            }
            let pawn = NetId(player as u16 * 3);
            let is_substituted = self.rng.random_bool(0.01);
            let own = self.tick.offset(-5 - i32::from(is_substituted));
            let now = RecordedMove { ran: self.tick, own, input: self.inputs[player], is_substituted };
            self.moves[player].record(&mut self.recorder, pawn, own, now.input, is_substituted);
            self.expected.moves.push((pawn, now));
        }
    }

    fn acks(&mut self) {
        let mut acks = Vec::new();
        for player in 0..self.players {
            let packets = if self.rng.random_bool(0.9) { 1 } else { self.rng.random_range(0..4) };
            for packet in 0..packets {
                let received = Tick(self.tick.0 / 3 * 3).offset(-9);
                let ack = SnapshotAck {
                    own: self.tick.offset(packet - 4),
                    arrived: self.tick,
                    last_received_snapshot: (!self.tick.0.is_multiple_of(50)).then_some(received),
                };
                acks.push(PlayerAck { player: PlayerNumber(player), ack });
            }
        }
        self.recorder.acks(&acks);
        if !acks.is_empty() {
            self.expect(Entry::Acks(acks));
        }
    }

    fn publish(&mut self) {
        let updates: Vec<(NetId, ProxyUpdate)> = (0..self.players)
            .map(|number| {
                let id = NetId(number * 3);
                let knot = Self::snapshot(id, self.tick.offset(-1));
                let knots = [knot];
                let knots = if self.rng.random_bool(0.1) { &knots[..] } else { &[] };
                (id, ProxyUpdate::new(Self::snapshot(id, self.tick), knots))
            })
            .collect();
        // Now and then a player is sent only some of them.
        let scarce = self.rng.random_bool(0.2).then(|| self.rng.random_range(0..self.players));
        let is_sent = |player: PlayerNumber, at: usize| {
            at != usize::from(player.0) && !(Some(player.0) == scarce && at.is_multiple_of(2))
        };
        let flags: Vec<Vec<bool>> = (0..self.players)
            .map(|player| (0..updates.len()).map(|at| is_sent(PlayerNumber(player), at)).collect())
            .collect();
        let sent = |player: PlayerNumber| (&flags[usize::from(player.0)][..], Some(player.0) == scarce);
        self.recorder.publish(updates.iter().map(|(id, update)| (*id, update)), sent);
        let recipients = (0..self.players).map(PlayerNumber).map(|player| {
            let flags: Vec<bool> = (0..updates.len()).map(|at| is_sent(player, at)).collect();
            let all_but_own =
                flags.iter().enumerate().all(|(at, sent)| *sent == (at != usize::from(player.0)));
            let own = Some(NetId(player.0 * 3));
            (
                player,
                if all_but_own {
                    Recipients::AllButOwn(own)
                } else {
                    Recipients::Some { sent: flags, over_budget: Some(player.0) == scarce }
                },
            )
        });
        self.expect(Entry::Publication(Publication { recipients: recipients.collect(), updates }));
    }

    fn rare_entries(&mut self) {
        let tick = self.tick;
        let time = ViewTime { tick: tick.offset(-12), fraction: 77 };
        let view = RecordedView {
            player: PlayerNumber(0),
            own: tick.offset(-5),
            time,
            is_complete: tick.0 % 80 == 3,
            bases: tick.0.is_multiple_of(2).then_some(ViewTime::at(tick.offset(-6))),
            stamps: vec![
                (NetId(3), ViewStamp::Interpolated { from: tick.offset(-18), to: tick.offset(-9), time }),
                (NetId(6), ViewStamp::Extrapolated { from: tick.offset(-15), time }),
            ],
        };
        if tick.0 % 40 == 3 {
            self.recorder.view(&view);
            self.expect(Entry::View(view.clone()));
        }
        if tick.0 % 30 == 5 {
            let hit = RecordedHit { target: NetId(3), head: 1, body: 0, limb: 2 };
            let outcomes = [
                ShotOutcome::Miss,
                ShotOutcome::of([hit, RecordedHit { target: NetId(6), ..hit }]),
                ShotOutcome::Refused(4),
                ShotOutcome::Launched,
            ];
            let shot = RecordedShot {
                shooter: NetId(0),
                shot: tick.offset(-5),
                weapon: 3,
                arrived: tick.offset(-1),
                claimed: (tick.0 % 60 == 5).then_some(view),
                used: Some(time),
                eye: Vec3::new(1.0, 1.6, -2.0),
                direction: Vec3::NEG_Z,
                clamped: tick.0 % 60 == 5,
                outcome: outcomes[(tick.0 / 30 % 4) as usize],
                detail: vec![1, 2, 3],
            };
            self.recorder.shot(&shot);
            self.expect(Entry::Shot(Box::new(shot)));
        }
        if tick.0 % 90 == 7 {
            let verdict =
                RecordedVerdict { shooter: NetId(0), shot: tick.offset(-70), outcome: ShotOutcome::Miss };
            self.recorder.verdict(&verdict);
            self.expect(Entry::Verdict(verdict));
            let correction =
                RecordedCorrection { pawn: NetId(3), own: tick.offset(-4), cause: 5, error: 0.25 };
            self.recorder.correction(&correction);
            self.expect(Entry::Correction(correction));
            let mark = Mark {
                name: "kill".to_owned(),
                pawn: Some(NetId(3)),
                other: Some(NetId(0)),
                bytes: b"headshot".to_vec(),
            };
            self.recorder.mark(&mark);
            self.expect(Entry::Mark(mark));
            let extra = Extra { channel: 200, bytes: vec![9; 40] };
            self.recorder.extra(&extra);
            self.expect(Entry::Extra(extra));
        }
    }
}

/// Reads everything that a recording has.
pub fn read_all<R: std::io::Read + std::io::Seek>(recording: &mut Recording<R>) -> Expected {
    let mut found = Expected::default();
    for index in 0..recording.segments().len() {
        let Ok(segment) = recording.segment(index) else { continue };
        found.entries.extend(segment.entries().map(|(tick, entry)| (tick, entry.clone())));
        let mut moves: Vec<(NetId, RecordedMove<u32>)> = Vec::new();
        for track in &segment.moves {
            let read = track.moves::<u32>().expect("the inputs are numbers");
            moves.extend(read.into_iter().map(|one| (track.pawn, one)));
        }
        // In the order in which they ran.
        moves.sort_by_key(|(pawn, one)| (one.ran.since(segment.first()), *pawn));
        found.moves.extend(moves);
    }
    found
}

/// Records a match into a file, and returns its bytes and what they should contain.
pub fn recorded(players: u16, first: Tick, ticks: u32, config: RecorderConfig) -> (Vec<u8>, Expected) {
    let file = TempFile::new();
    // The ticks follow each other without a pause.
    let mut example = ExampleMatch::new(players, first, RecorderConfig { queue: 1 << 16, ..config });
    example.recorder.open_file(&file.0);
    example.run(ticks);
    let expected = example.expected.clone();
    drop(example);
    (std::fs::read(&file.0).expect("the file was written"), expected)
}

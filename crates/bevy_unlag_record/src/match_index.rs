//! Index of a whole recording: its players, shots, deaths, corrections, refusals and marks.

use std::{
    collections::BTreeMap,
    io::{Read, Seek},
};

use bevy_unlag_core::{NetId, Tick};

use crate::{
    entry::{Entry, ShotOutcome},
    error::RecordError,
    recording::Recording,
    roster::{PlayerNumber, RecordedPlayer, Roster, RosterChange},
    segment::Segment,
};

/// Most marks of an index. Further ones are left out.
const MOST_MARKS: usize = 1 << 16;
/// Most shots of an index. Further ones are left out.
const MOST_SHOTS: usize = 1 << 18;
/// Most players of an index.
const MOST_PLAYERS: usize = 1 << 12;
/// Name of the marks of deaths.
const DEATH: &str = "death";

/// A player of a recording, and when it was connected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexedPlayer {
    /// The player as it was last.
    pub player: RecordedPlayer,
    /// First tick in which it was connected.
    pub first: Tick,
    /// Last tick in which it was connected.
    pub last: Tick,
}

/// A shot of a recording, without what it takes to explain it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexedShot {
    /// Tick of the server in which it was resolved.
    pub tick: Tick,
    /// The shooter.
    pub shooter: NetId,
    /// Identifier of the shot: the tick of its move, on the shooter's count.
    pub shot: Tick,
    /// Number of the weapon in the setup; `None` for a refused shot that never reached a weapon.
    pub weapon: Option<u8>,
    /// Verdict; of a projectile that has ended, its last one.
    pub outcome: ShotOutcome,
    /// Tick in which a projectile ended.
    pub ended: Option<Tick>,
}

/// Kind of a [`PlaybackMark`].
#[derive(Clone, PartialEq, Debug)]
pub enum PlaybackMarkKind {
    /// A pawn died.
    Death,
    /// The server and the owner of a pawn disagreed about a move.
    Correction {
        /// Cause, as a number of the recording's version: `CorrectionCause` of the prediction crate.
        cause: u8,
        /// Distance between the two results in metres.
        error: f32,
    },
    /// The server refused a shot.
    Refusal {
        /// Reason, as a number of the recording's version: `ShotRefusal` of the weapons crate.
        reason: u8,
    },
    /// A mark of the game, with its name.
    Game(String),
}

/// A moment of a recording by which people find it again.
#[derive(Clone, PartialEq, Debug)]
pub struct PlaybackMark {
    /// Tick of the server.
    pub tick: Tick,
    /// Kind.
    pub kind: PlaybackMarkKind,
    /// Pawn that it is about: the victim of a death, the shooter of a refused shot.
    pub pawn: Option<NetId>,
    /// Other pawn that took part: the killer.
    pub other: Option<NetId>,
}

/// Events of a recording, by which a viewer jumps to a moment. Marks and shots are in the order of their ticks.
/// It takes reading the whole file once: about a second for ten minutes of eight players.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MatchIndex {
    players: BTreeMap<PlayerNumber, IndexedPlayer>,
    shots: Vec<IndexedShot>,
    marks: Vec<PlaybackMark>,
    is_truncated: bool,
    /// Shots whose projectile is in flight, by shooter and identifier.
    flying: BTreeMap<(NetId, u32), usize>,
}

impl MatchIndex {
    /// Reads a whole recording. Segments that are damaged are left out.
    ///
    /// # Errors
    /// Returns the error of the source.
    pub fn of<R: Read + Seek>(recording: &mut Recording<R>) -> Result<Self, RecordError> {
        let mut index = Self::default();
        for at in 0..recording.segments().len() {
            match recording.segment(at) {
                Ok(segment) => index.push(&segment),
                Err(RecordError::Io(error)) => return Err(error.into()),
                Err(_) => {}
            }
        }
        Ok(index)
    }

    /// Adds the next segment.
    pub fn push(&mut self, segment: &Segment) {
        let mut roster = segment.roster.clone();
        self.note_players(&roster, segment.first());
        for (tick, entry) in segment.entries() {
            match entry {
                Entry::Roster(change) => {
                    if matches!(change, RosterChange::PlayerLeft(_)) {
                        self.note_players(&roster, tick);
                    }
                    roster.apply(change);
                    self.note_players(&roster, tick);
                }
                Entry::Shot(shot) => {
                    if shot.outcome == ShotOutcome::Launched {
                        self.flying.insert((shot.shooter, shot.shot.0), self.shots.len());
                    }
                    self.add_shot(IndexedShot {
                        tick,
                        shooter: shot.shooter,
                        shot: shot.shot,
                        weapon: Some(shot.weapon),
                        outcome: shot.outcome,
                        ended: None,
                    });
                }
                Entry::Verdict(verdict) => {
                    let flying = self.flying.remove(&(verdict.shooter, verdict.shot.0));
                    if let Some(launched) = flying.and_then(|at| self.shots.get_mut(at)) {
                        (launched.outcome, launched.ended) = (verdict.outcome, Some(tick));
                    } else {
                        self.add_shot(IndexedShot {
                            tick,
                            shooter: verdict.shooter,
                            shot: verdict.shot,
                            weapon: None,
                            outcome: verdict.outcome,
                            ended: None,
                        });
                    }
                }
                Entry::Correction(found) => {
                    let kind = PlaybackMarkKind::Correction { cause: found.cause, error: found.error };
                    self.add_mark(PlaybackMark { tick, kind, pawn: Some(found.pawn), other: None });
                }
                Entry::Mark(mark) => {
                    let kind = match mark.name.as_str() {
                        DEATH => PlaybackMarkKind::Death,
                        name => PlaybackMarkKind::Game(name.to_owned()),
                    };
                    self.add_mark(PlaybackMark { tick, kind, pawn: mark.pawn, other: mark.other });
                }
                Entry::Publication(_)
                | Entry::Hidden(_)
                | Entry::Acks(_)
                | Entry::View(_)
                | Entry::Extra(_) => {}
            }
        }
        self.note_players(&roster, segment.last());
    }

    fn note_players(&mut self, roster: &Roster, tick: Tick) {
        for player in roster.players() {
            let is_full = self.players.len() >= MOST_PLAYERS;
            match self.players.get_mut(&player.number) {
                Some(known) => {
                    known.last = tick;
                    // A pawn that it has lost is still the one that it played.
                    let pawn = player.pawn.or(known.player.pawn);
                    if known.player.name != player.name || known.player.pawn != pawn {
                        known.player = RecordedPlayer { pawn, ..player.clone() };
                    }
                }
                None if !is_full => {
                    let player = player.clone();
                    self.players.insert(player.number, IndexedPlayer { player, first: tick, last: tick });
                }
                None => self.is_truncated = true,
            }
        }
    }

    fn add_shot(&mut self, shot: IndexedShot) {
        if let ShotOutcome::Refused(reason) = shot.outcome {
            let kind = PlaybackMarkKind::Refusal { reason };
            self.add_mark(PlaybackMark { tick: shot.tick, kind, pawn: Some(shot.shooter), other: None });
        }
        if self.shots.len() < MOST_SHOTS {
            self.shots.push(shot);
        } else {
            self.is_truncated = true;
        }
    }

    fn add_mark(&mut self, mark: PlaybackMark) {
        if self.marks.len() < MOST_MARKS {
            self.marks.push(mark);
        } else {
            self.is_truncated = true;
        }
    }

    /// Returns all players, in the order of their numbers.
    pub fn players(&self) -> impl ExactSizeIterator<Item = &IndexedPlayer> {
        self.players.values()
    }

    /// Returns all shots.
    #[must_use]
    pub fn shots(&self) -> &[IndexedShot] {
        &self.shots
    }

    /// Returns all marks: deaths, corrections, refusals and those of the game.
    #[must_use]
    pub fn marks(&self) -> &[PlaybackMark] {
        &self.marks
    }

    /// Returns whether the recording has more players, shots or marks than an index keeps.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the name of the player of a pawn: as the game has given it, or `player 3` after its network id.
    #[must_use]
    pub fn name_of(&self, pawn: NetId) -> String {
        let owner = self.players.values().find(|player| player.player.pawn == Some(pawn));
        player_name(owner.map(|owner| &owner.player), pawn)
    }

    /// Returns the first shot after a tick.
    #[must_use]
    pub fn shot_after(&self, tick: Tick) -> Option<&IndexedShot> {
        self.shots.iter().find(|shot| shot.tick.is_newer_than(tick))
    }

    /// Returns the last shot before a tick.
    #[must_use]
    pub fn shot_before(&self, tick: Tick) -> Option<&IndexedShot> {
        self.shots.iter().rev().find(|shot| tick.is_newer_than(shot.tick))
    }
}

/// Returns the name of a player, or `player 3` after the network id of its pawn if it has none.
pub(crate) fn player_name(player: Option<&RecordedPlayer>, pawn: NetId) -> String {
    match player {
        Some(player) if !player.name.is_empty() => player.name.clone(),
        _ => format!("player {}", pawn.0),
    }
}

//! Players and pawns of a match at one moment.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, ProxySmoothing, Wire, WireError};

use crate::packing::{read_text, write_text};

/// Most players of a roster, and most pawns.
pub const MAX_ROSTER: usize = 1_024;
/// Longest name of a player, in bytes. Longer ones are cut.
const MAX_NAME: usize = 64;

/// Number of a player within one recording. A player that returns has the same number.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Reflect)]
pub struct PlayerNumber(pub u16);

/// A player who is connected.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedPlayer {
    /// Number within the recording.
    pub number: PlayerNumber,
    /// Peer id of the connection.
    pub peer: u64,
    /// Name, if the game has given one.
    pub name: String,
    /// Pawn that the player controls.
    pub pawn: Option<NetId>,
}

/// A pawn that exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct RecordedPawn {
    /// Network id.
    pub id: NetId,
    /// Index of its movement model among the characters of the setup.
    pub model: u8,
    /// Class.
    pub class: u8,
    /// Team, if it has one.
    pub team: Option<u8>,
    /// Smoothing mode of its own, if it has one.
    pub smoothing: Option<ProxySmoothing>,
}

/// Players and pawns of a match at one moment, both in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roster {
    players: Vec<RecordedPlayer>,
    pawns: Vec<RecordedPawn>,
}

impl Roster {
    /// Returns the players who are connected, in the order of their numbers.
    pub fn players(&self) -> impl ExactSizeIterator<Item = &RecordedPlayer> {
        self.players.iter()
    }

    /// Returns the pawns that exist, in the order of their ids.
    pub fn pawns(&self) -> impl ExactSizeIterator<Item = &RecordedPawn> {
        self.pawns.iter()
    }

    /// Returns a player by its number.
    #[must_use]
    pub fn player(&self, number: PlayerNumber) -> Option<&RecordedPlayer> {
        let at = self.players.binary_search_by_key(&number, |player| player.number).ok()?;
        self.players.get(at)
    }

    /// Returns the player who controls a pawn.
    #[must_use]
    pub fn player_of(&self, pawn: NetId) -> Option<&RecordedPlayer> {
        self.players.iter().find(|player| player.pawn == Some(pawn))
    }

    /// Returns a pawn by its id.
    #[must_use]
    pub fn pawn(&self, id: NetId) -> Option<&RecordedPawn> {
        let at = self.pawns.binary_search_by_key(&id, |pawn| pawn.id).ok()?;
        self.pawns.get(at)
    }

    /// Applies a change. Returns whether it changed anything: the roster has no room for more than
    /// [`MAX_ROSTER`] players or pawns.
    pub fn apply(&mut self, change: &RosterChange) -> bool {
        match change {
            RosterChange::Player(player) => put(&mut self.players, player.clone(), |player| player.number),
            RosterChange::PlayerLeft(number) => {
                let before = self.players.len();
                self.players.retain(|player| player.number != *number);
                self.players.len() != before
            }
            RosterChange::Pawn(pawn) => put(&mut self.pawns, *pawn, |pawn| pawn.id),
            RosterChange::PawnGone(id) => {
                let before = self.pawns.len();
                self.pawns.retain(|pawn| pawn.id != *id);
                self.pawns.len() != before
            }
        }
    }
}

/// Inserts an element in the order of its key, or replaces the one with the same key.
fn put<T: PartialEq, K: Ord>(list: &mut Vec<T>, element: T, key: impl Fn(&T) -> K) -> bool {
    match list.binary_search_by(|known| key(known).cmp(&key(&element))) {
        Ok(at) if list[at] == element => return false,
        Ok(at) => list[at] = element,
        Err(_) if list.len() >= MAX_ROSTER => return false,
        Err(at) => list.insert(at, element),
    }
    true
}

/// Change of a [`Roster`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RosterChange {
    /// A player has joined or returned, or controls another pawn.
    Player(RecordedPlayer),
    /// A player has left.
    PlayerLeft(PlayerNumber),
    /// A pawn has appeared, or its class, team or smoothing has changed.
    Pawn(RecordedPawn),
    /// A pawn no longer exists.
    PawnGone(NetId),
}

impl Wire for RecordedPlayer {
    fn write(&self, w: &mut BitWriter) {
        self.number.write(w);
        self.peer.write(w);
        write_text(&self.name, MAX_NAME, w);
        self.pawn.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            number: PlayerNumber::read(r)?,
            peer: u64::read(r)?,
            name: read_text(MAX_NAME, r)?,
            pawn: Option::read(r)?,
        })
    }
}

/// Smoothing modes in the order of their numbers in a file.
const MODES: [ProxySmoothing; 5] = [
    ProxySmoothing::Raw,
    ProxySmoothing::Linear,
    ProxySmoothing::Hermite,
    ProxySmoothing::Simulate,
    ProxySmoothing::Exponential,
];

impl Wire for RecordedPawn {
    fn write(&self, w: &mut BitWriter) {
        self.id.write(w);
        self.model.write(w);
        self.class.write(w);
        self.team.write(w);
        let mode = self.smoothing.and_then(|mode| MODES.iter().position(|known| *known == mode));
        w.bits(mode.map_or(7, |mode| mode as u32), 3);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            id: NetId::read(r)?,
            model: u8::read(r)?,
            class: u8::read(r)?,
            team: Option::read(r)?,
            smoothing: match r.bits(3)? {
                7 => None,
                mode => Some(*MODES.get(mode as usize).ok_or(WireError::Invalid)?),
            },
        })
    }
}

impl Wire for Roster {
    fn write(&self, w: &mut BitWriter) {
        w.golomb(self.players.len() as u16, 3);
        self.players.iter().for_each(|player| player.write(w));
        w.golomb(self.pawns.len() as u16, 3);
        self.pawns.iter().for_each(|pawn| pawn.write(w));
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        fn list<T: Wire>(r: &mut BitReader<'_>) -> Result<Vec<T>, WireError> {
            let count = usize::from(r.golomb(3)?);
            if count > MAX_ROSTER {
                return Err(WireError::Invalid);
            }
            (0..count).map(|_| T::read(r)).collect()
        }
        let (players, pawns): (Vec<RecordedPlayer>, Vec<RecordedPawn>) = (list(r)?, list(r)?);
        let is_ordered =
            players.is_sorted_by(|a, b| a.number < b.number) && pawns.is_sorted_by(|a, b| a.id < b.id);
        if is_ordered { Ok(Self { players, pawns }) } else { Err(WireError::Invalid) }
    }
}

impl Wire for RosterChange {
    fn write(&self, w: &mut BitWriter) {
        match self {
            Self::Player(player) => {
                w.bits(0, 2);
                player.write(w);
            }
            Self::PlayerLeft(number) => {
                w.bits(1, 2);
                number.write(w);
            }
            Self::Pawn(pawn) => {
                w.bits(2, 2);
                pawn.write(w);
            }
            Self::PawnGone(id) => {
                w.bits(3, 2);
                id.write(w);
            }
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(match r.bits(2)? {
            0 => Self::Player(RecordedPlayer::read(r)?),
            1 => Self::PlayerLeft(PlayerNumber::read(r)?),
            2 => Self::Pawn(RecordedPawn::read(r)?),
            _ => Self::PawnGone(NetId::read(r)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roster_follows_its_changes_and_round_trips() {
        let mut roster = Roster::default();
        let player = |number| RecordedPlayer {
            number: PlayerNumber(number),
            peer: 900 + u64::from(number),
            name: "Ann".to_owned(),
            pawn: Some(NetId(number)),
        };
        for number in [4, 2, 9] {
            assert!(roster.apply(&RosterChange::Player(player(number))));
            let pawn = RecordedPawn {
                id: NetId(number),
                smoothing: Some(ProxySmoothing::Raw),
                ..Default::default()
            };
            assert!(roster.apply(&RosterChange::Pawn(pawn)));
        }
        assert!(!roster.apply(&RosterChange::Player(player(4))), "nothing changed");
        assert!(roster.apply(&RosterChange::PlayerLeft(PlayerNumber(2))));
        assert!(roster.apply(&RosterChange::PawnGone(NetId(9))));
        assert!(!roster.apply(&RosterChange::PawnGone(NetId(9))));
        assert_eq!(roster.players().map(|player| player.number.0).collect::<Vec<_>>(), [4, 9]);
        assert_eq!(roster.pawns().map(|pawn| pawn.id.0).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(Roster::from_bytes(&roster.to_bytes()), Ok(roster.clone()));
        assert_eq!(roster.player(PlayerNumber(9)).map(|player| player.peer), Some(909));
        assert!(roster.pawn(NetId(9)).is_none());
    }

    #[test]
    fn roster_has_room_for_its_limit_only() {
        let mut roster = Roster::default();
        let all = (0..2_000).filter(|id| {
            roster.apply(&RosterChange::Pawn(RecordedPawn { id: NetId(*id), ..Default::default() }))
        });
        assert_eq!(all.count(), MAX_ROSTER);
    }
}

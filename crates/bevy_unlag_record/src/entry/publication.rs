//! Updates of pawns as the server sent them, and to whom.

use std::collections::BTreeMap;

use bevy_unlag_core::{BitReader, BitWriter, NetId, ProxyUpdate, Tick, UpdateTrail, WireError};

use crate::roster::{PlayerNumber, Roster};

/// Most updates in one publication.
pub(crate) const MAX_UPDATES: usize = 1_024;

/// Earlier updates of the pawns in a segment, to which the next ones are relative.
pub(crate) type Trails = BTreeMap<NetId, UpdateTrail>;

/// Updates of pawns that the server sent in one tick, and who was sent them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Publication {
    /// Updates in the order of their pawns' ids.
    pub updates: Vec<(NetId, ProxyUpdate)>,
    /// Updates that each player was sent, in the order of the players' numbers.
    pub recipients: Vec<(PlayerNumber, Recipients)>,
}

/// Updates of a [`Publication`] that one player was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recipients {
    /// All updates but that of the pawn that the player controls, which it predicts.
    AllButOwn(Option<NetId>),
    /// Some.
    Some {
        /// One flag for each update.
        sent: Vec<bool>,
        /// Whether others were left out for lack of bandwidth budget, and not only because they are hidden.
        over_budget: bool,
    },
}

impl Publication {
    /// Returns the updates that a player was sent.
    pub fn sent_to(&self, player: PlayerNumber) -> impl Iterator<Item = &(NetId, ProxyUpdate)> {
        let sent = self.recipients.iter().find(|(number, _)| *number == player).map(|(_, sent)| sent);
        self.updates.iter().enumerate().filter_map(move |(at, update)| {
            let is_sent = match sent? {
                Recipients::AllButOwn(own) => Some(update.0) != *own,
                Recipients::Some { sent, .. } => sent.get(at).copied().unwrap_or(false),
            };
            is_sent.then_some(update)
        })
    }

    /// Appends a publication of the tick `base`: updates, sorted by id, and for each player of the roster which of them
    /// it was sent, and whether its bandwidth budget left any out. Leaves the ids of the updates, and their indices.
    pub(crate) fn write<'a, 's>(
        base: Tick,
        updates: impl Iterator<Item = (NetId, &'a ProxyUpdate)>,
        roster: &Roster,
        sent: impl Fn(PlayerNumber) -> (&'s [bool], bool),
        (trails, ids): (&mut Trails, &mut Vec<(NetId, usize)>),
        w: &mut BitWriter,
    ) {
        ids.clear();
        for (at, (id, update)) in updates.take(MAX_UPDATES).enumerate() {
            let skipped = match ids.last() {
                // Of two updates with the same id the first is used.
                Some((last, _)) if *last >= id => continue,
                Some((last, _)) => id.0 - last.0 - 1,
                None => id.0,
            };
            w.bool(true);
            w.golomb(skipped, 0);
            trails.entry(id).or_default().write(update, base, w);
            ids.push((id, at));
        }
        w.bool(false);
        for player in roster.players() {
            let (flags, over_budget) = sent(player.number);
            let is_sent = |at: usize| flags.get(at).copied().unwrap_or(false);
            let usual = ids.iter().all(|(id, at)| is_sent(*at) == (Some(*id) != player.pawn));
            w.bool(usual);
            if !usual {
                w.bool(over_budget);
                ids.iter().for_each(|(_, at)| w.bool(is_sent(*at)));
            }
        }
    }

    pub(crate) fn read(
        base: Tick,
        roster: &Roster,
        trails: &mut Trails,
        r: &mut BitReader<'_>,
    ) -> Result<Self, WireError> {
        let mut updates: Vec<(NetId, ProxyUpdate)> = Vec::new();
        while r.bool()? {
            if updates.len() == MAX_UPDATES {
                return Err(WireError::Invalid);
            }
            let step = u32::from(r.golomb(0)?);
            let id = updates.last().map_or(step, |(last, _)| u32::from(last.0) + 1 + step);
            let id = NetId(u16::try_from(id).map_err(|_| WireError::Invalid)?);
            updates.push((id, trails.entry(id).or_default().read(base, r)?));
        }
        let recipients = roster.players().map(|player| {
            let sent = if r.bool()? {
                Recipients::AllButOwn(player.pawn)
            } else {
                let over_budget = r.bool()?;
                let sent = (0..updates.len()).map(|_| r.bool()).collect::<Result<_, _>>()?;
                Recipients::Some { sent, over_budget }
            };
            Ok((player.number, sent))
        });
        let recipients = recipients.collect::<Result<_, WireError>>()?;
        Ok(Self { updates, recipients })
    }
}

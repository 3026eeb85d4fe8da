//! Screen of one player, rebuilt from what the player was sent.

use std::collections::BTreeMap;

use bevy_unlag_core::{
    BaseView, NetId, PoseSample, PoseSampler, ProxySmoothing, ProxyUpdate, SnapshotHistory, Tick, ViewStamp,
    ViewTime,
};

use crate::{
    entry::{Entry, RecordedView},
    roster::{PlayerNumber, Roster},
    segment::Segment,
};

/// Most snapshots of one pawn: a minute and more at 60 updates a second.
const MOST_SNAPSHOTS: usize = 4_096;
/// Snapshots for which memory is reserved per pawn.
const RESERVED: usize = 64;

/// Updates that one player was sent over some segments, and the poses that its screen drew from them.
///
/// Snapshots that the player was sent but never received are included: a [`RecordedView`] names the pawns for
/// which that matters.
#[derive(Clone, Debug, Default)]
pub struct PlayerScreen {
    /// `None` for the server, which has what it sent to anybody.
    player: Option<PlayerNumber>,
    pawns: BTreeMap<NetId, PawnOnScreen>,
}

#[derive(Clone, Debug)]
struct PawnOnScreen {
    history: SnapshotHistory,
    smoothing: Option<ProxySmoothing>,
    /// Last ticks before the client was told that it is sent no more, oldest first.
    gone: Vec<Tick>,
}

impl Default for PawnOnScreen {
    fn default() -> Self {
        Self {
            history: SnapshotHistory::growing(RESERVED, MOST_SNAPSHOTS),
            smoothing: None,
            gone: Vec::new(),
        }
    }
}

impl PawnOnScreen {
    /// Returns whether the client did not draw a pose with this stamp, because it was told that the pawn is out of
    /// sight: later than that, and from a snapshot before.
    fn conceals(&self, stamp: ViewStamp) -> bool {
        let (ViewStamp::Interpolated { from, time, .. } | ViewStamp::Extrapolated { from, time }) = stamp
        else {
            return false;
        };
        self.gone.iter().any(|gone| !from.is_newer_than(*gone) && time.ticks_since(*gone) > 0.0)
    }
}

impl PlayerScreen {
    /// Rebuilds the screen of a player from consecutive segments.
    #[must_use]
    pub fn of(player: PlayerNumber, segments: &[Segment]) -> Self {
        Self::of_all(Some(player), segments)
    }

    /// Rebuilds the paths of all pawns as the server published them, whoever was sent them. At the view time of a tick
    /// it has the server's poses of that tick, within the tolerance of the published paths.
    #[must_use]
    pub fn of_server<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Self {
        Self::of_all(None, segments)
    }

    pub(crate) fn of_all<'a>(
        player: Option<PlayerNumber>,
        segments: impl IntoIterator<Item = &'a Segment>,
    ) -> Self {
        let mut screen = Self { player, pawns: BTreeMap::new() };
        for segment in segments {
            screen.extend(segment);
        }
        screen
    }

    /// Adds the next segment.
    pub fn extend(&mut self, segment: &Segment) {
        self.follow(&segment.roster);
        for (_, entry) in segment.entries() {
            match entry {
                Entry::Publication(publication) => match self.player {
                    Some(player) => publication.sent_to(player).for_each(|update| self.insert(update)),
                    None => publication.updates.iter().for_each(|update| self.insert(update)),
                },
                Entry::Hidden(notice) if Some(notice.player) == self.player => {
                    for pawn in &notice.pawns {
                        self.pawns.entry(*pawn).or_default().gone.push(notice.since);
                    }
                }
                Entry::Roster(crate::RosterChange::Pawn(pawn)) => {
                    self.pawns.entry(pawn.id).or_default().smoothing = pawn.smoothing;
                }
                _ => {}
            }
        }
    }

    fn insert(&mut self, (pawn, update): &(NetId, ProxyUpdate)) {
        let on_screen = self.pawns.entry(*pawn).or_default();
        update.iter().for_each(|snapshot| {
            on_screen.history.insert(*snapshot);
        });
    }

    fn follow(&mut self, roster: &Roster) {
        for pawn in roster.pawns() {
            self.pawns.entry(pawn.id).or_default().smoothing = pawn.smoothing;
        }
    }

    /// Returns the pawns of which the player was sent anything, in the order of their ids.
    pub fn pawns(&self) -> impl Iterator<Item = NetId> {
        self.pawns.iter().filter(|(_, pawn)| pawn.history.newest().is_some()).map(|(id, _)| *id)
    }

    /// Returns the snapshots of a pawn that the player was sent, oldest first.
    pub fn snapshots(&self, pawn: NetId) -> impl Iterator<Item = &bevy_unlag_core::Snapshot> {
        self.pawns.get(&pawn).into_iter().flat_map(|pawn| pawn.history.iter())
    }

    /// Returns how the screen drew a pawn at a view time, if every snapshot had arrived in time. `None` if it did not
    /// draw the pawn.
    #[must_use]
    pub fn stamp(&self, pawn: NetId, time: ViewTime) -> Option<ViewStamp> {
        let pawn = self.pawns.get(&pawn)?;
        pawn.history.stamp(time).filter(|stamp| !pawn.conceals(*stamp))
    }

    /// Returns how the screen drew a pawn in a recorded frame.
    #[must_use]
    pub fn stamp_in(&self, view: &RecordedView, pawn: NetId) -> Option<ViewStamp> {
        let named = view.stamps.iter().find(|(id, _)| *id == pawn).map(|(_, stamp)| *stamp);
        named.or_else(|| self.stamp(pawn, view.time).filter(|_| !view.is_complete))
    }

    /// Returns the pose of a pawn with a stamp, bit for bit as the screen drew it: with the sampler of the recorded
    /// match, and movement bases as they were drawn. `None` if the player was not sent those snapshots.
    #[must_use]
    pub fn pose(
        &self,
        pawn: NetId,
        stamp: ViewStamp,
        sampler: &PoseSampler,
        bases: &BaseView<'_>,
    ) -> Option<PoseSample> {
        let pawn = self.pawns.get(&pawn)?;
        pawn.history.pose(stamp, &sampler.of(pawn.smoothing.as_ref()), bases)
    }
}

//! Record of the snapshots sent to each client.

mod update_intervals;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, SnapshotHistory, Tick, ViewStamp, ViewTime};

pub use update_intervals::IntervalSummary;
use update_intervals::UpdateIntervals;

use crate::out_of_sight::OutOfSight;

/// Number of ticks before the newest snapshot for which the record is kept: a second at 64 Hz.
const CAPACITY: i32 = u64::BITS as i32;

/// Snapshots sent of one pawn.
#[derive(Clone, Copy, Debug)]
struct Target {
    id: NetId,
    newest: Tick,
    /// Bit `n` stands for the tick `n + 1` before the newest.
    before: u64,
    /// Last tick before the pawn was hidden most recently.
    gone: Option<Tick>,
    spaces: UpdateIntervals,
}

impl Target {
    fn contains(&self, tick: Tick) -> bool {
        match self.newest.since(tick) {
            0 => true,
            ago @ 1..=CAPACITY => self.before >> (ago - 1) & 1 == 1,
            _ => false,
        }
    }

    fn mark(&mut self, tick: Tick) {
        let later = tick.since(self.newest);
        if later > 0 {
            let shifted = if later < CAPACITY { self.before << later } else { 0 };
            let newest = if later <= CAPACITY { 1 << (later - 1) } else { 0 };
            self.before = shifted | newest;
            self.newest = tick;
        } else if (-CAPACITY..0).contains(&later) {
            self.before |= 1 << (-later - 1);
        }
    }

    fn conceals(&self, stamp: ViewStamp) -> bool {
        self.gone.is_some_and(|since| OutOfSight { since }.covers(stamp))
    }
}

/// Record of the snapshots sent to one client: nothing else can have been on its screen. The component is
/// on that client's pawn on the server and is written by the network integration. The host of a listen
/// server and bots have none, because they see everything as it is.
///
/// Memory is bounded by the number of pawns. The record cannot tell whether a sent snapshot arrived; only
/// the client knows.
#[doc(alias = "CClientFrame")]
#[doc(alias = "clientSnapshot_t")]
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct SentSnapshots {
    /// Sorted by network id.
    // Ring buffers of sent ticks.
    #[reflect(ignore)]
    targets: Vec<Target>,
    /// Index after that of the last update: updates are recorded in the order of ids.
    next: usize,
    /// Tick of the first entry.
    began: Option<Tick>,
    /// Tick of the last update that was withheld: for lack of bandwidth budget, and because the pawn is
    /// hidden from the client.
    left_out: Option<Tick>,
    hidden: Option<Tick>,
    over_budget_count: u64,
    /// Lateness of updates, in the current window and the previous one.
    // A histogram.
    #[reflect(ignore)]
    late: [Lateness; 2],
}

/// Histogram of how many ticks late updates were sent, in a time window.
#[derive(Clone, Copy, Debug, Default)]
struct Lateness {
    began: Tick,
    updates: [u32; Lateness::MOST + 1],
}

impl Lateness {
    /// Highest bucket, which includes all later updates.
    const MOST: usize = 15;
    /// Length of a window, in ticks.
    const WINDOW: i32 = 512;
}

impl Clone for SentSnapshots {
    fn clone(&self) -> Self {
        Self { targets: self.targets.clone(), ..*self }
    }

    /// Does not allocate if the capacity suffices.
    fn clone_from(&mut self, source: &Self) {
        self.targets.clone_from(&source.targets);
        let Self { targets: _, next, began, left_out, hidden, over_budget_count, late } = *source;
        (self.next, self.began, self.left_out, self.hidden) = (next, began, left_out, hidden);
        (self.over_budget_count, self.late) = (over_budget_count, late);
    }
}

impl SentSnapshots {
    fn find(&self, id: NetId) -> Result<usize, usize> {
        self.targets.binary_search_by_key(&id, |target| target.id)
    }

    fn of(&self, id: NetId) -> Option<&Target> {
        self.targets.get(self.find(id).ok()?)
    }

    /// Records that the client was sent this snapshot of a pawn. Calls may come in any order; snapshots
    /// more than 64 ticks older than the newest are not recorded.
    pub fn mark(&mut self, id: NetId, tick: Tick) {
        self.began.get_or_insert(tick);
        match self.find(id) {
            Ok(at) => self.targets[at].mark(tick),
            Err(at) => {
                self.targets
                    .insert(at, Target { id, newest: tick, before: 0, gone: None, spaces: default() });
            }
        }
    }

    /// Records that the client was sent an update of a pawn in the server's tick `now`: its snapshot and
    /// the path knots with it, in any order.
    pub fn mark_update(&mut self, id: NetId, mut ticks: impl Iterator<Item = Tick>, now: Tick) {
        let is_next = self.targets.get(self.next).is_some_and(|target| target.id == id);
        let (at, before) = match if is_next { Ok(self.next) } else { self.find(id) } {
            Ok(at) => (at, Some(self.targets[at].newest)),
            Err(at) => {
                let Some(first) = ticks.next() else { return };
                self.mark(id, first);
                (at, None)
            }
        };
        self.next = at + 1;
        let target = &mut self.targets[at];
        ticks.for_each(|tick| target.mark(tick));
        if let Some(before) = before
            && target.gone.is_none_or(|gone| before.is_newer_than(gone))
        {
            target.spaces.take(before, target.newest);
        }
        let late = now.since(target.newest).max(0) as usize;
        if now.since(self.late[0].began) >= Lateness::WINDOW {
            self.late[1] = core::mem::replace(&mut self.late[0], Lateness { began: now, ..default() });
        }
        self.late[0].updates[late.min(Lateness::MOST)] += 1;
    }

    /// Records that the snapshot message of `tick` left out a pawn for lack of bandwidth budget.
    pub fn mark_over_budget(&mut self, tick: Tick) {
        self.left_out = Some(tick);
        self.over_budget_count += 1;
    }

    /// Records that a pawn hidden from the client had an update at `tick`.
    pub fn mark_hidden(&mut self, tick: Tick) {
        self.hidden = Some(tick);
    }

    /// Records that the client was told that it is not sent snapshots of a pawn after `since` until further notice.
    pub fn mark_gone(&mut self, id: NetId, since: Tick) {
        if let Ok(at) = self.find(id)
            && let Some(target) = self.targets.get_mut(at)
        {
            target.gone = Some(since);
        }
    }

    /// Returns whether a pawn was hidden from the client most recently at `from` or later, and before `to`.
    #[must_use]
    pub fn was_hidden_between(&self, id: NetId, from: Tick, to: Tick) -> bool {
        let gone = self.of(id).and_then(|target| target.gone);
        gone.is_some_and(|gone| !from.is_newer_than(gone) && to.is_newer_than(gone))
    }

    /// Returns whether a pose with this stamp is one that the client does not draw, because it was told that the pawn
    /// is out of sight: later than that, and from a snapshot before.
    #[must_use]
    pub fn conceals(&self, id: NetId, stamp: ViewStamp) -> bool {
        self.of(id).is_some_and(|target| target.conceals(stamp))
    }

    /// Returns whether the client was sent this snapshot of this pawn.
    #[must_use]
    pub fn contains(&self, id: NetId, tick: Tick) -> bool {
        self.of(id).is_some_and(|target| target.contains(tick))
    }

    /// Returns the tick of the newest snapshot of a pawn that the client was sent.
    #[must_use]
    pub fn newest(&self, id: NetId) -> Option<Tick> {
        self.of(id).map(|target| target.newest)
    }

    /// Returns whether the client was sent every snapshot that was sent to any client at `tick` or later.
    /// If so, all stored snapshots were sent to it, and no lookup is needed.
    #[must_use]
    pub fn is_complete_since(&self, tick: Tick) -> bool {
        let began = self.began.is_some_and(|began| !began.is_newer_than(tick));
        let after = |last: Option<Tick>| last.is_none_or(|last| tick.is_newer_than(last));
        began && after(self.left_out) && after(self.hidden)
    }

    /// Returns whether an update was left out for lack of bandwidth budget at `tick` or later. The
    /// client's playout waits for updates that arrive late.
    #[must_use]
    pub fn was_over_budget_since(&self, tick: Tick) -> bool {
        self.left_out.is_some_and(|left_out| !tick.is_newer_than(left_out))
    }

    /// Returns the number of snapshot messages that left out a pawn for lack of bandwidth budget. It never
    /// decreases.
    #[must_use]
    pub fn over_budget_count(&self) -> u64 {
        self.over_budget_count
    }

    /// Returns the most common number of ticks between two updates of a pawn; 0 before any pawn was sent
    /// twice.
    #[must_use]
    pub fn interval(&self) -> u16 {
        let counts = self.spacings();
        let most =
            counts.iter().enumerate().max_by_key(|(spacing, count)| (**count, core::cmp::Reverse(*spacing)));
        most.filter(|(_, count)| **count > 0).map_or(0, |(spacing, _)| spacing as u16)
    }

    /// Counts pawns by update interval; an interval of 0 is not counted.
    fn spacings(&self) -> [u32; 129] {
        let mut counts = [0; 129];
        for target in &self.targets {
            counts[usize::from(target.spaces.newest()).min(128)] += 1;
        }
        counts[0] = 0;
        counts
    }

    /// Returns the difference in ticks between the longest and the shortest update interval, among the
    /// intervals that at least an eighth of the pawns have or had recently; 0 if all have the same.
    #[must_use]
    pub fn interval_spread(&self) -> u16 {
        let (shortest, longest) = self.common();
        longest - shortest
    }

    /// Returns the shortest and the longest of the intervals that [count](Self::interval_spread); 0 while none is
    /// known. A pawn that is sent more often than before counts with its longer interval, too, because screens follow
    /// gradually.
    #[must_use]
    pub fn common(&self) -> (u16, u16) {
        let mut counts = self.spacings();
        for target in &self.targets {
            let newest = target.spaces.newest();
            let usual = target.spaces.rates(newest.into()).usual;
            if usual != newest {
                counts[usize::from(usual).min(128)] += 1;
            }
        }
        let least = (self.targets.len() as u32).div_ceil(8).max(1);
        let common = |count: &u32| *count >= least;
        let shortest = counts.iter().position(common).unwrap_or(0);
        (shortest as u16, counts.iter().rposition(common).unwrap_or(0) as u16)
    }

    /// Returns the recent update intervals of a pawn for this client; `usual` is the pawn's own interval.
    #[must_use]
    pub fn rates(&self, id: NetId, usual: i32) -> IntervalSummary {
        self.of(id).map(|target| target.spaces.rates(usual)).unwrap_or_default()
    }

    /// Returns by how many ticks recent updates were late when they were sent, as the 99th percentile: a
    /// pawn with late moves is sent as of an earlier tick.
    #[must_use]
    pub fn late(&self) -> u16 {
        let mut left: u32 = self.late.iter().flat_map(|window| window.updates).sum::<u32>() / 100;
        let mut late = Lateness::MOST;
        while late > 0 {
            let here: u32 = self.late.iter().map(|window| window.updates[late]).sum();
            if here > left {
                break;
            }
            left -= here;
            late -= 1;
        }
        late as u16
    }

    /// Returns the number of recorded pawns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether nothing was ever sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Removes pawns that no longer exist, two seconds at 64 Hz after they were last sent. Until then
    /// they can be hit where they were seen.
    pub fn keep(&mut self, now: Tick, mut lives: impl FnMut(NetId) -> bool) {
        self.targets.retain(|target| lives(target.id) || now.since(target.newest) <= 2 * CAPACITY);
    }

    /// Returns how a pose at `time` is composed from those snapshots in `history` that this client was
    /// sent: interpolated between two, or extrapolated from the newest. `None` if none of them is old
    /// enough, or if the client does not draw the pawn at that time.
    #[must_use]
    pub fn stamp(&self, id: NetId, history: &SnapshotHistory, time: ViewTime) -> Option<ViewStamp> {
        let target = self.of(id)?;
        let mut to = None;
        for snapshot in history.iter().rev().filter(|snapshot| target.contains(snapshot.tick)) {
            let from = snapshot.tick;
            if from.since(time.tick) <= 0 {
                let stamp = match to {
                    Some(to) => ViewStamp::Interpolated { from, to, time },
                    None => ViewStamp::Extrapolated { from, time },
                };
                return (!target.conceals(stamp)).then_some(stamp);
            }
            to = Some(from);
        }
        None
    }
}

#[cfg(test)]
mod tests;

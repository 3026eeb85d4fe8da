//! Pawns whose snapshots the server withholds from this client.

use bevy::prelude::*;
use bevy_unlag_core::{ServerLeft, Tick, ViewStamp};

use crate::inbox::SnapshotInbox;

/// Marks a pawn on a client whose snapshots the server withholds, because this client's player cannot see it
/// now or soon. The network integration inserts it; smoothing removes it when the pawn is drawn again.
///
/// Up to the view time [`since`](Self::since) the pawn is drawn as usual, after it the pawn is not drawn:
/// `alive` of its [`DrawnPose`](bevy_unlag_core::DrawnPose) is false, so visuals are hidden and shots ignore it. The
/// rest of the drawn pose stays the last known one, which is outdated. The pawn is drawn again from the first newer
/// snapshot on; no pose between both is interpolated, and the old one is not extrapolated.
#[doc(alias = "dormant")]
#[doc(alias = "fog of war")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct OutOfSight {
    /// Last tick of which snapshots were sent.
    pub since: Tick,
}

impl OutOfSight {
    /// Returns whether a pose with this stamp would show the pawn while it is out of sight.
    pub(crate) fn covers(self, stamp: ViewStamp) -> bool {
        let (from, time) = match stamp {
            ViewStamp::Interpolated { from, time, .. } | ViewStamp::Extrapolated { from, time } => {
                (from, time)
            }
            ViewStamp::Present => return false,
        };
        !from.is_newer_than(self.since) && time.ticks_since(self.since) > 0.0
    }

    /// Returns whether a pose with this stamp shows the pawn after it was out of sight.
    pub(crate) fn is_over(self, stamp: ViewStamp) -> bool {
        match stamp {
            ViewStamp::Interpolated { from, .. } | ViewStamp::Extrapolated { from, .. } => {
                from.is_newer_than(self.since)
            }
            ViewStamp::Present => true,
        }
    }

    /// Returns the tick of the first update after the time out of sight, if the inbox has it; `newest` is the newest
    /// one before.
    pub(crate) fn end_in(self, inbox: &SnapshotInbox, newest: Option<Tick>) -> Option<Tick> {
        newest.filter(|newest| !newest.is_newer_than(self.since))?;
        let ticks = inbox.0.iter().map(|update| update.snapshot.tick);
        ticks
            .filter(|tick| tick.is_newer_than(self.since))
            .reduce(|a, b| if b.is_newer_than(a) { a } else { b })
    }
}

/// The next server counts its own ticks.
pub(crate) fn forget(_: On<ServerLeft>, pawns: Query<Entity, With<OutOfSight>>, mut commands: Commands) {
    for pawn in &pawns {
        commands.entity(pawn).try_remove::<OutOfSight>();
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{ProxyUpdate, Snapshot, ViewTime};

    use super::*;

    const GONE: OutOfSight = OutOfSight { since: Tick(10) };

    #[test]
    fn pawn_out_of_sight_is_covered_between_its_last_snapshot_and_the_next() {
        let at = |from: u32, time: u32| ViewStamp::Extrapolated {
            from: Tick(from),
            time: ViewTime::at(Tick(time)),
        };
        assert!(!GONE.covers(at(9, 10)), "before it went out of sight");
        assert!(GONE.covers(at(9, 11)), "extrapolated beyond");
        let across = ViewStamp::Interpolated { from: Tick(9), to: Tick(60), time: ViewTime::at(Tick(59)) };
        assert!(GONE.covers(across) && !GONE.is_over(across), "interpolated across the gap");
        assert!(!GONE.covers(at(60, 60)) && GONE.is_over(at(60, 60)), "back in sight");
    }

    #[test]
    fn only_an_update_after_the_time_out_of_sight_ends_it() {
        let inbox = |tick: u32| {
            SnapshotInbox(vec![ProxyUpdate::new(Snapshot::new(Tick(tick), Vec3::ZERO, Vec3::ZERO), &[])])
        };
        assert_eq!(GONE.end_in(&inbox(60), Some(Tick(9))), Some(Tick(60)));
        assert_eq!(GONE.end_in(&inbox(10), Some(Tick(9))), None, "a late update of before");
        assert_eq!(GONE.end_in(&inbox(63), Some(Tick(60))), None, "ended already");
        assert_eq!(GONE.end_in(&inbox(60), None), None, "nothing was known before");
    }
}

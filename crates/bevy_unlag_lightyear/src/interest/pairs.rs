//! Memory of one client's sight of each pawn.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::Tick;

use super::lattice::Sight;
use crate::hidden_pawns::HiddenPawns;

/// Sight of one pawn.
#[derive(Clone, Copy, Debug, Default)]
struct SeenPawn {
    /// Last tick at which the pawn was known to be in sight.
    last_seen: Option<Tick>,
    /// Number of successive tests without an answer.
    unanswered: u32,
}

/// Pawns that a client's player has seen; on the server's end of its link.
#[derive(Component, Default, Debug)]
pub(super) struct SightPairs(EntityHashMap<SeenPawn>);

impl SightPairs {
    /// Returns the number of successive tests of a pawn without an answer.
    pub fn unanswered(&self, pawn: Entity) -> u32 {
        self.0.get(&pawn).map_or(0, |seen| seen.unanswered)
    }

    /// Applies the result of a test: a pawn is concealed when it was not in sight for more than `hold` ticks.
    pub fn apply(&mut self, pawn: Entity, sight: Sight, now: Tick, hold: i32, hidden: &mut HiddenPawns) {
        let seen = self.0.entry(pawn).or_default();
        match sight {
            Sight::Clear => *seen = SeenPawn { last_seen: Some(now), unanswered: 0 },
            Sight::Blocked => seen.unanswered = 0,
            Sight::Unknown => seen.unanswered = seen.unanswered.saturating_add(1),
        }
        let is_held = seen.last_seen.is_some_and(|last| (0..=hold).contains(&now.since(last)));
        if sight == Sight::Blocked && !is_held {
            hidden.hide(pawn);
        } else {
            hidden.show(pawn);
        }
    }

    /// Forgets despawned pawns.
    pub fn keep(&mut self, lives: impl Fn(Entity) -> bool) {
        self.0.retain(|pawn, _| lives(*pawn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pawn_is_concealed_after_the_hold_and_shown_at_once() {
        let pawn = Entity::from_raw_u32(1).expect("a small number");
        let (mut pairs, mut hidden) = (SightPairs::default(), HiddenPawns::default());
        let mut test = |tick: u32, sight| {
            pairs.apply(pawn, sight, Tick(tick), 32, &mut hidden);
            hidden.contains(pawn)
        };
        assert!(test(1, Sight::Blocked), "never seen");
        assert!(!test(2, Sight::Unknown), "not tested");
        assert!(test(3, Sight::Blocked), "an unknown sight is no sight");
        assert!(!test(4, Sight::Clear));
        assert!(!test(36, Sight::Blocked), "held");
        assert!(test(37, Sight::Blocked));
        assert!(!test(38, Sight::Clear));
    }

    #[test]
    fn unanswered_tests_are_counted_until_the_answer() {
        let pawn = Entity::from_raw_u32(1).expect("a small number");
        let (mut pairs, mut hidden) = (SightPairs::default(), HiddenPawns::default());
        for _ in 0..3 {
            pairs.apply(pawn, Sight::Unknown, Tick(1), 32, &mut hidden);
        }
        assert_eq!(pairs.unanswered(pawn), 3);
        pairs.apply(pawn, Sight::Blocked, Tick(2), 32, &mut hidden);
        assert_eq!(pairs.unanswered(pawn), 0);
        pairs.keep(|_| false);
        assert!(pairs.0.is_empty());
    }
}

//! Snapshot priorities under a downlink budget.

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use bevy_unlag_core::NetId;
use bevy_unlag_smoothing::SentSnapshots;

use super::snapshot_message::{HEAD_BYTES, NAME_BITS};
use crate::budget::SnapshotSendQueue;

/// Importance of a pawn's snapshots when they do not all fit into a client's
/// [`DownlinkBudget`](crate::DownlinkBudget), on the server. Default, also without the component: 1. The pawn's
/// priority, which depends on its distance from the client's own pawn and the camera, is multiplied by it: 5 for the
/// carrier of a flag, 0.2 for a crate that rolls. Values beyond 0 to 1,000 are clamped. Even at 0 the pawn is sent:
/// after 50 snapshot intervals without, it comes first.
#[doc(alias = "NetPriority")]
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct SnapshotWeight(pub f32);

impl Default for SnapshotWeight {
    fn default() -> Self {
        Self(1.0)
    }
}

impl SnapshotWeight {
    /// Returns the priority of a pawn with this weight.
    pub(super) fn scale(self, priority: f32) -> f32 {
        // NaN becomes the minimum.
        (priority * self.0.clamp(0.0, 1_000.0)).max(LEAST_WEIGHT)
    }
}

/// A pawn with a snapshot that could be sent now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub entity: Entity,
    /// Index of the snapshot among those of this tick.
    pub index: usize,
    pub bits: usize,
    priority: f32,
    /// Rounds in which it would have waited, if this is another one.
    rounds: u16,
}

impl Candidate {
    pub(super) fn new(entity: Entity, index: usize, bits: usize) -> Self {
        Self { entity, index, bits, priority: 0.0, rounds: 0 }
    }

    fn bytes(&self) -> f32 {
        (self.bits + NAME_BITS) as f32 / 8.0
    }
}

/// Pawns whose snapshots are deferred for one client, and what the client was sent.
#[derive(Component, Default, Debug)]
pub(crate) struct SnapshotQueue {
    /// Deferred pawns with their accumulated priority, and the rounds for which they wait.
    deferred: EntityHashMap<(f32, u16)>,
    /// Pawns whose last snapshots the client is sent again in the next tick, sorted.
    pub(super) repeats: Vec<NetId>,
    /// Log of the snapshots that the client was sent.
    pub(crate) sent: SentSnapshots,
}

impl SnapshotQueue {
    /// Retains the candidates to send now, in their order. `weight` returns by how much the priority of a
    /// pawn grows with each round in which it is deferred.
    pub(super) fn choose(
        &mut self,
        send_queue: &mut SnapshotSendQueue,
        candidates: &mut Vec<Candidate>,
        mut weight: impl FnMut(&Candidate) -> f32,
    ) {
        let all: f32 = candidates.iter().map(Candidate::bytes).sum();
        send_queue.is_deferring = HEAD_BYTES as f32 + all > send_queue.credit && !candidates.is_empty();
        if !send_queue.is_deferring {
            if !self.deferred.is_empty() {
                for one in candidates {
                    self.deferred.remove(&one.entity);
                }
            }
            return;
        }
        for one in candidates.iter_mut() {
            let (priority, rounds) = self.deferred.get(&one.entity).copied().unwrap_or_default();
            one.priority =
                if rounds < MAX_ROUNDS { priority + weight(one) } else { OVERDUE * f32::from(rounds) };
            one.rounds = rounds.saturating_add(1);
        }
        candidates.sort_unstable_by(|a, b| b.priority.total_cmp(&a.priority).then(a.index.cmp(&b.index)));
        let mut left = send_queue.credit - HEAD_BYTES as f32;
        let fit = candidates.iter().take_while(|one| {
            left -= one.bytes();
            left >= 0.0
        });
        let fit = fit.count();
        for (place, one) in candidates.iter().enumerate() {
            if place < fit {
                self.deferred.remove(&one.entity);
            } else {
                self.deferred.insert(one.entity, (one.priority, one.rounds));
            }
        }
        candidates.truncate(fit);
        candidates.sort_unstable_by_key(|one| one.index);
    }

    /// Removes despawned pawns from the deferred ones.
    pub(super) fn keep(&mut self, lives: impl Fn(Entity) -> bool) {
        self.deferred.retain(|entity, _| lives(*entity));
    }
}

/// Distance in metres up to which pawns have full priority.
const NEAR: f32 = 10.0;
/// Priority factor of pawns that are not in front of the camera.
const BEHIND: f32 = 0.4;
/// Cosine of half the angle that counts as in front of the camera: 60°.
const IN_FRONT: f32 = 0.5;
/// Minimum priority: once in 50 rounds, beside pawns of full priority.
const LEAST_WEIGHT: f32 = 0.02;
/// Rounds after which a deferred pawn comes first, whatever the weights of the others.
const MAX_ROUNDS: u16 = 50;
/// Priority of a pawn after these, for each round: more than weights add up to until then.
const OVERDUE: f32 = 1e6;

/// Returns the priority of a pawn at the offset `way`, in metres, from the client's own pawn, which looks
/// along `look`.
pub(super) fn weight(way: Vec3, look: Vec3) -> f32 {
    let distance = way.length();
    // A NaN distance counts as near, but not as in view.
    let near = if distance > NEAR { NEAR / distance } else { 1.0 };
    let seen = distance <= NEAR || way.dot(look) > distance * IN_FRONT;
    (near * if seen { 1.0 } else { BEHIND }).max(LEAST_WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::DownlinkBudget;

    fn pawn(index: usize) -> Entity {
        Entity::from_raw_u32(index as u32 + 1).expect("a small number")
    }

    /// Simulates a hundred seconds with 20 rounds per second and 40 pawns, each with snapshots of 100 bits
    /// and a weight by its index. Returns how often each pawn was sent, and the longest deferral in rounds.
    fn assert_budget_and_count_rounds(
        bytes_per_second: u32,
        weight: impl Fn(usize) -> f32,
    ) -> (Vec<u32>, u32, SnapshotQueue, SnapshotSendQueue) {
        let (mut queue, mut send_queue) = (SnapshotQueue::default(), SnapshotSendQueue::default());
        let mut sent = vec![0; 40];
        let mut longest = vec![0u32; 40];
        let mut since = vec![0u32; 40];
        let mut bytes = 0.0;
        for _ in 0..2_000 {
            send_queue.refill(DownlinkBudget { bytes_per_second }, 0.05);
            let mut candidates: Vec<_> = (0..40).map(|i| Candidate::new(pawn(i), i, 100)).collect();
            queue.choose(&mut send_queue, &mut candidates, |one| weight(one.index));
            assert!(candidates.is_sorted_by_key(|one| one.index));
            since.iter_mut().for_each(|since| *since += 1);
            for one in &candidates {
                sent[one.index] += 1;
                since[one.index] = 0;
                send_queue.spend(13);
                bytes += 13.0;
            }
            longest.iter_mut().zip(&since).for_each(|(longest, since)| *longest = (*longest).max(*since));
        }
        assert!(bytes <= f64::from(bytes_per_second) * 100.0 + 1_300.0, "{bytes} bytes in 100 s");
        (sent, longest.into_iter().max().unwrap_or(0), queue, send_queue)
    }

    #[test]
    fn sufficient_budget_sends_every_pawn_in_every_round() {
        let (sent, longest, queue, mut send_queue) = assert_budget_and_count_rounds(64_000, |_| 1.0);
        assert!(sent.iter().all(|&sent| sent == 2_000) && longest == 0);
        assert!(queue.deferred.is_empty() && send_queue.spend_if_idle(20));
    }

    #[test]
    fn short_budget_prefers_near_pawns_and_starves_no_pawn() {
        // Enough for ten of the forty pawns in each round; five of them are near.
        let (sent, longest, _, mut send_queue) =
            assert_budget_and_count_rounds(2_800, |i| if i < 5 { 1.0 } else { 0.05 });
        for (index, &rounds) in sent.iter().enumerate() {
            if index < 5 {
                assert!(rounds > 1_950, "pawn {index}, near, in {rounds} of 2,000 rounds");
            } else {
                assert!((150..600).contains(&rounds), "pawn {index}, far, in {rounds} of 2,000 rounds");
            }
        }
        assert!(longest < 25, "a pawn was deferred for {longest} rounds");
        assert!(!send_queue.spend_if_idle(1), "a tracer was sent while pawns are deferred");
    }

    #[test]
    fn tiny_budget_still_sends_and_zero_budget_sends_nothing() {
        let (sent, ..) = assert_budget_and_count_rounds(100, |_| 1.0);
        assert!(sent.iter().sum::<u32>() > 600, "{sent:?}");
        assert!(sent.iter().all(|&sent| sent > 10), "{sent:?}");
        let (sent, ..) = assert_budget_and_count_rounds(0, |_| 1.0);
        assert!(sent.iter().all(|&sent| sent == 0));
    }

    #[test]
    fn near_and_visible_pawns_have_priority() {
        let look = Vec3::NEG_Z;
        let ways = [Vec3::Z * 3.0, Vec3::NEG_Z * 12.0, Vec3::NEG_Z * 40.0, Vec3::Z * 40.0, Vec3::Z * 1e5];
        let weights: Vec<_> = ways.iter().map(|way| weight(*way, look)).collect();
        assert_eq!(weights[0], 1.0);
        assert!(weights.is_sorted_by(|a, b| a > b), "{weights:?}");
        assert_eq!(weights[4], LEAST_WEIGHT);
        assert!(weight(Vec3::NAN, look) >= LEAST_WEIGHT && weight(Vec3::X, Vec3::NAN) == 1.0);
    }

    #[test]
    fn weight_of_the_game_scales_the_priority_and_never_starves_a_pawn() {
        assert_eq!(SnapshotWeight::default().scale(0.3), 0.3);
        assert_eq!(SnapshotWeight(4.0).scale(0.3), 1.2);
        for least in [0.0, -3.0, f32::NAN] {
            assert_eq!(SnapshotWeight(least).scale(1.0), LEAST_WEIGHT);
        }
        assert_eq!(SnapshotWeight(f32::INFINITY).scale(1.0), 1_000.0);
        let (sent, ..) = assert_budget_and_count_rounds(2_800, |i| {
            let weight = if i == 39 { SnapshotWeight(20.0) } else { SnapshotWeight::default() };
            weight.scale(0.05)
        });
        assert!(sent[39] > 1_900, "the weighted pawn in {} of 2,000 rounds", sent[39]);
        assert!(sent[..39].iter().all(|&sent| sent > 200), "{sent:?}");
    }

    #[test]
    fn heavy_pawns_that_fill_the_budget_leave_light_ones_a_turn() {
        let weight = |i: usize| SnapshotWeight(if i < 20 { 1_000.0 } else { 0.0 }).scale(1.0);
        let (sent, longest, ..) = assert_budget_and_count_rounds(2_800, weight);
        assert!(longest <= 60, "a pawn was deferred for {longest} rounds");
        assert!(sent[..20].iter().all(|&sent| sent > 600), "{sent:?}");
    }

    #[test]
    fn despawned_pawns_are_removed_from_the_deferred_ones() {
        let (mut queue, mut send_queue) = (SnapshotQueue::default(), SnapshotSendQueue::default());
        let mut candidates = vec![Candidate::new(pawn(1), 0, 100), Candidate::new(pawn(2), 1, 100)];
        queue.choose(&mut send_queue, &mut candidates, |_| 1.0);
        assert!(candidates.is_empty() && queue.deferred.len() == 2);
        queue.keep(|entity| entity == pawn(2));
        assert_eq!(queue.deferred.len(), 1);
    }
}

//! How much a client is sent, and which pawns first.

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use bevy_unlag_smoothing::SentLog;

use super::message::{HEAD_BYTES, NAME_BITS};

/// How many bytes a second of snapshots, tracers and a game's messages each client is sent at most; a [`LinkBudget`] is for
/// one of them. Default: 64,000, enough for 60 pawns at 64 snapshots a second and for far more at 20.
/// Raising it costs the bytes, and on a line that cannot carry them everything arrives late.
///
/// What does not fit waits. Who is near the client's own pawn, and in front of its camera, waits least, and
/// nobody for ever. While anybody waits no tracer is sent. What the owner of a pawn is told of it never
/// counts and never waits.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub struct DownlinkBudget {
    /// Bytes of messages a second, without what lightyear, netcode and UDP wrap around them.
    pub bytes_per_second: u32,
}

impl Default for DownlinkBudget {
    fn default() -> Self {
        Self { bytes_per_second: 64_000 }
    }
}

/// The [`DownlinkBudget`] of one client; on its link.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkBudget(pub DownlinkBudget);

/// A pawn whose update could be sent now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub entity: Entity,
    /// Which of the updates it is.
    pub index: usize,
    pub bits: usize,
    priority: f32,
}

impl Candidate {
    pub(super) fn new(entity: Entity, index: usize, bits: usize) -> Self {
        Self { entity, index, bits, priority: 0.0 }
    }

    fn bytes(&self) -> f32 {
        (self.bits + NAME_BITS) as f32 / 8.0
    }
}

/// What one client may still be sent.
#[derive(Component, Default, Debug)]
pub(crate) struct Outlet {
    credit: f32,
    /// Pawns that were left out, and how urgent they have become.
    waiting: EntityHashMap<f32>,
    /// Whether the last round left anybody out.
    short: bool,
    /// What it was sent.
    pub(super) sent: SentLog,
}

impl Outlet {
    /// A budget that was not used up is kept for this many seconds.
    const KEPT: f32 = 0.25;
    /// But always as much as one message, or a small budget would never send anything.
    const LEAST: f32 = 1_200.0;

    pub(super) fn refill(&mut self, budget: DownlinkBudget, seconds: f32) {
        let rate = budget.bytes_per_second as f32;
        let most = if rate > 0.0 { (rate * Self::KEPT).max(Self::LEAST) } else { 0.0 };
        self.credit = (self.credit + rate * seconds).min(most);
    }

    /// Leaves those candidates that are to be sent now, in their order. `weight` is how much a pawn's
    /// urgency grows with each round in which it is left out.
    pub(super) fn choose(
        &mut self,
        candidates: &mut Vec<Candidate>,
        mut weight: impl FnMut(&Candidate) -> f32,
    ) {
        let all: f32 = candidates.iter().map(Candidate::bytes).sum();
        self.short = HEAD_BYTES as f32 + all > self.credit && !candidates.is_empty();
        if !self.short {
            for one in candidates {
                self.waiting.remove(&one.entity);
            }
            return;
        }
        for one in candidates.iter_mut() {
            one.priority = self.waiting.get(&one.entity).copied().unwrap_or(0.0) + weight(one);
        }
        candidates.sort_unstable_by(|a, b| b.priority.total_cmp(&a.priority).then(a.index.cmp(&b.index)));
        let mut left = self.credit - HEAD_BYTES as f32;
        let fit = candidates.iter().take_while(|one| {
            left -= one.bytes();
            left >= 0.0
        });
        let fit = fit.count();
        for (place, one) in candidates.iter().enumerate() {
            if place < fit {
                self.waiting.remove(&one.entity);
            } else {
                self.waiting.insert(one.entity, one.priority);
            }
        }
        candidates.truncate(fit);
        candidates.sort_unstable_by_key(|one| one.index);
    }

    /// Forgets pawns that are gone.
    pub(super) fn keep(&mut self, lives: impl Fn(Entity) -> bool) {
        self.waiting.retain(|entity, _| lives(*entity));
    }

    pub(crate) fn spend(&mut self, bytes: usize) {
        self.credit -= bytes as f32;
    }

    /// Whether something that may be left out can be sent: only what no pawn is waiting for.
    pub(crate) fn spare(&mut self, bytes: usize) -> bool {
        let fits = !self.short && self.credit >= bytes as f32;
        if fits {
            self.spend(bytes);
        }
        fits
    }
}

/// Within this many metres everybody counts fully.
const NEAR: f32 = 10.0;
/// How much less counts who is not in front of the camera.
const BEHIND: f32 = 0.4;
/// Half of what is in front of the camera, as a cosine: 60°.
const IN_FRONT: f32 = 0.5;
/// Nobody counts less: once in 50 rounds.
const LEAST_WEIGHT: f32 = 0.02;

/// How urgent it is to see a pawn `way` metres from the own one, when looking along `look`.
pub(super) fn weight(way: Vec3, look: Vec3) -> f32 {
    let distance = way.length();
    // Not clamp: a NaN is as far as can be.
    let near = if distance > NEAR { NEAR / distance } else { 1.0 };
    let seen = distance <= NEAR || way.dot(look) > distance * IN_FRONT;
    (near * if seen { 1.0 } else { BEHIND }).max(LEAST_WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pawn(index: usize) -> Entity {
        Entity::from_raw_u32(index as u32 + 1).expect("a small number")
    }

    /// Rounds in a hundred seconds in which each of 40 pawns was sent, at 20 rounds a second, each 100
    /// bits long, with a weight by its index.
    fn rounds(bytes_per_second: u32, weight: impl Fn(usize) -> f32) -> (Vec<u32>, u32, Outlet) {
        let mut outlet = Outlet::default();
        let mut sent = vec![0; 40];
        let mut longest = vec![0u32; 40];
        let mut since = vec![0u32; 40];
        let mut bytes = 0.0;
        for _ in 0..2_000 {
            outlet.refill(DownlinkBudget { bytes_per_second }, 0.05);
            let mut candidates: Vec<_> = (0..40).map(|i| Candidate::new(pawn(i), i, 100)).collect();
            outlet.choose(&mut candidates, |one| weight(one.index));
            assert!(candidates.is_sorted_by_key(|one| one.index));
            since.iter_mut().for_each(|since| *since += 1);
            for one in &candidates {
                sent[one.index] += 1;
                since[one.index] = 0;
                outlet.spend(13);
                bytes += 13.0;
            }
            longest.iter_mut().zip(&since).for_each(|(longest, since)| *longest = (*longest).max(*since));
        }
        assert!(bytes <= f64::from(bytes_per_second) * 100.0 + 1_300.0, "{bytes} bytes in 100 s");
        (sent, longest.into_iter().max().unwrap_or(0), outlet)
    }

    #[test]
    fn with_enough_everybody_is_sent_in_every_round() {
        let (sent, longest, mut outlet) = rounds(64_000, |_| 1.0);
        assert!(sent.iter().all(|&sent| sent == 2_000) && longest == 0);
        assert!(outlet.waiting.is_empty() && outlet.spare(20));
    }

    #[test]
    fn with_too_little_the_near_ones_come_first_and_nobody_starves() {
        // Enough for ten of the forty in each round; five of them are near.
        let (sent, longest, mut outlet) = rounds(2_800, |i| if i < 5 { 1.0 } else { 0.05 });
        for (index, &rounds) in sent.iter().enumerate() {
            if index < 5 {
                assert!(rounds > 1_950, "pawn {index}, near, in {rounds} of 2,000 rounds");
            } else {
                assert!((150..600).contains(&rounds), "pawn {index}, far, in {rounds} of 2,000 rounds");
            }
        }
        assert!(longest < 25, "somebody waited for {longest} rounds");
        assert!(!outlet.spare(1), "a tracer took what pawns are waiting for");
    }

    #[test]
    fn a_tiny_budget_still_sends_and_none_sends_nothing() {
        let (sent, ..) = rounds(100, |_| 1.0);
        assert!(sent.iter().sum::<u32>() > 600, "{sent:?}");
        assert!(sent.iter().all(|&sent| sent > 10), "{sent:?}");
        let (sent, ..) = rounds(0, |_| 1.0);
        assert!(sent.iter().all(|&sent| sent == 0));
    }

    #[test]
    fn near_before_far_and_in_front_before_behind() {
        let look = Vec3::NEG_Z;
        let ways = [Vec3::Z * 3.0, Vec3::NEG_Z * 12.0, Vec3::NEG_Z * 40.0, Vec3::Z * 40.0, Vec3::Z * 1e5];
        let weights: Vec<_> = ways.iter().map(|way| weight(*way, look)).collect();
        assert_eq!(weights[0], 1.0);
        assert!(weights.is_sorted_by(|a, b| a > b), "{weights:?}");
        assert_eq!(weights[4], LEAST_WEIGHT);
        assert!(weight(Vec3::NAN, look) >= LEAST_WEIGHT && weight(Vec3::X, Vec3::NAN) == 1.0);
    }

    #[test]
    fn who_is_gone_is_forgotten() {
        let mut outlet = Outlet::default();
        let mut candidates = vec![Candidate::new(pawn(1), 0, 100), Candidate::new(pawn(2), 1, 100)];
        outlet.choose(&mut candidates, |_| 1.0);
        assert!(candidates.is_empty() && outlet.waiting.len() == 2);
        outlet.keep(|entity| entity == pawn(2));
        assert_eq!(outlet.waiting.len(), 1);
    }
}

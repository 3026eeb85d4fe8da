//! Pairs of a client and a pawn: exemptions, and questions to the level for the others.

use bevy::{platform::time::Instant, prelude::*};
use bevy_unlag_core::Tick;
use lightyear::prelude::{server::ClientOf, *};

use super::{
    InterestStats,
    config::InterestConfig,
    places::{Place, Places, Settling},
    questions::{Question, Questions},
    rule::{InterestRule, SeesEverything, SightPair, SightVerdict},
    shaft::Memory,
    walls::Walls,
};
use crate::{hidden_pawns::HiddenPawns, spectators::Spectator};

/// Result of the last test of a pawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// In sight, or soon.
    Clear,
    /// Out of sight, but not for long.
    Close,
    /// Out of sight also for some ticks more.
    Far,
}

/// Sight of one pawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub pawn: Entity,
    pub state: State,
    /// Tick until which the last answer stands.
    pub due: Tick,
    /// Number of successive questions without an answer.
    pub unanswered: u16,
    pub memory: Memory,
    /// Turns from one test whether the pawn stays out of sight for longer to the next, and turns since the last one.
    pub patience: (u8, u8),
}

impl Pair {
    fn new(pawn: Entity, now: Tick) -> Self {
        Self { pawn, state: State::Far, due: now, unanswered: 0, memory: Memory::default(), patience: (0, 0) }
    }

    #[cfg(test)]
    pub fn for_test() -> Self {
        Self::new(Entity::PLACEHOLDER, Tick(0))
    }
}

/// Sight of a client's player, by slot of the pawns; on the server's end of its link.
#[derive(Component, Default, Debug)]
pub(super) struct SightPairs {
    pub pairs: Vec<Pair>,
    /// Generation of the walls that the pairs remember.
    generation: u32,
}

impl SightPairs {
    /// Returns the pair of a pawn, which is a new one if another pawn had the slot.
    fn pair(&mut self, slot: usize, pawn: Entity, now: Tick) -> &mut Pair {
        if self.pairs.len() <= slot {
            self.pairs.resize(slot + 1, Pair::new(Entity::PLACEHOLDER, now));
        }
        let pair = &mut self.pairs[slot];
        if pair.pawn != pawn {
            *pair = Pair::new(pawn, now);
        }
        pair
    }

    /// Forgets what was remembered of a level that has changed.
    fn follow(&mut self, walls: &Walls, now: Tick) {
        if self.generation != walls.generation() {
            self.generation = walls.generation();
            for pair in &mut self.pairs {
                (pair.memory, pair.due) = (Memory::default(), now);
            }
        }
    }
}

type Viewer = (Entity, &'static mut SightPairs, &'static mut HiddenPawns, Has<SeesEverything>);

/// Applies the exemptions to the clients whose turn has come, and collects the questions to the level.
pub(super) fn choose_pairs(
    (config, rule, settling): (Res<InterestConfig>, Res<InterestRule>, Res<Settling>),
    (places, walls): (Res<Places>, Res<Walls>),
    mut links: Query<Viewer, (With<ClientOf>, With<Connected>, Without<Spectator>)>,
    mut questions: ResMut<Questions>,
    mut stats: ResMut<InterestStats>,
) {
    questions.0.clear();
    if !places.is_due {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
    let began = Instant::now();
    let (now, interval) = (places.now, config.interval_ticks.max(1));
    for (link, mut sight, mut hidden, sees_all) in &mut links {
        let hidden = hidden.bypass_change_detection();
        places.gone.iter().for_each(|pawn| hidden.forget(*pawn));
        let viewer = places.viewer(link).filter(|_| !sees_all && settling.is_over());
        let Some((slot, viewer)) = viewer.and_then(|slot| Some((slot, places.get(slot)?))) else {
            hidden.show_all();
            continue;
        };
        if !places.has_turn(slot, interval) {
            continue;
        }
        sight.follow(&walls, now);
        for (target, pawn) in places.iter() {
            let pair = sight.pair(target, pawn.entity, now);
            match verdict(link, viewer, pawn, &config, &rule) {
                SightVerdict::Show => {
                    hidden.show(pawn.entity);
                    pair.due = now;
                }
                SightVerdict::Hide => {
                    hidden.hide(pawn.entity);
                    pair.due = now;
                }
                SightVerdict::ByLevel => {
                    let is_surprise = [viewer, pawn].iter().any(|one| {
                        one.surprise.is_some_and(|tick| (0..=interval as i32).contains(&now.since(tick)))
                    });
                    if is_surprise || !pair.due.is_newer_than(now) {
                        let urgency = urgency(viewer, pawn, pair);
                        questions.0.push(Question { link, viewer: slot, target, urgency });
                    }
                }
            }
        }
    }
    stats.time += began.elapsed();
}

/// Returns how the exemptions judge a pair.
fn verdict(
    client: Entity,
    viewer: &Place,
    pawn: &Place,
    config: &InterestConfig,
    rule: &InterestRule,
) -> SightVerdict {
    let is_teammate = config.teammates && pawn.team.is_some() && pawn.team == viewer.team;
    if pawn.owner == Some(client) || pawn.is_exempt || !pawn.is_alive || is_teammate {
        return SightVerdict::Show;
    }
    rule.judge(&SightPair { client, viewer: viewer.entity, pawn: pawn.entity })
}

/// Returns how urgent a question is: those about near and moving pawns first, and those that have waited longest.
fn urgency(viewer: &Place, target: &Place, pair: &Pair) -> f32 {
    let distance = viewer.root.position.distance(target.root.position);
    let speed = viewer.root.velocity.length() + target.root.velocity.length();
    (1.0 + speed) * (1.0 + f32::from(pair.unanswered)) / (1.0 + distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_is_new_for_another_pawn_and_forgets_a_changed_level() {
        let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).expect("a small number"));
        let mut sight = SightPairs::default();
        sight.pair(3, a, Tick(1)).due = Tick(50);
        assert_eq!((sight.pairs.len(), sight.pair(3, a, Tick(2)).due), (4, Tick(50)));
        let mut walls = Walls::default();
        sight.follow(&walls, Tick(3));
        assert_eq!(sight.pair(3, a, Tick(3)).due, Tick(50));
        walls.clear();
        sight.follow(&walls, Tick(4));
        assert_eq!(sight.pair(3, a, Tick(4)).due, Tick(4), "the level has changed");
        assert_eq!(sight.pair(3, b, Tick(5)).due, Tick(5), "another pawn");
    }
}

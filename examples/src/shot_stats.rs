//! Shot statistics of a client: hits drawn on the shooter's screen compared with the server's verdicts.

mod hit_counts;

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_unlag::{
    core::Tick,
    prelude::*,
    weapons::{DisplayedProjectileHit, HitList, Shot, ShotRefusal, ShotResult, TargetCount},
};
use serde::{Deserialize, Serialize};

pub use hit_counts::HitCounts;

/// Time after which a round without a verdict counts as lost, and as disagreement, in seconds.
const VERDICT_TIMEOUT: f32 = 5.0;

/// Shot statistics of this client's player. Every round is counted once; each pellet of a shotgun is a
/// round.
#[doc(alias = "hit registration")]
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShotStats {
    #[serde(skip)]
    open: BTreeMap<u32, OpenShot>,
    /// Rounds fired.
    pub shots: u64,
    /// Rounds drawn as hits on the client's screen.
    pub drawn: u64,
    /// Rounds that the server confirmed as hits.
    pub confirmed: u64,
    /// Rounds for which client and server agree on the target and its hit group.
    pub agreed: u64,
    /// Rounds drawn as hits that the server resolved as misses.
    pub missed: u64,
    /// Rounds drawn as hits that the server confirmed on another target or another hit group.
    pub elsewhere: u64,
    /// Rounds that the server refused.
    pub refused: u64,
    /// Refused rounds that were drawn as hits.
    pub refused_drawn: u64,
    /// Reason of the most recent refusal.
    #[serde(skip)]
    pub last_refusal: Option<ShotRefusal>,
    /// Number of refusals by reason, in the order of [`ShotRefusal::ALL`].
    pub reasons: [u64; ShotRefusal::ALL.len()],
    /// Rounds whose verdict never arrived.
    pub lost: u64,
    /// Rounds that a limit made the server resolve at another view time than the client's. They are included
    /// in the numbers above.
    pub clamped: HitCounts,
    /// The projectiles among them.
    #[serde(skip)]
    pub projectiles: HitCounts,
}

#[derive(Clone, Copy, Debug)]
struct OpenShot {
    rounds: u64,
    /// Hits drawn on the client's screen. Unknown for a projectile until it ends.
    drawn: Option<HitList>,
    verdict: Option<ShotVerdict>,
    fired_at: f32,
    is_projectile: bool,
}

impl ShotStats {
    /// Returns the counts of all rounds.
    #[must_use]
    pub fn tally(&self) -> HitCounts {
        HitCounts { rounds: self.shots, drawn: self.drawn, confirmed: self.confirmed, agreed: self.agreed }
    }

    /// Returns the counts of the rounds that the server resolved at the client's view time.
    #[must_use]
    pub fn unclamped(&self) -> HitCounts {
        self.tally() - self.clamped
    }

    /// Returns P(confirmed | drawn) in percent: the share of drawn hits that the server confirmed. `None`
    /// without a drawn hit.
    #[must_use]
    pub fn confirmed_of_drawn(&self) -> Option<f64> {
        self.tally().confirmed_of_drawn()
    }

    /// Returns P(drawn | confirmed) in percent: the share of confirmed hits that were drawn. `None` without
    /// a confirmed hit.
    #[must_use]
    pub fn drawn_of_confirmed(&self) -> Option<f64> {
        self.tally().drawn_of_confirmed()
    }

    /// Returns the reasons for which rounds were refused, with their numbers.
    pub fn refusals(&self) -> impl Iterator<Item = (ShotRefusal, u64)> {
        ShotRefusal::ALL.into_iter().zip(self.reasons).filter(|(_, count)| *count > 0)
    }

    /// Adds another player's rounds.
    pub fn merge(&mut self, other: &Self) {
        self.shots += other.shots;
        self.drawn += other.drawn;
        self.confirmed += other.confirmed;
        self.agreed += other.agreed;
        self.missed += other.missed;
        self.elsewhere += other.elsewhere;
        self.refused += other.refused;
        self.refused_drawn += other.refused_drawn;
        self.last_refusal = other.last_refusal.or(self.last_refusal);
        for (mine, theirs) in self.reasons.iter_mut().zip(other.reasons) {
            *mine += theirs;
        }
        self.lost += other.lost;
        self.clamped += other.clamped;
        self.projectiles += other.projectiles;
    }

    /// Counts every round that still waits for its verdict as lost.
    pub fn close(&mut self) {
        self.lost += self.open.values().map(|shot| shot.rounds).sum::<u64>();
        self.open.clear();
    }

    fn fire(&mut self, shot: Tick, rounds: u64, now: f32) {
        self.shots += rounds;
        let open = OpenShot { rounds, drawn: None, verdict: None, fired_at: now, is_projectile: false };
        self.open.insert(shot.0, open);
    }

    fn launch(&mut self, shot: Tick, now: f32) {
        self.fire(shot, 1, now);
        self.projectiles.rounds += 1;
        if let Some(open) = self.open.get_mut(&shot.0) {
            open.is_projectile = true;
        }
    }

    /// Records the hits that the client drew for a shot.
    fn draw(&mut self, shot: Tick, drawn: HitList) {
        let Some(open) = self.open.get_mut(&shot.0).filter(|open| open.drawn.is_none()) else { return };
        open.drawn = Some(drawn);
        self.drawn += count(&drawn);
        if open.is_projectile {
            self.projectiles.drawn += count(&drawn);
        }
        if let Some(verdict) = open.verdict {
            self.count_verdict(&verdict);
        }
    }

    fn count_verdict(&mut self, verdict: &ShotVerdict) {
        let hits = match verdict.result {
            // A projectile's verdict follows when it ends.
            ShotResult::Launched => return,
            ShotResult::Hit(hits) => hits,
            ShotResult::Miss | ShotResult::Refused(_) => HitList::default(),
        };
        let Some(open) = self.open.get_mut(&verdict.shot.0) else { return };
        let refused = matches!(verdict.result, ShotResult::Refused(_));
        if open.drawn.is_none() && !refused {
            open.verdict = Some(*verdict);
            return;
        }
        let open = *open;
        self.open.remove(&verdict.shot.0);
        let shown = open.drawn.unwrap_or_default();
        let drawn = count(&shown);
        if let ShotResult::Refused(why) = verdict.result {
            debug!("shot {:?} was refused: {why:?}", verdict.shot);
            self.refused += open.rounds;
            self.refused_drawn += drawn;
            self.last_refusal = Some(why);
            self.reasons[why as usize] += open.rounds;
            return;
        }
        let counts =
            HitCounts { confirmed: count(&hits), agreed: count_agreeing(&shown, &hits), ..default() };
        self.confirmed += counts.confirmed;
        self.agreed += counts.agreed;
        if open.is_projectile {
            self.projectiles += counts;
        }
        if drawn > 0 {
            let apart = drawn - counts.agreed;
            *(if counts.confirmed == 0 { &mut self.missed } else { &mut self.elsewhere }) += apart;
        }
        if verdict.clamped {
            self.clamped += HitCounts { rounds: open.rounds, drawn, ..counts };
        }
    }

    fn expire_lost_shots(&mut self, now: f32) {
        let lost = &mut self.lost;
        self.open.retain(|_, shot| {
            let waits = now - shot.fired_at < VERDICT_TIMEOUT;
            *lost += if waits { 0 } else { shot.rounds };
            waits
        });
    }
}

/// Returns the number of rounds that hit.
fn count(hits: &HitList) -> u64 {
    hits.iter().map(|hit| u64::from(hit.head) + u64::from(hit.body) + u64::from(hit.limb)).sum()
}

/// Returns the number of rounds that hit the same group of the same target in both lists.
fn count_agreeing(a: &HitList, b: &HitList) -> u64 {
    let same = |hit: &TargetCount| {
        let other = b.iter().find(|other| other.target == hit.target)?;
        let pairs = [(hit.head, other.head), (hit.body, other.body), (hit.limb, other.limb)];
        Some(pairs.into_iter().map(|(a, b)| u64::from(a.min(b))).sum::<u64>())
    };
    a.iter().filter_map(same).sum()
}

/// System set in [`Update`] that updates [`ShotStats`].
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct ShotStatsSystems;

/// Updates the [`ShotStats`] of a client.
pub fn plugin(app: &mut App) {
    app.init_resource::<ShotStats>().add_systems(Update, update_shot_stats.in_set(ShotStatsSystems));
}

fn update_shot_stats(
    time: Res<Time<Real>>,
    mut shot_stats: ResMut<ShotStats>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut flown: MessageReader<DisplayedProjectileHit>,
    arsenal: Res<Arsenal>,
) {
    let now = time.elapsed_secs();
    for shot in fired.read() {
        let name = shot.round.shot;
        match arsenal.get(shot.round.weapon).map(|weapon| weapon.shot) {
            Some(Shot::Ray { .. } | Shot::Pellets { .. }) => {
                let hits = shot.rays.iter().filter_map(|ray| ray.drawn);
                let drawn = hits.map(|hit| (hit.target, hit.group)).collect();
                shot_stats.fire(name, shot.rays.len() as u64, now);
                shot_stats.draw(name, drawn);
            }
            Some(Shot::Projectile(_)) => shot_stats.launch(name, now),
            // Melee swings have no ray to draw.
            _ => {}
        }
    }
    for end in flown.read() {
        shot_stats.draw(end.shot, end.hits);
    }
    for verdict in verdicts.read() {
        shot_stats.count_verdict(verdict);
    }
    shot_stats.expire_lost_shots(now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmed_hit_on_another_target_counts_as_disagreement() {
        let mut shot_stats = ShotStats::default();
        let head = |id: u16| -> HitList { [(NetId(id), HitGroup::Head)].into_iter().collect() };
        for shot in 1..=3 {
            shot_stats.fire(Tick(shot), 1, 0.0);
            shot_stats.draw(Tick(shot), head(1));
        }
        for (shot, id) in [(1, 1), (2, 9)] {
            let verdict =
                ShotVerdict { shot: Tick(shot), result: ShotResult::Hit(head(id)), clamped: id == 9 };
            shot_stats.count_verdict(&verdict);
            shot_stats.count_verdict(&verdict);
        }
        shot_stats.expire_lost_shots(6.0);
        assert_eq!(
            (shot_stats.confirmed, shot_stats.agreed, shot_stats.elsewhere, shot_stats.lost),
            (2, 1, 1, 1),
            "a repeated verdict counts once"
        );
        assert_eq!(shot_stats.drawn_of_confirmed(), Some(50.0));
        assert_eq!(shot_stats.clamped, HitCounts { rounds: 1, drawn: 1, confirmed: 1, agreed: 0 });
        assert_eq!(shot_stats.unclamped().drawn_of_confirmed(), Some(100.0));
    }
    #[test]
    fn each_pellet_of_a_shot_counts_as_one_round() {
        let mut shot_stats = ShotStats::default();
        let of = |id, group, times| core::iter::repeat_n((NetId(id), group), times);
        let drawn = of(1, HitGroup::Body, 5).chain(of(2, HitGroup::Limb, 2)).collect();
        let confirmed =
            of(1, HitGroup::Body, 4).chain(of(1, HitGroup::Head, 1)).chain(of(2, HitGroup::Limb, 2));
        shot_stats.fire(Tick(1), 12, 0.0);
        shot_stats.draw(Tick(1), drawn);
        let result = ShotResult::Hit(confirmed.collect());
        shot_stats.count_verdict(&ShotVerdict {
            shot: Tick(1),
            result: ShotResult::Launched,
            clamped: false,
        });
        shot_stats.count_verdict(&ShotVerdict { shot: Tick(1), result, clamped: false });
        assert_eq!(
            (
                shot_stats.shots,
                shot_stats.drawn,
                shot_stats.confirmed,
                shot_stats.agreed,
                shot_stats.elsewhere
            ),
            (12, 7, 7, 6, 1)
        );
    }
    #[test]
    fn projectile_is_counted_once_client_and_server_have_seen_its_end() {
        let mut shot_stats = ShotStats::default();
        let body: HitList = [(NetId(4), HitGroup::Body)].into_iter().collect();
        let hit = |shot| ShotVerdict { shot: Tick(shot), result: ShotResult::Hit(body), clamped: false };
        for shot in [1, 2] {
            shot_stats.launch(Tick(shot), 0.0);
            shot_stats.count_verdict(&ShotVerdict { result: ShotResult::Launched, ..hit(shot) });
        }
        shot_stats.count_verdict(&hit(1));
        assert_eq!((shot_stats.confirmed, shot_stats.drawn), (0, 0));
        shot_stats.draw(Tick(1), body);
        shot_stats.draw(Tick(2), HitList::default());
        shot_stats.count_verdict(&hit(2));
        assert_eq!(
            (shot_stats.shots, shot_stats.drawn, shot_stats.confirmed, shot_stats.agreed),
            (2, 1, 2, 1)
        );
        assert_eq!(shot_stats.projectiles, HitCounts { rounds: 2, drawn: 1, confirmed: 2, agreed: 1 });
    }
}

//! What the shooter's screen showed against what the server said.

mod doing;

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_unlag::{core::SnapshotHistory, prelude::*};

pub use doing::{Doing, Tally};

/// Seconds after which a round without a verdict is lost, and counts as disagreement.
const LOST_AFTER: f32 = 5.0;

/// The rounds of this client's player, each counted once.
#[derive(Resource, Clone, Debug, Default)]
pub struct ShotLedger {
    open: BTreeMap<u32, OpenShot>,
    /// Rounds fired.
    pub shots: u64,
    /// Rounds that the screen showed hitting somebody.
    pub drawn: u64,
    /// Rounds that the server confirmed to have hit somebody.
    pub confirmed: u64,
    /// Rounds that both have hitting the same part of the same player.
    pub agreed: u64,
    /// Rounds that the screen showed hitting somebody and the server let miss.
    pub missed: u64,
    /// Rounds that the screen showed hitting somebody and the server confirmed on somebody else, or on
    /// another part.
    pub elsewhere: u64,
    /// Rounds that the server refused to judge.
    pub refused: u64,
    /// Those among them that the screen showed hitting somebody.
    pub refused_drawn: u64,
    /// Why the last of those was refused.
    pub last_refusal: Option<ShotRefusal>,
    /// Rounds whose verdict never came.
    pub lost: u64,
    /// Rounds that were judged at another moment than the screen showed, because of a limit; they are
    /// in the numbers above as well.
    pub clamped: Tally,
    /// Drawn hits by what the target was [`Doing`]. Nobody saw what the target of a round did that the screen
    /// let miss: those are not in here.
    pub doing: [Tally; 4],
}

#[derive(Clone, Copy, Debug)]
struct OpenShot {
    drawn: Option<(NetId, HitGroup)>,
    doing: Doing,
    fired_at: f32,
}

impl ShotLedger {
    /// All rounds together.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally { rounds: self.shots, drawn: self.drawn, confirmed: self.confirmed, agreed: self.agreed }
    }

    /// Without those that were judged at another moment than the screen showed.
    #[must_use]
    pub fn unclamped(&self) -> Tally {
        self.tally() - self.clamped
    }

    /// P(confirmed | drawn) in percent: of the hits that the screen showed, how many counted.
    /// `None` without any.
    #[must_use]
    pub fn confirmed_of_drawn(&self) -> Option<f64> {
        self.tally().confirmed_of_drawn()
    }

    /// P(drawn | confirmed) in percent: of the hits that counted, how many the screen had shown.
    /// `None` without any.
    #[must_use]
    pub fn drawn_of_confirmed(&self) -> Option<f64> {
        self.tally().drawn_of_confirmed()
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
        self.lost += other.lost;
        self.clamped += other.clamped;
        for (mine, theirs) in self.doing.iter_mut().zip(other.doing) {
            *mine += theirs;
        }
    }

    /// Counts every round that still waits as lost.
    pub fn close(&mut self) {
        self.lost += self.open.len() as u64;
        self.open.clear();
    }

    fn fire(&mut self, shot: u32, drawn: Option<(NetId, HitGroup)>, doing: Doing, now: f32) {
        self.shots += 1;
        if drawn.is_some() {
            self.drawn += 1;
            self.doing[doing as usize] += Tally { rounds: 1, drawn: 1, ..default() };
        }
        self.open.insert(shot, OpenShot { drawn, doing, fired_at: now });
    }

    fn judge(&mut self, verdict: &ShotVerdict) {
        let Some(open) = self.open.remove(&verdict.shot) else { return };
        let hit = match verdict.result {
            ShotResult::Hit { target, group } => Some((target, group)),
            ShotResult::Refused(why) => {
                debug!("round {} was refused: {why:?}", verdict.shot);
                self.refused += 1;
                self.refused_drawn += u64::from(open.drawn.is_some());
                self.last_refusal = Some(why);
                return;
            }
            ShotResult::Miss => None,
        };
        let agreed = hit.is_some() && hit == open.drawn;
        let judged = Tally { confirmed: hit.is_some().into(), agreed: agreed.into(), ..default() };
        self.confirmed += judged.confirmed;
        self.agreed += judged.agreed;
        if open.drawn.is_some() {
            self.doing[open.doing as usize] += judged;
            self.missed += u64::from(hit.is_none());
            self.elsewhere += u64::from(hit.is_some() && !agreed);
        }
        if verdict.clamped {
            self.clamped += Tally { rounds: 1, drawn: open.drawn.is_some().into(), ..judged };
        }
    }

    fn give_up(&mut self, now: f32) {
        let before = self.open.len();
        self.open.retain(|_, shot| now - shot.fired_at < LOST_AFTER);
        self.lost += (before - self.open.len()) as u64;
    }
}

/// Keeps a [`ShotLedger`].
pub struct LedgerPlugin;

impl Plugin for LedgerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ShotLedger>().add_systems(Update, keep);
    }
}

fn keep(
    time: Res<Time<Real>>,
    mut ledger: ResMut<ShotLedger>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    pawns: Query<(&DrawnPose, Option<&SnapshotHistory>)>,
) {
    let now = time.elapsed_secs();
    for shot in fired.read() {
        let target = shot.drawn.and_then(|hit| pawns.get(hit.entity).ok());
        let doing = target.map_or(Doing::Strafe, |(drawn, history)| Doing::read(drawn, history));
        ledger.fire(shot.shot, shot.drawn.map(|hit| (hit.target, hit.group)), doing, now);
    }
    for verdict in verdicts.read() {
        ledger.judge(verdict);
    }
    ledger.give_up(now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmed_hit_on_somebody_else_is_no_agreement() {
        let mut ledger = ShotLedger::default();
        let head = |id| (NetId(id), HitGroup::Head);
        ledger.fire(1, Some(head(1)), Doing::Strafe, 0.0);
        ledger.fire(2, Some(head(1)), Doing::Air, 0.0);
        ledger.fire(3, Some(head(1)), Doing::Air, 0.0);
        for (shot, id) in [(1, 1), (2, 9)] {
            let result = ShotResult::Hit { target: NetId(id), group: HitGroup::Head };
            let verdict = ShotVerdict { shot, result, clamped: id == 9 };
            ledger.judge(&verdict);
            ledger.judge(&verdict);
        }
        ledger.give_up(6.0);
        assert_eq!(
            (ledger.confirmed, ledger.agreed, ledger.elsewhere, ledger.lost),
            (2, 1, 1, 1),
            "a repeated verdict counts once"
        );
        assert_eq!(ledger.drawn_of_confirmed(), Some(50.0));
        let [strafe, air, ..] = ledger.doing;
        assert_eq!((strafe.drawn, strafe.agreed), (1, 1));
        assert_eq!((air.drawn, air.confirmed, air.agreed), (2, 1, 0));
        assert_eq!(ledger.clamped, Tally { rounds: 1, drawn: 1, confirmed: 1, agreed: 0 });
        assert_eq!(ledger.unclamped().drawn_of_confirmed(), Some(100.0));
    }
}

//! What the shooter's screen showed against what the server said.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_unlag::prelude::*;

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
    /// Rounds that the server refused to judge.
    pub refused: u64,
    /// Those among them that the screen showed hitting somebody.
    pub refused_drawn: u64,
    /// Why the last of those was refused.
    pub last_refusal: Option<ShotRefusal>,
    /// Rounds whose verdict never came.
    pub lost: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenShot {
    drawn: Option<(NetId, HitGroup)>,
    fired_at: f32,
}

impl ShotLedger {
    /// P(confirmed | drawn) in percent: of the hits that the screen showed, how many counted.
    /// `None` without any.
    #[must_use]
    pub fn confirmed_of_drawn(&self) -> Option<f64> {
        (self.drawn > 0).then(|| self.agreed as f64 * 100.0 / self.drawn as f64)
    }

    /// P(drawn | confirmed) in percent: of the hits that counted, how many the screen had shown.
    /// `None` without any.
    #[must_use]
    pub fn drawn_of_confirmed(&self) -> Option<f64> {
        (self.confirmed > 0).then(|| self.agreed as f64 * 100.0 / self.confirmed as f64)
    }

    /// Adds another player's rounds.
    pub fn merge(&mut self, other: &Self) {
        self.shots += other.shots;
        self.drawn += other.drawn;
        self.confirmed += other.confirmed;
        self.agreed += other.agreed;
        self.refused += other.refused;
        self.refused_drawn += other.refused_drawn;
        self.lost += other.lost;
    }

    /// Counts every round that still waits as lost.
    pub fn close(&mut self) {
        self.lost += self.open.len() as u64;
        self.open.clear();
    }

    fn fire(&mut self, shot: u32, drawn: Option<(NetId, HitGroup)>, now: f32) {
        self.shots += 1;
        self.drawn += u64::from(drawn.is_some());
        self.open.insert(shot, OpenShot { drawn, fired_at: now });
    }

    fn judge(&mut self, verdict: &ShotVerdict) {
        let Some(open) = self.open.remove(&verdict.shot) else { return };
        match verdict.result {
            ShotResult::Hit { target, group } => {
                self.confirmed += 1;
                self.agreed += u64::from(open.drawn == Some((target, group)));
            }
            ShotResult::Refused(why) => {
                debug!("round {} was refused: {why:?}", verdict.shot);
                self.refused += 1;
                self.refused_drawn += u64::from(open.drawn.is_some());
                self.last_refusal = Some(why);
            }
            ShotResult::Miss => {}
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
) {
    let now = time.elapsed_secs();
    for shot in fired.read() {
        ledger.fire(shot.shot, shot.drawn.map(|hit| (hit.target, hit.group)), now);
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
        ledger.fire(1, Some(head(1)), 0.0);
        ledger.fire(2, Some(head(1)), 0.0);
        ledger.fire(3, Some(head(1)), 0.0);
        for (shot, id) in [(1, 1), (2, 9)] {
            let result = ShotResult::Hit { target: NetId(id), group: HitGroup::Head };
            ledger.judge(&ShotVerdict { shot, result });
            ledger.judge(&ShotVerdict { shot, result });
        }
        ledger.give_up(6.0);
        assert_eq!(
            (ledger.confirmed, ledger.agreed, ledger.lost),
            (2, 1, 1),
            "a repeated verdict counts once"
        );
        assert_eq!(ledger.drawn_of_confirmed(), Some(50.0));
    }
}

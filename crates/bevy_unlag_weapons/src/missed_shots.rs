//! Answers on the shooter's client to shots whose moves never ran on the server.

use std::collections::VecDeque;

use bevy::{ecs::message::MessageCursor, prelude::*};
use bevy_unlag_core::{LocalControl, MoveFate, MovesAcknowledged, NetRole, Tick};

use crate::{
    arsenal::Arsenal,
    firing::ShotFired,
    verdict::{ShotRefusal, ShotResult, ShotVerdict},
    weapon::Weapon,
};

/// Maximum number of shots that wait for an answer; beyond it the oldest one gets none. A beam fires in every tick: at
/// 64 ticks a second this is 16 s of it.
const CAPACITY: usize = 1_024;
/// Seconds for which a verdict may be under way after its shot's move was acknowledged, or its pawn is steered no
/// more. Verdicts are sent reliably: one that is later than this was lost with its connection.
const VERDICT_TIMEOUT: f64 = 5.0;

/// Shots of the own pawns without a verdict.
#[derive(Resource, Default)]
pub(crate) struct UnansweredShots {
    /// Oldest first.
    waiting: VecDeque<UnansweredShot>,
    missed_beams: MissedBeams,
}

struct UnansweredShot {
    shooter: Entity,
    shot: Tick,
    beam: bool,
    /// Seconds of real time since the verdict can be expected; `None` while the move may still run.
    expected_at: Option<f64>,
}

/// The newest shot of a beam whose move did not run, and its shooter. Of consecutive ones only the first is answered,
/// as with the server's verdicts on beams.
#[derive(Default)]
struct MissedBeams(Option<(Entity, Tick)>);

impl MissedBeams {
    /// Adds the answer to a missed shot, except that of a beam whose shot before was missed, too.
    fn answer(&mut self, missed: &UnansweredShot, answers: &mut Vec<Tick>) {
        let (shooter, shot) = (missed.shooter, missed.shot);
        let continues = missed.beam && self.0 == Some((shooter, shot.offset(-1)));
        if missed.beam {
            self.0 = Some((shooter, shot));
        }
        if !continues {
            answers.push(shot);
        }
    }
}

impl UnansweredShots {
    /// Takes all shots: their server is left. Returns those that need an answer.
    pub fn take(&mut self) -> Vec<Tick> {
        let mut missed = Vec::new();
        for known in core::mem::take(&mut self.waiting) {
            self.missed_beams.answer(&known, &mut missed);
        }
        missed
    }

    fn add(&mut self, shooter: Entity, shot: Tick, beam: bool) {
        if self.waiting.len() == CAPACITY {
            self.waiting.pop_front();
        }
        self.waiting.push_back(UnansweredShot { shooter, shot, beam, expected_at: None });
    }

    fn remove(&mut self, shot: Tick) {
        self.waiting.retain(|known| known.shot != shot);
    }

    /// Processes an acknowledgement. Adds the shots whose moves did not run to `missed`.
    fn acknowledge(&mut self, acked: &MovesAcknowledged, now: f64, missed: &mut Vec<Tick>) {
        let Self { waiting, missed_beams } = self;
        waiting.retain_mut(|known| {
            if known.shooter != acked.entity || known.expected_at.is_some() {
                return true;
            }
            match acked.fate(known.shot) {
                MoveFate::Pending => true,
                MoveFate::Missed => {
                    missed_beams.answer(known, missed);
                    false
                }
                // The newest verdict on the beam counts for this shot, too.
                MoveFate::Ran | MoveFate::Unknown if known.beam => false,
                MoveFate::Ran | MoveFate::Unknown => {
                    known.expected_at = Some(now);
                    true
                }
            }
        });
    }

    /// Adds the shots whose verdict is overdue to `missed`. The time also runs for pawns that are no longer steered.
    fn expire(&mut self, is_steered: impl Fn(Entity) -> bool, now: f64, missed: &mut Vec<Tick>) {
        let Self { waiting, missed_beams } = self;
        waiting.retain_mut(|known| {
            if known.expected_at.is_none() && !is_steered(known.shooter) {
                known.expected_at = Some(now);
            }
            let overdue = known.expected_at.is_some_and(|at| now - at > VERDICT_TIMEOUT);
            if overdue {
                missed_beams.answer(known, missed);
            }
            !overdue
        });
    }
}

/// Writes a refusal for each shot of the local player whose move never ran on the server, as soon as that is known.
/// Of consecutive shots of a beam only the first is answered, as with the server's verdicts.
pub(crate) fn answer_missed_shots(
    real: Res<Time<Real>>,
    arsenal: Res<Arsenal>,
    pawns: Query<&NetRole, With<LocalControl>>,
    mut fired: MessageReader<ShotFired>,
    mut acknowledged: MessageReader<MovesAcknowledged>,
    mut verdicts: ResMut<Messages<ShotVerdict>>,
    mut cursor: Local<MessageCursor<ShotVerdict>>,
    mut unanswered: ResMut<UnansweredShots>,
    mut missed: Local<Vec<Tick>>,
) {
    let now = real.elapsed_secs_f64();
    let is_steered = |pawn| pawns.get(pawn).is_ok_and(|role| *role == NetRole::AutonomousProxy);
    for shot in fired.read().filter(|shot| is_steered(shot.shooter)) {
        if let Some(beam) = arsenal.get(shot.round.weapon).map(Weapon::is_beam) {
            unanswered.add(shot.shooter, shot.round.shot, beam);
        }
    }
    for verdict in cursor.read(&verdicts) {
        unanswered.remove(verdict.shot);
    }
    missed.clear();
    for acked in acknowledged.read() {
        unanswered.acknowledge(acked, now, &mut missed);
    }
    unanswered.expire(is_steered, now, &mut missed);
    verdicts.write_batch(missed.drain(..).map(missing_move));
}

/// Returns the client's own answer to a shot that the server will not answer.
pub(crate) fn missing_move(shot: Tick) -> ShotVerdict {
    ShotVerdict { shot, clamped: false, result: ShotResult::Refused(ShotRefusal::MissingMove) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(newest: u32, missed: u64, is_last: bool) -> MovesAcknowledged {
        let ran = Some(Tick(newest));
        MovesAcknowledged { entity: Entity::from_bits(1), acked: ran.filter(|_| !is_last), ran, missed }
    }

    #[test]
    fn shots_are_answered_when_their_move_is_missed_or_their_verdict_overdue() {
        let mut shots = UnansweredShots::default();
        (10..20).for_each(|shot| shots.add(Entity::from_bits(1), Tick(shot), false));
        shots.add(Entity::from_bits(2), Tick(11), false);
        let mut missed = Vec::new();
        shots.acknowledge(&acked(14, 0b10010, false), 1.0, &mut missed);
        assert_eq!(missed, [Tick(10), Tick(13)], "of the pawn that is meant");
        shots.remove(Tick(12));
        missed.clear();
        shots.expire(|_| true, 1.0 + VERDICT_TIMEOUT - 0.1, &mut missed);
        assert_eq!(missed, [], "the verdicts may be under way");
        shots.expire(|_| true, 1.0 + VERDICT_TIMEOUT + 0.1, &mut missed);
        assert_eq!(missed, [Tick(11), Tick(14)], "12 was answered, the others are not acknowledged");
        missed.clear();
        shots.acknowledge(&acked(17, 0, true), 2.0, &mut missed);
        assert_eq!(missed, [Tick(18), Tick(19)], "the count of moves has ended");
        missed.clear();
        shots.expire(|pawn| pawn != Entity::from_bits(2), 3.0, &mut missed);
        shots.expire(|_| true, 3.1 + VERDICT_TIMEOUT, &mut missed);
        assert_eq!(missed.len(), 4, "three that ran, and the one of the other pawn: {missed:?}");
        assert!(shots.waiting.is_empty());
    }

    #[test]
    fn beam_is_answered_once_for_each_gap_in_its_moves() {
        let mut shots = UnansweredShots::default();
        (10..30).for_each(|shot| shots.add(Entity::from_bits(1), Tick(shot), true));
        let mut missed = Vec::new();
        // 14 to 16, 18 and 19 did not run.
        shots.acknowledge(&acked(20, 0b111_0110, false), 1.0, &mut missed);
        assert_eq!(missed, [Tick(14), Tick(18)]);
        assert_eq!(shots.waiting.len(), 9, "the newest verdict counts for the shots that ran");
        missed.clear();
        shots.acknowledge(&acked(22, 0b11, false), 1.1, &mut missed);
        assert_eq!(missed, [Tick(21)]);
        missed.clear();
        shots.acknowledge(&acked(23, 0b1, false), 1.2, &mut missed);
        assert_eq!(missed, [], "the gap goes on");
        missed.clear();
        shots.acknowledge(&acked(24, 0b10, false), 1.3, &mut missed);
        shots.expire(|_| true, 100.0, &mut missed);
        assert_eq!(missed, [], "no verdict of its own is due");
        assert_eq!(shots.take(), [Tick(25)], "the server is left");
    }

    #[test]
    fn number_of_waiting_shots_is_bounded() {
        let mut shots = UnansweredShots::default();
        (0..2_000).for_each(|shot| shots.add(Entity::from_bits(1), Tick(shot), shot % 2 == 0));
        let newest = shots.waiting.back().map(|shot| shot.shot);
        assert_eq!((shots.waiting.len(), newest), (CAPACITY, Some(Tick(1_999))));
    }
}

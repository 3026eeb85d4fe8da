//! Answers on the shooter's client to shots whose moves never ran on the server.

use std::collections::VecDeque;

use bevy::{ecs::message::MessageCursor, prelude::*};
use bevy_unlag_core::{LocalControl, MoveFate, MovesAcknowledged, NetRole, Tick};

use crate::{
    arsenal::Arsenal,
    firing::ShotFired,
    verdict::{ShotRefusal, ShotResult, ShotVerdict},
};

/// Maximum number of shots that wait for an answer; beyond it the oldest one gets none.
const CAPACITY: usize = 512;
/// Seconds for which a verdict may be under way after its shot's move was acknowledged, or its pawn is steered no
/// more. Verdicts are sent reliably: one that is later than this was lost with its connection.
const VERDICT_TIMEOUT: f64 = 5.0;

/// Shots of the own pawns without a verdict, oldest first.
#[derive(Resource, Default)]
pub(crate) struct UnansweredShots(VecDeque<UnansweredShot>);

struct UnansweredShot {
    shooter: Entity,
    shot: Tick,
    /// Seconds of real time since the verdict can be expected; `None` while the move may still run.
    expected_at: Option<f64>,
}

impl UnansweredShots {
    /// Takes all shots: their server is left.
    pub fn take(&mut self) -> impl Iterator<Item = Tick> + use<> {
        core::mem::take(&mut self.0).into_iter().map(|known| known.shot)
    }

    fn add(&mut self, shooter: Entity, shot: Tick) {
        if self.0.len() == CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(UnansweredShot { shooter, shot, expected_at: None });
    }

    fn remove(&mut self, shot: Tick) {
        self.0.retain(|known| known.shot != shot);
    }

    /// Notes an acknowledgement. Returns the shots whose moves did not run.
    fn acknowledge(&mut self, acked: &MovesAcknowledged, now: f64, missed: &mut Vec<Tick>) {
        self.0.retain_mut(|known| {
            if known.shooter != acked.entity || known.expected_at.is_some() {
                return true;
            }
            match acked.fate(known.shot) {
                MoveFate::Pending => {}
                MoveFate::Ran | MoveFate::Unknown => known.expected_at = Some(now),
                MoveFate::Missed => missed.push(known.shot),
            }
            acked.fate(known.shot) != MoveFate::Missed
        });
    }

    /// Returns the shots whose verdict is overdue. The time also runs for pawns that are no longer steered.
    fn expire(&mut self, is_steered: impl Fn(Entity) -> bool, now: f64, missed: &mut Vec<Tick>) {
        self.0.retain_mut(|known| {
            if known.expected_at.is_none() && !is_steered(known.shooter) {
                known.expected_at = Some(now);
            }
            let overdue = known.expected_at.is_some_and(|at| now - at > VERDICT_TIMEOUT);
            if overdue {
                missed.push(known.shot);
            }
            !overdue
        });
    }
}

/// Writes a refusal for each shot of the local player whose move never ran on the server, as soon as that is known.
/// Beams are exempt: of consecutive shots with equal results only the first has a verdict.
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
        if arsenal.get(shot.round.weapon).is_some_and(|weapon| !weapon.is_beam()) {
            unanswered.add(shot.shooter, shot.round.shot);
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
        (10..20).for_each(|shot| shots.add(Entity::from_bits(1), Tick(shot)));
        shots.add(Entity::from_bits(2), Tick(11));
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
        assert!(shots.0.is_empty());
    }

    #[test]
    fn number_of_waiting_shots_is_bounded() {
        let mut shots = UnansweredShots::default();
        (0..2_000).for_each(|shot| shots.add(Entity::from_bits(1), Tick(shot)));
        assert_eq!((shots.0.len(), shots.0.back().map(|shot| shot.shot)), (CAPACITY, Some(Tick(1_999))));
    }
}

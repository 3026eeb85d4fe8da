//! Selection of moves for a packet: new moves, and older ones whose packets may be lost.

use bevy_unlag_core::{LastReceivedSnapshot, MoveModel, Tick, Wire};

use crate::{
    packet::{MAX_MOVES, MovePacket, MoveRun},
    saved_moves::{SavedMove, SavedMoves},
    state_check::StateCheck,
};

/// Maximum number of overdue moves per packet.
const OVERDUE: usize = 6;

/// Returns the runs of a packet whose newest move is the newest saved one: moves never sent, moves at an
/// age of repetition, moves whose acknowledgement is overdue, all moves before the first acknowledgement of
/// an epoch, and, since they cost almost nothing, moves equal to their neighbour. `overdue` and `useless`
/// are ages in ticks: that at which an acknowledgement is overdue, and that from which a move arrives too
/// late. With `once` no move is sent again.
pub(crate) fn runs<M: MoveModel>(
    saved: &SavedMoves<M>,
    (overdue, useless): (i32, i32),
    once: bool,
) -> Vec<MoveRun<M::Input>> {
    let mut runs: Vec<MoveRun<M::Input>> = Vec::with_capacity(8);
    let Some(newest) = saved.iter().next_back().map(|m| m.tick) else { return runs };
    let age_of = |tick: Tick| newest.since(tick);
    let ages = saved.loss.ages();
    let overdue_from = saved
        .iter()
        .filter(|m| saved.is_unreceived(m.tick) && age_of(m.tick) < useless)
        .take(OVERDUE)
        .take_while(|m| age_of(m.tick) >= overdue)
        .last()
        .map(|m| age_of(m.tick));
    // The server begins an epoch with the oldest move of the first packet that it receives.
    let unstarted = saved.last_acked().is_none();
    let wanted = |m: &SavedMove<M>| {
        let age = age_of(m.tick);
        m.sent_at.is_none()
            || age == 0
            || unstarted && age < useless
            || saved.is_unreceived(m.tick)
                && age < useless
                && (ages.contains(&(age as u16)) || overdue_from.is_some_and(|from| age >= from))
    };
    let mut total = 0;
    for m in saved.iter().rev() {
        let age = age_of(m.tick);
        if age > i32::from(u16::MAX / 2) || total == MAX_MOVES || once && age > 0 && m.sent_at.is_some() {
            break;
        }
        let age = age as u16;
        let wanted = wanted(m);
        let adjoins = runs.last_mut().filter(|run| run.age + run.length == age && run.input == m.input);
        match adjoins {
            // Extending a run by one costs almost nothing, so only received moves end it.
            Some(run) if wanted || saved.is_unreceived(m.tick) => run.length += 1,
            _ if wanted => {
                let end = runs.last().map_or(0, |run| run.age + run.length);
                if age - end >= MovePacket::<M::Input>::MAX_GAP {
                    break;
                }
                runs.push(MoveRun { age, length: 1, input: m.input });
            }
            _ => continue,
        }
        total += 1;
    }
    runs
}

/// Returns a packet with all unacknowledged moves of a pawn that is no longer controlled, newest first.
pub(crate) fn last_packet<M: MoveModel>(
    saved: &mut SavedMoves<M>,
    last_received: LastReceivedSnapshot,
) -> Option<Vec<u8>> {
    let (epoch, _) = saved.epoch?;
    let (tick, result) = saved.iter().next_back().map(|m| (m.tick, m.result))?;
    let mut runs: Vec<MoveRun<M::Input>> = Vec::with_capacity(8);
    for (age, m) in saved.iter().rev().take(MAX_MOVES).enumerate() {
        let age = age as u16;
        if age != tick.since(m.tick) as u16 {
            break;
        }
        match runs.last_mut().filter(|run| run.input == m.input) {
            Some(run) => run.length += 1,
            None => runs.push(MoveRun { age, length: 1, input: m.input }),
        }
    }
    let sequence = saved.sequence;
    saved.sequence = sequence.wrapping_add(1);
    let coarse = MovePacket::<M::Input>::is_coarse(sequence);
    let check = StateCheck::of::<M>(&result, tick, coarse);
    let ack_bits = last_received.to_ack_bits(tick);
    let packet = MovePacket { epoch, sequence, newest: tick.0 as u16, ack_bits, check, runs };
    Some(packet.to_bytes())
}

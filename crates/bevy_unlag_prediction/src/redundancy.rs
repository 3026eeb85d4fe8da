//! Which moves go into a packet: the new ones, and those whose packets may have been lost.

use bevy_unlag_core::{MoveModel, Tick};

use crate::{MAX_MOVES, MovePacket, MoveRun, SavedMove, SavedMoves};

/// Moves that should have been answered long ago, at most this many a packet.
const OVERDUE: usize = 6;

/// The runs of a packet whose newest move is the newest saved one: what was never sent, what is due
/// to be repeated at its age, what the server should have had long ago, and for next to nothing
/// whatever equals its neighbour. `overdue` and `useless` are ages in ticks: from the one on a move
/// should have been answered, from the other on it comes too late.
pub(crate) fn runs<M: MoveModel>(
    saved: &SavedMoves<M>,
    overdue: i32,
    useless: i32,
) -> Vec<MoveRun<M::Input>> {
    let mut runs: Vec<MoveRun<M::Input>> = Vec::with_capacity(8);
    let Some(newest) = saved.iter().next_back().map(|m| m.tick) else { return runs };
    let age_of = |tick: Tick| newest.since(tick);
    let ages = saved.loss.ages();
    let overdue_from = saved
        .iter()
        .filter(|m| saved.is_wanted(m.tick) && age_of(m.tick) < useless)
        .take(OVERDUE)
        .take_while(|m| age_of(m.tick) >= overdue)
        .last()
        .map(|m| age_of(m.tick));
    let wanted = |m: &SavedMove<M>| {
        let age = age_of(m.tick);
        m.sent_at.is_none()
            || age == 0
            || saved.is_wanted(m.tick)
                && age < useless
                && (ages.contains(&(age as u16)) || overdue_from.is_some_and(|from| age >= from))
    };
    let mut total = 0;
    for m in saved.iter().rev() {
        let age = age_of(m.tick);
        if age > i32::from(u16::MAX / 2) || total == MAX_MOVES {
            break;
        }
        let age = age as u16;
        let wanted = wanted(m);
        let adjoins = runs.last_mut().filter(|run| run.age + run.length == age && run.input == m.input);
        match adjoins {
            // A run that grows by one costs almost nothing, so nothing stops it but arrival.
            Some(run) if wanted || saved.is_wanted(m.tick) => run.length += 1,
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

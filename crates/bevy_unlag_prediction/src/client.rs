//! Tick of the owner's client: it simulates, saves and sends a move.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    CurrentTick, LastReceivedSnapshot, LocalControl, MoveInput, MoveModel, NetRole, StepContext, StepEvent,
    Tick, Wire,
};

use crate::{
    config::{PredictionConfig, ticks},
    debug::PredictionDebug,
    mailbox::OutgoingMoves,
    packet::MovePacket,
    redundancy,
    saved_moves::{SavedMove, SavedMoves},
    scheduled_pushes::ScheduledPushes,
    send_rate::SendThrottle,
    state_check::StateCheck,
    stats::{MoveTrace, PredictionStats},
};

/// Maximum number of skipped ticks whose moves are simulated at once after a stall of the app, two seconds
/// at 64 Hz. The server has extrapolated older ones already.
const MAX_SKIPPED_TICKS: i32 = 128;
/// Ticks beyond the usual round trip after which an unacknowledged move is sent again.
const OVERDUE_MARGIN: i32 = 3;

/// Simulates the move of this tick with the live input, and those of skipped ticks with the substitute
/// input of [`MoveModel::missing_input`]; both quantised, as the server reads them. Saves the moves and sends
/// them.
pub(crate) fn step_own_pawn<M: MoveModel>(
    config: Res<PredictionConfig>,
    debug: Res<PredictionDebug>,
    throttle: Res<SendThrottle>,
    model: Res<M::Config>,
    (tick, last_received): (Res<CurrentTick>, Res<LastReceivedSnapshot>),
    fixed: Res<Time<Fixed>>,
    real: Res<Time<Real>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<
        (
            Entity,
            &NetRole,
            &mut M::State,
            &MoveInput<M>,
            &mut SavedMoves<M>,
            &ScheduledPushes<M>,
            &mut OutgoingMoves,
            &mut PredictionStats,
            Option<&mut MoveTrace>,
        ),
        With<LocalControl>,
    >,
    mut happened: MessageWriter<StepEvent<M>>,
) {
    let dt = fixed.timestep().as_secs_f32();
    for (entity, role, mut state, input, mut saved, pushes, mut outgoing, mut stats, mut trace) in &mut pawns
    {
        if *role != NetRole::AutonomousProxy {
            continue;
        }
        let missed =
            saved.last_simulated().map_or(0, |last| tick.0.since(last) - 1).clamp(0, MAX_SKIPPED_TICKS);
        let last_input = saved.iter().next_back().map_or(input.0, |last| last.input);
        for ago in (0..=missed).rev() {
            let move_tick = tick.0.offset(-ago);
            let missing_input = ago > 0;
            let wanted = if missing_input { M::missing_input(&last_input, false) } else { input.0 };
            let wanted = Wire::quantised(wanted);
            let ctx = StepContext { tick: move_tick, dt, entity, replaying: false };
            let start = *state;
            let pushed = pushes.apply(&model, move_tick, &start);
            let mut events = Vec::new();
            let result = M::step(&model, &pushed, &wanted, &ctx, &world, &mut events);
            *state = result;
            let outcomes = events.iter().filter(|event| M::is_outcome(event)).cloned().collect();
            let forgot = saved.push(SavedMove {
                tick: move_tick,
                input: wanted,
                start,
                result,
                sent_at: None,
                missing_input,
                outcomes,
            });
            if forgot {
                if stats.dropped_moves == 0 {
                    warn!("no acknowledgement for {} moves: dropping the oldest", SavedMoves::<M>::CAPACITY);
                }
                stats.dropped_moves += 1;
            }
            stats.moves += 1;
            happened.write_batch(events.into_iter().map(|event| StepEvent {
                entity,
                tick: move_tick,
                state: result,
                queued_ticks: 0,
                last_received_snapshot: None,
                event,
            }));
            if let Some(trace) = &mut trace {
                trace.0.push((move_tick, M::position(&result)));
            }
        }
        stats.unacknowledged_moves = saved.len() as u32;
        send::<M>(
            &config,
            &debug,
            &throttle,
            (tick.0, *last_received),
            (dt, real.elapsed_secs_f64()),
            &mut saved,
            &mut outgoing,
            &mut stats,
        );
    }
}

/// Queues a move packet for sending if one is due.
fn send<M: MoveModel>(
    config: &PredictionConfig,
    debug: &PredictionDebug,
    throttle: &SendThrottle,
    (tick, last_received): (Tick, LastReceivedSnapshot),
    (dt, now): (f32, f64),
    saved: &mut SavedMoves<M>,
    outgoing: &mut OutgoingMoves,
    stats: &mut PredictionStats,
) {
    let mut newest = saved.iter().rev();
    let Some((last, result)) = newest.next().map(|m| (m.input, m.result)) else { return };
    let before = newest.next().map(|m| m.input);
    drop(newest);
    saved.since_packet += 1;
    let nothing_new = before.is_some_and(|before| M::can_combine_with(&before, &last));
    let stationary = nothing_new && last == M::missing_input(&last, false);
    if nothing_new && saved.since_packet < config.send.ticks(throttle, stationary) {
        return;
    }
    saved.since_packet = 0;
    let Some((epoch, _)) = saved.epoch else { return };
    let usual = ticks(stats.rtt.as_secs_f32(), dt) + ticks(config.ack_interval, dt).min(64);
    let ages = (usual + OVERDUE_MARGIN, ticks(config.missing_move_timeout, dt));
    let runs = redundancy::runs(saved, ages, debug.send_moves_once);
    let packet = MovePacket {
        epoch,
        sequence: saved.sequence,
        newest: tick.0 as u16,
        ack_bits: last_received.to_ack_bits(tick),
        check: StateCheck::of::<M>(&result, tick, MovePacket::<M::Input>::is_coarse(saved.sequence)),
        runs,
    };
    saved.sequence = saved.sequence.wrapping_add(1);
    for unsent in saved.iter_mut().rev().take_while(|m| m.sent_at.is_none()) {
        unsent.sent_at = Some(now);
    }
    let bytes = packet.to_bytes();
    trace!(
        target: "bevy_unlag::moves",
        "client: packet {} at {tick:?}, {} bytes, at {}: {:?}",
        packet.sequence, bytes.len(), M::position(&result), packet.runs,
    );
    stats.packets += 1;
    stats.move_bytes += bytes.len() as u64;
    if !debug.should_drop(stats.packets) {
        outgoing.0.push(bytes);
    }
}

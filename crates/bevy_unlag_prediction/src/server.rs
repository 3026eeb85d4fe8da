//! Authority side of prediction: runs each move once, in order and within its time, compares the result and
//! acknowledges it.

use core::time::Duration;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    CurrentTick, GameClock, MoveDiagnostics, MoveModel, SnapshotAcks, Stall, StepContext, StepEvent, Wire,
};

use crate::{
    ack::{AckedMove, ClientAdjustment, MAX_PUSHES, MoveAck},
    cause::CorrectionCause,
    config::{PredictionConfig, ticks},
    config_hash::CachedConfigHash,
    control_offer::ControlOffer,
    debug::PredictionDebug,
    mailbox::{IncomingMoves, OutgoingControlOffers, OutgoingMoveAcks},
    move_log::MoveLog,
    move_queue::{DueMove, MoveQueue},
    outcome::ServerCorrection,
    packet::MovePacket,
    scheduled_pushes::ScheduledPushes,
    state_check::StateCheck,
    stats::{MoveTrace, PredictionStats},
    time_discrepancy::{TimeDiscrepancy, TimeDiscrepancyDetected},
};

/// Seconds for which the server, after a hitch of its own, waits for packets still in the network before it
/// treats a client as silent. Unreal's `ServerForcedUpdateHitchCooldown`.
const HITCH_COOLDOWN: f32 = 0.1;
/// Seconds after a change of the game's speed in which moves arrive earlier or later than the link explains:
/// those under way, and those of clients that have not been informed yet.
const SPEED_CHANGE_COOLDOWN: f64 = 0.5;
/// Seconds after a change of the game's speed until clients that learned late of it are steered back.
const SPEED_CHANGE_MEMORY: f64 = 10.0;
/// Seconds between two offers of a new epoch to a silent client.
const SILENT_INTERVAL: f32 = 0.25;
/// Seconds after which a push counts as confirmed, whatever the owner says: it was corrected long ago.
const PUSH_TIMEOUT: f32 = 1.5;
/// Maximum number of moves of one pawn per tick, as many as a stall of four seconds leaves.
const MAX_MOVES_PER_TICK: usize = 256;

/// Decodes the received packets into the move queues.
pub(crate) fn receive_moves<M: MoveModel>(
    config: Res<PredictionConfig>,
    real: Res<Time<Real>>,
    fixed: Res<Time<Fixed>>,
    tick: Res<CurrentTick>,
    stall: Res<Stall>,
    (game, clock): (Res<Time<Virtual>>, Res<GameClock>),
    mut counted: Local<Duration>,
    mut pawns: Query<(
        Entity,
        &mut IncomingMoves,
        &mut MoveQueue<M>,
        &mut TimeDiscrepancy,
        &mut SnapshotAcks,
        &mut PredictionStats,
    )>,
    mut detected: MessageWriter<TimeDiscrepancyDetected>,
) {
    let now = real.elapsed_secs_f64();
    let dt = fixed.timestep().as_secs_f32();
    let since_speed_change = clock.seconds_since_change();
    let hitching = stall.seconds_since_hitch < HITCH_COOLDOWN || since_speed_change < SPEED_CHANGE_COOLDOWN;
    // A frame of several ticks receives all its packets in the first tick, so that tick is granted all its
    // time.
    let stalled = f64::from(stall.skipped) * f64::from(dt);
    let passed = game.elapsed().saturating_sub(*counted).as_secs_f64() + stalled;
    *counted = game.elapsed();
    for (entity, mut incoming, mut queue, mut account, mut acks, mut stats) in &mut pawns {
        acks.bypass_change_detection().begin_tick();
        account.note_speed_change(since_speed_change);
        if queue.last_run().is_some() {
            account.advance(passed, stalled, &config.time);
        }
        for bytes in incoming.drain() {
            stats.move_bytes += bytes.len() as u64;
            if queue.belongs_to_other_pawn(&bytes) {
                continue;
            }
            let Ok(packet) = MovePacket::<M::Input>::from_bytes(&bytes) else {
                stats.malformed += 1;
                trace!(target: "bevy_unlag::moves", "server: {entity} sent {} malformed bytes", bytes.len());
                continue;
            };
            trace!(
                target: "bevy_unlag::moves",
                "server: {entity} sent packet {} at {:?}: {:?}",
                packet.sequence, packet.newest_tick(tick.0), packet.runs,
            );
            if queue.receive_packet(&packet, (tick.0, now), hitching, dt, &config, &mut account, &mut acks) {
                detected.write(TimeDiscrepancyDetected { entity, discrepancy: *account });
            }
        }
    }
}

/// Runs the due moves of all pawns, extrapolates missing ones and compares the results with the clients'.
pub(crate) fn run_moves<M: MoveModel>(
    config: Res<PredictionConfig>,
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    stall: Res<Stall>,
    (fixed, clock): (Res<Time<Fixed>>, Res<GameClock>),
    world: StaticSystemParam<M::World>,
    mut pawns: Query<(
        Entity,
        &mut M::State,
        &mut MoveQueue<M>,
        &mut ScheduledPushes<M>,
        &mut TimeDiscrepancy,
        &mut PredictionStats,
        (Option<&mut MoveTrace>, Option<&mut MoveLog<M>>),
    )>,
    mut happened: MessageWriter<StepEvent<M>>,
    mut found: MessageWriter<ServerCorrection<M>>,
    mut events: Local<Vec<M::Event>>,
) {
    let now = tick.0;
    let dt = fixed.timestep().as_secs_f32();
    let seconds = f64::from(dt);
    let missing_move_timeout = if stall.seconds_since_hitch < HITCH_COOLDOWN {
        i32::MAX
    } else {
        ticks(config.missing_move_timeout, dt).max(1)
    };
    let forced_update = ticks(config.forced_update, dt).cast_unsigned();
    let (max_buffer, push_lead) = (ticks(config.max_buffer, dt), ticks(config.push_lead, dt).min(64));
    let early_by_speed = clock.speed() < 1.0 || clock.seconds_since_change() < SPEED_CHANGE_MEMORY;
    for (entity, mut state, mut queue, mut pushes, mut account, mut stats, (mut trace, mut log)) in &mut pawns
    {
        queue.update_delay(now, max_buffer, early_by_speed);
        if let Some(push_tick) = queue.next_push(push_lead) {
            pushes.schedule(push_tick);
        }
        if queue.expected_state.is_some_and(|left| left != *state) {
            queue.start_correction(CorrectionCause::ServerChange, f32::INFINITY);
        }
        if stall.skipped > 0 {
            queue.note_incident(CorrectionCause::ServerStall, now);
        }
        queue.caught_up.clear();
        for ran in 0..MAX_MOVES_PER_TICK {
            if let Some(last) = queue.last_run().filter(|_| ran > 0) {
                queue.caught_up.push((last, *state));
            }
            let due = queue.next_move(now, missing_move_timeout);
            if matches!(due, DueMove::Nothing) {
                break;
            }
            // A push is applied in its move, even if the move itself is not run.
            let Some(mut move_tick) = queue.last_run() else { break };
            *state = pushes.apply_due(&model, move_tick, &state);
            let mut abandoned = false;
            let neutral = matches!(due, DueMove::Neutral);
            let (input, queued) = match due {
                DueMove::Nothing => break,
                DueMove::Neutral => (queue.last_input, None),
                DueMove::Move(queued) if !account.allows(seconds, &config.time) => {
                    // The client has used up this time. Its next check reveals the difference.
                    if queue.pending_correction == Some(CorrectionCause::InitialState) {
                        queue.pending_correction = Some(CorrectionCause::ClientClock);
                    }
                    queue.note_incident(CorrectionCause::ClientClock, now);
                    queue.arrived_at = Some(queued.arrived_at);
                    queue.last_input = queued.input;
                    queue.outcomes <<= 1;
                    queue.ack_pending = true;
                    stats.withheld += 1;
                    continue;
                }
                DueMove::Move(queued) => (queued.input, Some(queued)),
                DueMove::Missing { later } => {
                    queue.extrapolated_moves = queue.extrapolated_moves.saturating_add(1);
                    if queue.extrapolated_moves > forced_update {
                        // The client is silent. Moves that may still arrive late are not run either.
                        let ticks_overdue = queue.ticks_overdue(now).unwrap_or(0) - missing_move_timeout;
                        queue.skip_moves(ticks_overdue.max(0));
                        if let Some(left_out) = queue.last_run() {
                            move_tick = left_out;
                            *state = pushes.apply_due(&model, left_out, &state);
                        }
                        if !queue.awaits_first_move() {
                            // A client that returns, or that never received the previous start, starts a
                            // new epoch.
                            queue.restart(now);
                        }
                        // The pawn still falls, lands and rides lifts.
                        abandoned = true;
                        if !account.allows(seconds, &config.time) {
                            break;
                        }
                        (M::missing_input(&queue.last_input, false), None)
                    } else {
                        if !matches!(
                            queue.likely_cause(now, dt),
                            CorrectionCause::ServerStall | CorrectionCause::ClientClock
                        ) {
                            queue.note_incident(CorrectionCause::MissingMoves, now);
                        }
                        let cause = queue.likely_cause(now, dt);
                        queue.start_correction(cause, f32::INFINITY);
                        if !account.allows(seconds, &config.time) {
                            // These moves are ahead of time and were never simulated by the client: the
                            // pawn is not extrapolated there.
                            stats.withheld += 1;
                            queue.outcomes <<= 1;
                            continue;
                        }
                        // With moves on both sides of the gap the input continues; in a silence it becomes
                        // neutral.
                        (M::missing_input(&queue.last_input, later), None)
                    }
                }
            };
            let ctx = StepContext { tick: move_tick, dt, entity, replaying: false };
            events.clear();
            *state = M::step(&model, &state, &input, &ctx, &world, &mut events);
            if queue.may_take_over_after(move_tick, &input) {
                *state = M::change_control(&state);
            }
            account.grant(seconds);
            queue.outcomes = queue.outcomes << 1 | u64::from(events.iter().any(M::is_outcome));
            let queued_ticks =
                queued.map_or(0, |queued| now.since(queued.arrived_tick).max(0)).cast_unsigned();
            happened.write_batch(events.drain(..).map(|event| StepEvent {
                entity,
                tick: move_tick,
                state: *state,
                queued_ticks,
                last_received_snapshot: queued.and_then(|queued| queued.last_received_snapshot),
                event,
            }));
            if let Some(trace) = &mut trace {
                trace.0.push((move_tick, M::position(&state)));
            }
            if let Some(log) = &mut log {
                log.push(move_tick, input, queued.is_none());
            }
            queue.arrived_at = queued.map(|queued| queued.arrived_at);
            let Some(queued) = queued else {
                if abandoned {
                    break;
                }
                stats.extrapolated_moves += u64::from(!neutral);
                continue;
            };
            queue.ran.record(move_tick);
            stats.moves += 1;
            stats.largest_delay = stats
                .largest_delay
                .max(queue.ticks_overdue(now).map_or(0, |ticks_overdue| ticks_overdue + 1));
            queue.extrapolated_moves = 0;
            queue.last_input = queued.input;
            queue.ack_pending = true;
            let Some(check) = queued.check else { continue };
            let mine = StateCheck::of::<M>(&state, move_tick, check.is_coarse());
            let error = check.distance(mine);
            // A fine check cannot tell 2 m from 0 m, a coarse one 1 m from 0 m. To end a correction or to
            // confirm a push, both must show no difference at all. During a correction the server does not
            // accept the client's position, either.
            let correcting = queue.pending_correction.is_some_and(|cause| {
                !matches!(cause, CorrectionCause::InitialState | CorrectionCause::Forced)
            });
            if error <= config.tolerance {
                if correcting && error > 0.0 {
                    continue;
                }
                queue.agreed[usize::from(check.is_coarse())] = Some(move_tick);
                if !correcting {
                    queue.pending_correction = None;
                }
                if let [Some(fine), Some(coarse)] = queue.agreed {
                    queue.pending_correction = None;
                    pushes.confirm(if fine.is_newer_than(coarse) { coarse } else { fine });
                }
                continue;
            }
            let accepted = (error <= config.accept_client_position && !correcting)
                .then(|| M::try_nudge(&model, &state, check.difference(mine), &ctx, &world))
                .flatten();
            if let Some(accepted) = accepted {
                *state = accepted;
                stats.accepted += 1;
                queue.pending_correction = None;
                continue;
            }
            let mut cause = queue.likely_cause(now, dt);
            if queue.pending_correction == Some(CorrectionCause::ServerChange) {
                // A move that the owner simulated before it knew.
                cause = CorrectionCause::ServerChange;
            }
            if cause == CorrectionCause::Unknown && pushes.unconfirmed() {
                cause = CorrectionCause::ServerPush;
            }
            if cause == CorrectionCause::Unknown && M::Diagnostics::is_near_pawn(&model, &state, &ctx, &world)
            {
                cause = CorrectionCause::OtherPawn;
            }
            queue.start_correction(cause, error);
            if error.is_finite() {
                let client_position = M::position(&state) + check.difference(mine);
                let server = *state;
                found.write(ServerCorrection {
                    entity,
                    tick: move_tick,
                    cause,
                    error,
                    server,
                    client_position,
                });
            }
        }
        queue.expected_state = Some(*state);
        stats.delay = queue.delay();
        stats.queued_moves = queue.queued_moves() as u32;
        stats.loss = queue.loss().unwrap_or(0.0);
    }
}

/// Queues an acknowledgement for sending if one is due.
pub(crate) fn send_acks<M: MoveModel>(
    config: Res<PredictionConfig>,
    debug: Res<PredictionDebug>,
    config_hash: Res<CachedConfigHash<M>>,
    model: Res<M::Config>,
    world: StaticSystemParam<M::World>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    real: Res<Time<Real>>,
    mut pawns: Query<(
        Entity,
        &M::State,
        &mut MoveQueue<M>,
        &mut ScheduledPushes<M>,
        &TimeDiscrepancy,
        (&mut OutgoingMoveAcks, &mut OutgoingControlOffers),
        &mut PredictionStats,
    )>,
) {
    let dt = fixed.timestep().as_secs_f32();
    let [forced_update, ack_interval, correction_interval, silent_interval] =
        [config.forced_update, config.ack_interval, config.correction_interval, SILENT_INTERVAL]
            .map(|seconds| ticks(seconds, dt).cast_unsigned());
    for (entity, state, mut queue, mut pushes, account, (mut outgoing, mut offers), mut stats) in &mut pawns {
        let last_run = queue.last_run_in_epoch();
        if queue.clock.epoch.is_none() {
            queue.restart(tick.0);
        }
        if last_run.is_none() {
            pushes.restart();
        }
        queue.since_ack = queue.since_ack.saturating_add(1);
        if config.time.force_corrections && account.resolving {
            queue.pending_correction = queue.pending_correction.or(Some(CorrectionCause::ClientClock));
        }
        if queue.ack_pending && debug.should_correct(stats.acks) {
            queue.pending_correction = queue.pending_correction.or(Some(CorrectionCause::Forced));
        }
        let urgent = queue.pending_correction.is_none() || queue.error >= config.large_error;
        let interval = if urgent { ack_interval } else { correction_interval.max(ack_interval) };
        let silent = queue.extrapolated_moves > forced_update;
        let interval = if silent { interval.max(silent_interval) } else { interval };
        if queue.since_ack < interval || !(queue.ack_pending || queue.pending_correction.is_some()) {
            continue;
        }
        if queue.offered {
            offers.0.push(ControlOffer::of(&queue, state, tick.0).to_bytes());
            queue.since_ack = 0;
            continue;
        }
        if queue.transfer().is_some_and(|(first, last)| first.is_newer_than(last.offset(1))) {
            // The owner cannot be corrected to a state before it had control.
            continue;
        }
        if let Some(last_run) = last_run {
            pushes.confirm(last_run.offset(-ticks(PUSH_TIMEOUT, dt)));
        }
        let held = queue.arrived_at.map_or(1.0, |at| (real.elapsed_secs_f64() - at).clamp(0.0, 1.0));
        let ack = MoveAck {
            epoch: queue.clock.epoch.unwrap_or(0),
            sequence: queue.sequence,
            acked: last_run.map_or(AckedMove::Start { now: tick.0 }, |run| AckedMove::Move(run.0 as u16)),
            queued_moves: queue.consecutive_queued_moves(),
            ack_delay: Duration::from_secs_f64(held),
            lag: queue.lag,
            delay: queue.delay().clamp(-512, 511) as i16,
            loss: queue.loss_level(),
            resolving: account.resolving,
            outcomes: queue.outcomes,
            ran: last_run.map_or(queue.ran_before.for_ack(None), |run| queue.ran.for_ack(Some(run))),
            pushes: pushes
                .next_to_send(MAX_PUSHES)
                .into_iter()
                .map(|(tick, push)| (tick.0 as u16, push))
                .collect(),
            adjustment: queue.pending_correction.map(|cause| ClientAdjustment {
                cause,
                config: config_hash.low(),
                surroundings: M::Diagnostics::surroundings_hash(&model, state, &world) as u16,
                state: *state,
            }),
        };
        if let Some(cause) = queue.pending_correction {
            stats.count_cause(cause);
            if cause == CorrectionCause::Forced {
                queue.pending_correction = None;
            }
        }
        let bytes = ack.to_bytes();
        trace!(
            target: "bevy_unlag::moves",
            "server: to {entity} {:?} at {}: {:?}", ack.acked, M::position(state), queue.pending_correction,
        );
        stats.ack_bytes += bytes.len() as u64;
        stats.acks += 1;
        outgoing.0.push(bytes);
        queue.sequence = queue.sequence.wrapping_add(1);
        queue.since_ack = 0;
        queue.ack_pending = false;
    }
}

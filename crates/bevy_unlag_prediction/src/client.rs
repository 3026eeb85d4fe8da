//! The owner's side: step, save, send; take answers, replay.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    BitReader, BitWriter, CurrentTick, LocalControl, MoveInput, MoveModel, NetRole, StepContext, StepEvent,
    VisualOffset, Wire,
};

use crate::{
    IncomingAnswers, MAX_MOVES, MovePacket, MoveTrace, OutgoingMoves, PredictionConfig, PredictionStats,
    SavedMove, SavedMoves, ServerAnswer, StateCheck,
};

/// Takes a step with the live input, saves it and mails it.
pub(crate) fn step_own<M: MoveModel>(
    config: Res<PredictionConfig>,
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
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
            &mut OutgoingMoves,
            &mut PredictionStats,
            Option<&mut MoveTrace>,
        ),
        With<LocalControl>,
    >,
    mut happened: MessageWriter<StepEvent<M>>,
) {
    for (entity, role, mut state, input, mut saved, mut outgoing, mut stats, trace) in &mut pawns {
        if *role != NetRole::AutonomousProxy {
            continue;
        }
        let ctx = StepContext { tick: tick.0, dt: fixed.timestep().as_secs_f32(), entity };
        let mut events = Vec::new();
        let result = M::step(&model, &state, &input.0, &ctx, &world, &mut events);
        *state = result;
        saved.push(SavedMove { tick: tick.0, input: input.0, result, sent_at: real.elapsed_secs_f64() });
        happened.write_batch(events.into_iter().map(|event| StepEvent {
            entity,
            tick: tick.0,
            state: result,
            waited: 0,
            event,
        }));
        if let Some(mut trace) = trace {
            trace.0.push((tick.0, M::position(&result)));
        }

        let newest_first = saved.iter().rev().take(config.moves_per_packet.clamp(1, MAX_MOVES));
        let packet = MovePacket {
            newest: tick.0,
            check: StateCheck::of::<M>(&result),
            inputs: newest_first.map(|m| m.input).collect(),
        };
        let mut w = BitWriter::default();
        packet.write(&mut w);
        let bytes = w.finish();
        stats.moves += 1;
        stats.move_bytes += bytes.len() as u64;
        outgoing.0.push(bytes);
    }
}

/// Takes the newest answer in; on an adjustment sets the state and makes the rest again.
pub(crate) fn take_answers<M: MoveModel>(
    config: Res<PredictionConfig>,
    model: Res<M::Config>,
    fixed: Res<Time<Fixed>>,
    real: Res<Time<Real>>,
    world: StaticSystemParam<M::World>,
    mut tick: ResMut<CurrentTick>,
    mut pawns: Query<(
        Entity,
        Option<&mut M::State>,
        &mut IncomingAnswers,
        &mut SavedMoves<M>,
        &mut VisualOffset,
        &mut PredictionStats,
    )>,
    mut commands: Commands,
) {
    let now = real.elapsed_secs_f64();
    for (entity, mut state, mut incoming, mut saved, mut offset, mut stats) in &mut pawns {
        let mut newest: Option<ServerAnswer<M::State>> = None;
        for bytes in incoming.drain() {
            stats.answer_bytes += bytes.len() as u64;
            let Ok(answer) = ServerAnswer::<M::State>::read(&mut BitReader::new(&bytes)) else {
                stats.malformed += 1;
                continue;
            };
            let newer = match (newest.as_ref().and_then(|n| n.tick), answer.tick) {
                (Some(old), Some(new)) => !old.is_newer_than(new),
                (Some(_), None) => false,
                (None, _) => true,
            };
            if newer {
                newest = Some(answer);
            }
        }
        let Some(answer) = newest else { continue };

        let settled = match answer.tick {
            Some(tick) => {
                if saved.is_stale(tick) || !saved.is_news(tick) && answer.adjustment.is_none() {
                    continue;
                }
                stats.answers += u64::from(saved.is_news(tick));
                let settled = saved.settle(tick);
                if let Some(settled) = &settled {
                    stats.sample_rtt(now - settled.sent_at - answer.held.as_secs_f64(), now);
                }
                settled
            }
            None if state.is_some() => continue,
            None => None,
        };
        let Some(server) = answer.adjustment else { continue };
        let Some(state) = &mut state else {
            // No move has been made yet: from here on they count on the server's time line.
            if let Some(now) = answer.now {
                tick.0 = now;
            }
            commands.entity(entity).insert(server);
            continue;
        };
        if settled.as_ref().is_some_and(|mine| mine.result == server) {
            continue;
        }

        let (before, teleports) = (M::position(state), M::teleports(state));
        let mut current = server;
        let mut muted = Vec::new();
        for saved in saved.iter_mut() {
            let ctx = StepContext { tick: saved.tick, dt: fixed.timestep().as_secs_f32(), entity };
            current = M::step(&model, &current, &saved.input, &ctx, &world, &mut muted);
            saved.result = current;
            muted.clear();
            stats.replayed += 1;
        }
        **state = current;

        if M::teleports(&current) & 15 == teleports & 15 {
            let error = match &settled {
                Some(mine) => M::position(&mine.result).distance(M::position(&server)),
                None => before.distance(M::position(&current)),
            };
            if error > 0.0 {
                stats.count_correction(error);
            }
            let jump = before - M::position(&current);
            if jump.length() <= config.snap_distance {
                offset.offset += jump;
            }
        } else {
            *offset = VisualOffset::default();
        }
    }
}

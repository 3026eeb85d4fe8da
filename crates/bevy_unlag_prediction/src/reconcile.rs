//! The owner's side of an answer: well done, or replay.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{BitReader, CurrentTick, MoveModel, Stall, StepContext, Tick, VisualOffset, Wire};

use crate::{
    Answered, ClientAdjustment, ClockSteering, Correction, CorrectionCause, IncomingAnswers, MoveOutcome,
    PredictionConfig, PredictionDebug, PredictionStats, SavedMove, SavedMoves, ScheduledPushes, ServerAnswer,
};

/// Seconds for which a hitch of this app is to blame for moves that the server misses.
const HITCH_BLAMED: f32 = 2.0;

type Answer<M> = ServerAnswer<<M as MoveModel>::State, <M as MoveModel>::Push>;

/// Takes the newest answer in; on an adjustment sets the state and makes the rest again.
pub(crate) fn take_answers<M: MoveModel>(
    config: Res<PredictionConfig>,
    debug: Res<PredictionDebug>,
    model: Res<M::Config>,
    fixed: Res<Time<Fixed>>,
    real: Res<Time<Real>>,
    stall: Res<Stall>,
    world: StaticSystemParam<M::World>,
    mut tick: ResMut<CurrentTick>,
    mut steering: ResMut<ClockSteering>,
    mut pawns: Query<(
        Entity,
        Option<&mut M::State>,
        &mut IncomingAnswers,
        &mut SavedMoves<M>,
        &mut ScheduledPushes<M>,
        &mut VisualOffset,
        &mut PredictionStats,
    )>,
    mut outcomes: MessageWriter<MoveOutcome<M>>,
    mut corrections: MessageWriter<Correction<M>>,
    mut commands: Commands,
) {
    let now = real.elapsed_secs_f64();
    let dt = fixed.timestep().as_secs_f32();
    for (entity, mut state, mut incoming, mut saved, mut pushes, mut offset, mut stats) in &mut pawns {
        let Some(answer) = newest_answer::<M>(&mut incoming, &saved, tick.0, &mut stats) else { continue };
        let Some(answered) = answer.tick(tick.0) else {
            // The server begins a time line: from here on our moves count on it.
            if let Some(adjustment) = answer.adjustment {
                if let Answered::Start { now } = answer.answered {
                    saved.restart(answer.epoch, now);
                    tick.0 = now;
                }
                pushes.restart();
                steering.restart();
                *offset = VisualOffset::default();
                commands.entity(entity).insert(adjustment.state);
            }
            continue;
        };
        let Some(state) = &mut state else { continue };
        let news = saved.is_news(answered);
        if !news && answer.adjustment.is_none() {
            continue;
        }
        stats.answers += u64::from(news);
        stats.resolving = answer.resolving;
        saved.loss = answer.loss;

        // A push that we hear of too late happens in the past, and the moves after it again.
        let mut redo: Option<Tick> = None;
        for (low, push) in &answer.pushes {
            let due = crate::packet::near(tick.0, *low);
            if due.is_newer_than(answered) && pushes.insert(due, *push) {
                let made = saved.last_made().is_some_and(|last| !due.is_newer_than(last));
                stats.late_pushes += u64::from(made);
                let earlier = redo.is_none_or(|redo| redo.is_newer_than(due));
                redo = if made && earlier { Some(due) } else { redo };
            }
        }
        let since_answer = saved.last_answered().map_or(0, |last| answered.since(last));
        let mut settled: Option<SavedMove<M>> = None;
        for m in saved.settle(answered, answer.waiting) {
            if debug.replay_every_move {
                let ctx = StepContext { tick: m.tick, dt, entity, replaying: true };
                let pushed = pushes.apply(&model, m.tick, &m.start);
                let again = M::step(&model, &pushed, &m.input, &ctx, &world, &mut Vec::new());
                stats.unrepeatable += u64::from(again != m.result);
            }
            let bit = usize::try_from(answered.since(m.tick)).ok().filter(|bit| *bit < 16);
            let there = bit.map_or(answer.adjustment.is_none(), |bit| answer.outcomes >> bit & 1 == 1);
            if there && m.outcomes.is_empty() && bit.is_some() {
                outcomes.write(MoveOutcome { entity, tick: m.tick, event: None, succeeded: true });
            }
            outcomes.write_batch(m.outcomes.iter().map(|event| MoveOutcome {
                entity,
                tick: m.tick,
                event: Some(event.clone()),
                succeeded: there,
            }));
            settled = (m.tick == answered).then_some(m);
        }
        pushes.settle(answered);
        if let Some(sent_at) = settled.as_ref().and_then(|m| m.sent_at)
            && answer.held.as_secs_f64() < 0.99
        {
            let rtt = now - sent_at - answer.held.as_secs_f64();
            stats.sample_rtt(rtt, now);
            if config.steer_clock {
                steering.sample(f64::from(answer.lag) * f64::from(dt), rtt, now);
            }
        }

        // Where to begin again, and the first move to be made again.
        let adjusted =
            answer.adjustment.as_ref().filter(|a| settled.as_ref().is_none_or(|m| m.result != a.state));
        let (mut current, first) = match (&adjusted, redo) {
            (Some(adjustment), _) => (adjustment.state, None),
            (None, Some(redo)) => match saved.iter().find(|m| !redo.is_newer_than(m.tick)) {
                Some(m) => (m.start, Some(m.tick)),
                None => continue,
            },
            (None, None) => continue,
        };
        let (before, teleports) = (M::position(state), M::teleports(state));
        let began = std::time::Instant::now();
        let mut replayed = 0;
        let mut muted = Vec::new();
        for m in saved.iter_mut().filter(|m| first.is_none_or(|first| !first.is_newer_than(m.tick))) {
            let ctx = StepContext { tick: m.tick, dt, entity, replaying: true };
            m.start = current;
            let pushed = pushes.apply(&model, m.tick, &current);
            current = M::step(&model, &pushed, &m.input, &ctx, &world, &mut muted);
            m.result = current;
            muted.clear();
            replayed += 1;
        }
        **state = current;
        stats.replayed += u64::from(replayed);
        stats.last_replay = replayed;
        stats.last_replay_time = began.elapsed();

        let jump = before - M::position(&current);
        let teleported = M::teleports(&current) & 15 != teleports & 15;
        if teleported {
            *offset = VisualOffset::default();
        } else if jump != Vec3::ZERO {
            // What it could have run meanwhile is no reason to snap.
            let run = M::snapshot(&current, answered).velocity().length() * since_answer.max(0) as f32 * dt;
            let most = config.snap_distance + run;
            offset.offset += jump;
            if offset.offset.length() > most {
                *offset = VisualOffset::default();
            }
        }
        let Some(adjustment) = adjusted else { continue };
        let error = match &settled {
            Some(mine) => M::position(&mine.result).distance(M::position(&adjustment.state)),
            None => jump.length(),
        };
        if !teleported && error > 0.0 {
            let cause = cause::<M>(adjustment, &model, &world, &stall);
            stats.count_correction(error, cause);
            debug!(target: "bevy_unlag::corrections", "{entity}: {:.1} cm at {answered:?}: {cause}", error * 100.0);
            corrections.write(Correction {
                entity,
                tick: answered,
                cause,
                error,
                client: settled.map(|mine| mine.result),
                server: adjustment.state,
                replayed,
            });
        }
    }
}

/// The newest of what arrived; what belongs to another time line or is older than what is known
/// counts for nothing.
fn newest_answer<M: MoveModel>(
    incoming: &mut IncomingAnswers,
    saved: &SavedMoves<M>,
    now: Tick,
    stats: &mut PredictionStats,
) -> Option<Answer<M>> {
    let mut newest: Option<Answer<M>> = None;
    for bytes in incoming.drain() {
        stats.answer_bytes += bytes.len() as u64;
        let Ok(answer) = Answer::<M>::read(&mut BitReader::new(&bytes)) else {
            stats.malformed += 1;
            continue;
        };
        let counts = match (answer.answered, saved.epoch) {
            (Answered::Start { .. }, None) => true,
            // A server starts afresh later than it started.
            (Answered::Start { now }, Some((epoch, began))) => {
                answer.epoch != epoch && now.is_newer_than(began)
            }
            (Answered::Move(_), None) => false,
            (Answered::Move(_), Some((epoch, _))) => {
                answer.epoch == epoch && !answer.tick(now).is_some_and(|tick| saved.is_stale(tick))
            }
        };
        let newer = match (newest.as_ref().map(|n| n.tick(now)), answer.tick(now)) {
            (None, _) | (Some(Some(_)), None) => true,
            (Some(None), Some(_)) => false,
            (Some(Some(old)), Some(new)) => !old.is_newer_than(new),
            (Some(None), None) => true,
        };
        if counts && newer {
            newest = Some(answer);
        }
    }
    newest
}

/// Why the two differ: what the server knows, unless this side knows better.
fn cause<M: MoveModel>(
    adjustment: &ClientAdjustment<M::State>,
    model: &M::Config,
    world: &bevy::ecs::system::SystemParamItem<M::World>,
    stall: &Stall,
) -> CorrectionCause {
    if adjustment.config != M::config_hash(model, world) as u16 {
        return CorrectionCause::Configuration;
    }
    match adjustment.cause {
        CorrectionCause::MissingMoves if stall.since_hitch < HITCH_BLAMED => CorrectionCause::ClientHitch,
        CorrectionCause::Unknown
            if adjustment.surroundings != M::surroundings_hash(model, &adjustment.state, world) as u16 =>
        {
            CorrectionCause::Terrain
        }
        known => known,
    }
}

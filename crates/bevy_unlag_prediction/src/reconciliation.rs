//! Reconciliation on the owner's client: acknowledgement of saved moves, correction and replay.

use bevy::{ecs::system::StaticSystemParam, platform::time::Instant, prelude::*};
use bevy_unlag_core::{
    CurrentTick, GameClock, MoveDiagnostics, MoveModel, MovesAcknowledged, OwnMoveDelay, Stall, StepContext,
    Tick, VisualOffset, Wire,
};

use crate::{
    ack::{AckedMove, ClientAdjustment, MoveAck},
    cause::CorrectionCause,
    clock_steering::ClockSteering,
    config::PredictionConfig,
    config_hash::CachedConfigHash,
    debug::PredictionDebug,
    mailbox::IncomingMoveAcks,
    outcome::{Correction, MoveOutcome},
    packet::nearest_tick,
    run_record::RanMoves,
    saved_moves::{SavedMove, SavedMoves},
    scheduled_pushes::ScheduledPushes,
    stats::PredictionStats,
};

/// Seconds for which a hitch of this app counts as the cause of moves missing on the server.
const HITCH_CAUSE_SECONDS: f32 = 2.0;

type Ack<M> = MoveAck<<M as MoveModel>::State, <M as MoveModel>::Push>;

/// Applies the newest acknowledgement. On a correction, sets the state and replays the unacknowledged
/// moves.
pub(crate) fn reconcile<M: MoveModel>(
    config: Res<PredictionConfig>,
    debug: Res<PredictionDebug>,
    config_hash: Res<CachedConfigHash<M>>,
    model: Res<M::Config>,
    fixed: Res<Time<Fixed>>,
    (real, clock, mut delay): (Res<Time<Real>>, Res<GameClock>, ResMut<OwnMoveDelay>),
    stall: Res<Stall>,
    world: StaticSystemParam<M::World>,
    mut tick: ResMut<CurrentTick>,
    mut steering: ResMut<ClockSteering>,
    mut pawns: Query<(
        Entity,
        Option<&mut M::State>,
        &mut IncomingMoveAcks,
        &mut SavedMoves<M>,
        &mut ScheduledPushes<M>,
        &mut VisualOffset,
        &mut PredictionStats,
    )>,
    mut outcomes: MessageWriter<MoveOutcome<M>>,
    mut corrections: MessageWriter<Correction<M>>,
    mut acknowledged: MessageWriter<MovesAcknowledged>,
    mut muted: Local<Vec<M::Event>>,
    mut commands: Commands,
) {
    let now = real.elapsed_secs_f64();
    let dt = fixed.timestep().as_secs_f32();
    for (entity, mut state, mut incoming, mut saved, mut pushes, mut offset, mut stats) in &mut pawns {
        let Some((ack, received_pushes)) = newest_ack::<M>(&mut incoming, &saved, tick.0, &mut stats) else {
            continue;
        };
        let Some(acked_tick) = ack.tick(tick.0) else {
            // The server starts an epoch: from here on the owner's moves use its tick count.
            if let Some(adjustment) = ack.adjustment {
                if let AckedMove::Start { now } = ack.acked {
                    acknowledged.write(ran_moves(entity, None, ack.ran, tick.0));
                    saved.restart(ack.epoch, now);
                    saved.last_ack = Some(ack.sequence);
                    saved.teleports = Some(M::teleports(&adjustment.state) & 15);
                    tick.0 = now;
                }
                delay.0 = None;
                pushes.clear();
                steering.restart();
                *offset = VisualOffset::default();
                commands.entity(entity).insert(adjustment.state);
            }
            continue;
        };
        let Some(state) = &mut state else { continue };
        saved.last_ack = Some(ack.sequence);
        let news = saved.is_newer_than_acked(acked_tick);
        if !news && ack.adjustment.is_none() {
            continue;
        }
        stats.acks += u64::from(news);
        if news {
            delay.0 = Some(i32::from(ack.delay));
            acknowledged.write(ran_moves(entity, Some(acked_tick), ack.ran, tick.0));
        }
        stats.resolving = ack.resolving;
        saved.loss = ack.loss;

        let (before, teleports) = (M::position(state), M::teleports(state));
        #[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
        let began = Instant::now();
        let mut step = |at: Tick, start: &M::State, input: &M::Input, pushes: &ScheduledPushes<M>| {
            let ctx = StepContext { tick: at, dt, entity, replaying: true };
            let pushed = pushes.apply(&model, at, start);
            muted.clear();
            M::step(&model, &pushed, input, &ctx, &world, &mut muted)
        };
        // Pushes unknown so far are applied in the past and the moves after them are replayed, so that a
        // correction that already contains them changes nothing.
        let mut replayed = 0;
        if let Some(from) = learn_pushes(&received_pushes, &mut saved, &mut pushes, &mut stats) {
            replayed += replay::<M>(&mut saved, state, from, None, |at, start, input| {
                step(at, start, input, &pushes)
            });
        }
        let since_ack = saved.last_acked().map_or(0, |last| acked_tick.since(last));
        let mut settled: Option<SavedMove<M>> = None;
        for m in saved.acknowledge(acked_tick, ack.queued_moves) {
            if debug.replay_every_move {
                stats.nondeterministic_moves +=
                    u64::from(step(m.tick, &m.start, &m.input, &pushes) != m.result);
            }
            let bit = usize::try_from(acked_tick.since(m.tick)).ok().filter(|bit| *bit < 64);
            let there = bit.map_or(ack.adjustment.is_none(), |bit| ack.outcomes >> bit & 1 == 1);
            if there && m.outcomes.is_empty() && bit.is_some() {
                outcomes.write(MoveOutcome { entity, tick: m.tick, event: None, succeeded: true });
            }
            outcomes.write_batch(m.outcomes.iter().map(|event| MoveOutcome {
                entity,
                tick: m.tick,
                event: Some(event.clone()),
                succeeded: there,
            }));
            settled = (m.tick == acked_tick).then_some(m);
        }
        pushes.remove_up_to(acked_tick);
        if let Some(sent_at) = settled.as_ref().and_then(|m| m.sent_at)
            && ack.ack_delay.as_secs_f64() < 0.99
            // A pause of the game while the move was under way is no latency.
            && now - sent_at < clock.seconds_since_change()
        {
            let rtt = now - sent_at - ack.ack_delay.as_secs_f64();
            stats.sample_rtt(rtt, now);
            if config.steer_clock {
                let game_rtt = rtt.max(0.0) * clock.speed();
                steering.sample(f64::from(ack.lag) * f64::from(dt), game_rtt, now);
            }
        }

        let differs = |a: &&ClientAdjustment<M::State>| {
            // A correction forced by a test is replayed regardless.
            a.cause == CorrectionCause::Forced || settled.as_ref().is_none_or(|m| m.result != a.state)
        };
        let adjusted = ack.adjustment.as_ref().filter(differs);
        if let Some(adjustment) = adjusted {
            let server = Some(adjustment.state);
            if debug.skip_replay {
                **state = adjustment.state;
            } else {
                replayed += replay::<M>(&mut saved, state, acked_tick, server, |at, start, input| {
                    step(at, start, input, &pushes)
                });
            }
        }
        let known_teleports = saved.teleports;
        let server = ack.adjustment.as_ref().map(|a| &a.state).or(settled.as_ref().map(|m| &m.result));
        let server_teleports = server.map(|server| M::teleports(server) & 15);
        saved.teleports = server_teleports.or(known_teleports);
        if replayed > 0 || adjusted.is_some() {
            stats.replayed += u64::from(replayed);
            stats.last_replay = replayed;
            stats.last_replay_time = began.elapsed();
            let jump = before - M::position(state);
            if M::teleports(state) & 15 != teleports & 15 {
                *offset = VisualOffset::default();
            } else if jump != Vec3::ZERO {
                // The distance that the pawn could run meanwhile is no reason to snap.
                let run = M::snapshot(state, acked_tick).velocity().length() * since_ack.max(0) as f32 * dt;
                offset.offset += jump;
                if offset.offset.length() > config.snap_distance + run {
                    *offset = VisualOffset::default();
                }
            }
        }

        let Some(adjustment) = adjusted else { continue };
        let mine = settled.as_ref().map(|m| &m.result);
        // A teleport by the server since its last acknowledgement that this client has not simulated is not
        // an error. A teleport by this client only is one.
        let teleported = known_teleports.is_some()
            && known_teleports != server_teleports
            && mine.is_none_or(|mine| Some(M::teleports(mine) & 15) != server_teleports);
        let theirs = M::position(&adjustment.state);
        let error =
            mine.map_or(before.distance(M::position(state)), |mine| M::position(mine).distance(theirs));
        // A difference in mode, stance or ammunition has no distance.
        let unlike = mine.is_some_and(|mine| M::kind(mine) != M::kind(&adjustment.state));
        let cause = cause::<M>(adjustment, config_hash.low(), &model, &world, &stall);
        let is_ordered = cause == CorrectionCause::ServerChange;
        if is_ordered && (teleported || error > 0.0 || unlike) {
            stats.count_cause(cause);
        }
        if !teleported && (error > 0.0 || unlike) {
            if !is_ordered {
                stats.count_correction(error, cause);
            }
            debug!(target: "bevy_unlag::corrections", "{entity}: {:.1} cm at {acked_tick:?}: {cause}", error * 100.0);
            corrections.write(Correction {
                entity,
                tick: acked_tick,
                cause,
                error,
                client: mine.copied(),
                server: adjustment.state,
                replayed,
            });
        } else if adjustment.cause == CorrectionCause::Forced {
            stats.count_cause(CorrectionCause::Forced);
        }
    }
}

/// Returns the message about an acknowledgement; `acked` is `None` at the end of an epoch, `now` the client's own tick.
fn ran_moves(entity: Entity, acked: Option<Tick>, ran: RanMoves, now: Tick) -> MovesAcknowledged {
    let (ran, missed) = match ran {
        RanMoves::All => (acked, 0),
        RanMoves::Newest { ran, missed } => (Some(nearest_tick(now, ran)), missed),
        RanMoves::None => (None, 0),
    };
    MovesAcknowledged { entity, acked, ran, missed }
}

/// Adds new pushes. Returns the earliest of their ticks whose move was simulated without its push.
fn learn_pushes<M: MoveModel>(
    received_pushes: &[(Tick, M::Push)],
    saved: &mut SavedMoves<M>,
    pushes: &mut ScheduledPushes<M>,
    stats: &mut PredictionStats,
) -> Option<Tick> {
    let mut redo: Option<Tick> = None;
    for (due, push) in received_pushes {
        // An acknowledged move already contains its pushes or was corrected.
        if saved.is_newer_than_acked(*due)
            && pushes.insert(*due, *push)
            && saved.last_simulated().is_some_and(|m| !due.is_newer_than(m))
        {
            stats.late_pushes += 1;
            redo = Some(redo.filter(|redo| due.is_newer_than(*redo)).unwrap_or(*due));
        }
    }
    redo
}

/// Replays saved moves: those after `from` on `server`'s state, or those from `from` on from the start
/// state of the first of them. Returns their number.
fn replay<M: MoveModel>(
    saved: &mut SavedMoves<M>,
    state: &mut M::State,
    from: Tick,
    server: Option<M::State>,
    mut step: impl FnMut(Tick, &M::State, &M::Input) -> M::State,
) -> u32 {
    let mut current = server;
    let mut replayed = 0;
    for m in saved.iter_mut().filter(|m| !from.is_newer_than(m.tick)) {
        m.start = current.unwrap_or(m.start);
        m.result = step(m.tick, &m.start, &m.input);
        current = Some(m.result);
        replayed += 1;
    }
    *state = current.unwrap_or(*state);
    replayed
}

/// Returns the newest acknowledgement received, and the pushes of all valid ones. Acknowledgements of
/// another epoch and those older than the last one applied are ignored.
fn newest_ack<M: MoveModel>(
    incoming: &mut IncomingMoveAcks,
    saved: &SavedMoves<M>,
    now: Tick,
    stats: &mut PredictionStats,
) -> Option<(Ack<M>, Vec<(Tick, M::Push)>)> {
    let mut newest: Option<Ack<M>> = None;
    let mut received_pushes = Vec::new();
    for bytes in incoming.drain() {
        stats.ack_bytes += bytes.len() as u64;
        let Ok(ack) = Ack::<M>::from_bytes(&bytes) else {
            stats.malformed += 1;
            trace!(target: "bevy_unlag::moves", "client: received {} malformed bytes", bytes.len());
            continue;
        };
        trace!(
            target: "bevy_unlag::moves",
            "client: acknowledgement {} of {:?}: {:?}",
            ack.sequence, ack.acked, ack.adjustment.as_ref().map(|adjustment| adjustment.cause),
        );
        let counts = match (ack.acked, saved.epoch) {
            (AckedMove::Start { .. }, None) => true,
            // The server starts every further epoch at a later tick.
            (AckedMove::Start { now }, Some((epoch, began))) => {
                ack.epoch != epoch && now.is_newer_than(began)
            }
            (AckedMove::Move(_), None) => false,
            (AckedMove::Move(_), Some((epoch, _))) => {
                let stale = ack.tick(now).is_some_and(|tick| saved.is_stale(tick, ack.sequence));
                ack.epoch == epoch && !stale
            }
        };
        let newer = newest.as_ref().is_none_or(|newest| {
            match (newest.tick(now), ack.tick(now)) {
                (Some(old), Some(new)) if old == new => {
                    ack.sequence.wrapping_sub(newest.sequence).cast_signed() > 0
                }
                (Some(old), Some(new)) => new.is_newer_than(old),
                // The start of an epoch supersedes acknowledgements in the previous one.
                (old, new) => old.is_some() || new.is_none(),
            }
        });
        if counts {
            received_pushes.extend(ack.pushes.iter().map(|(low, push)| (nearest_tick(now, *low), *push)));
        }
        if counts && newer {
            newest = Some(ack);
        }
    }
    Some((newest?, received_pushes))
}

/// Returns the cause of the correction: the server's, unless this side knows a more precise one.
fn cause<M: MoveModel>(
    adjustment: &ClientAdjustment<M::State>,
    config_hash: u16,
    model: &M::Config,
    world: &bevy::ecs::system::SystemParamItem<M::World>,
    stall: &Stall,
) -> CorrectionCause {
    if adjustment.config != config_hash {
        return CorrectionCause::Configuration;
    }
    match adjustment.cause {
        CorrectionCause::MissingMoves if stall.seconds_since_hitch < HITCH_CAUSE_SECONDS => {
            CorrectionCause::ClientHitch
        }
        CorrectionCause::Unknown
            if adjustment.surroundings
                != M::Diagnostics::surroundings_hash(model, &adjustment.state, world) as u16 =>
        {
            CorrectionCause::Terrain
        }
        known => known,
    }
}

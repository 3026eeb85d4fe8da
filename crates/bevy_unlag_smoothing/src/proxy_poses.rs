//! Sampling of proxy poses from snapshot histories, once per frame.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnBaseTime, DrawnPose, DrawnViewTime, GameClock, NetRole, PoseSampler,
    ProxySmoothing, SnapshotHistory, ViewStamp, ViewTime,
};

use crate::{
    config::PlayoutConfig, inbox::SnapshotInbox, out_of_sight::OutOfSight, playout::PlayoutClocks,
    proxy::ProxyTime, server_clock::ServerClock, stats::SmoothingStats,
};

pub(crate) fn advance(
    (time, clock): (Res<Time<Real>>, Res<GameClock>),
    mut playout: ResMut<PlayoutClocks>,
    mut stats: ResMut<SmoothingStats>,
) {
    playout.advance(clock.seconds(&time));
    if let Some(clock) = playout.primary() {
        stats.delay_ms = (clock.delay_seconds() * 1_000.0) as f32;
        stats.speed = clock.speed() as f32;
    }
}

pub(crate) fn draw(
    (sampler, config, playout): (Res<PoseSampler>, Res<PlayoutConfig>, Res<PlayoutClocks>),
    (real, game, server): (Res<Time<Real>>, Res<GameClock>, Res<ServerClock>),
    (tick, fixed, bases): (Option<Res<CurrentTick>>, Option<Res<Time<Fixed>>>, Res<BasePoses>),
    (mut view, mut base_time): (ResMut<DrawnViewTime>, ResMut<DrawnBaseTime>),
    mut stats: ResMut<SmoothingStats>,
    mut proxies: Query<
        (
            Entity,
            &NetRole,
            &SnapshotHistory,
            &mut ProxyTime,
            Option<&ProxySmoothing>,
            &mut DrawnPose,
            Option<&OutOfSight>,
        ),
        With<SnapshotInbox>,
    >,
    (mut times, mut had_time): (Local<Vec<ViewTime>>, Local<bool>),
    mut commands: Commands,
) {
    times.clear();
    let (now, tick_seconds) = (game.seconds(&real), f64::from(sampler.tick_seconds));
    let bases_at = tick.zip(fixed).map(|(tick, fixed)| tick.frame_time(&fixed)).unwrap_or_default();
    let bases = bases.at(bases_at);
    base_time.0 = None;
    for (entity, role, history, mut proxy, mode, mut drawn, gone) in &mut proxies {
        if *role != NetRole::SimulatedProxy {
            continue;
        }
        let sampled = (|| {
            let newest = history.newest()?;
            let stamp = match mode {
                Some(ProxySmoothing::Raw | ProxySmoothing::Exponential) => {
                    let time = proxy.draw_at(ViewTime::at(newest.tick));
                    ViewStamp::Extrapolated { from: newest.tick, time }
                }
                Some(ProxySmoothing::Simulate) => {
                    // Without a server clock the downlink latency is unknown: the newest update counts as
                    // current.
                    let since = (now - proxy.updated_at).max(0.0) / tick_seconds;
                    let guess = ViewTime::after(newest.tick, since);
                    let server_now = game.unsteered_seconds(&real);
                    let present = server.view_time(server_now).filter(|time| time.since(guess) > 0);
                    let time = proxy.draw_at(present.unwrap_or(guess));
                    ViewStamp::Extrapolated { from: newest.tick, time }
                }
                Some(ProxySmoothing::Linear | ProxySmoothing::Hermite) | None => {
                    let clock = playout.time(proxy.interval())?;
                    let frame = game.delta_seconds();
                    let time = proxy.draw_by(clock, frame, &config, tick_seconds, &mut stats);
                    times.push(time);
                    history.stamp(time)?
                }
            };
            if let Some(gone) = gone {
                // Modes that draw the newest snapshot as it is never leave it.
                let is_newest = matches!(mode, Some(ProxySmoothing::Raw | ProxySmoothing::Exponential));
                if gone.covers(stamp) || is_newest && !gone.is_over(stamp) {
                    return None;
                }
                if gone.is_over(stamp) {
                    commands.entity(entity).try_remove::<OutOfSight>();
                }
            }
            let pose = history.pose(stamp, &sampler.of(mode), &bases)?;
            if history.is_on_base(stamp) {
                base_time.0 = Some(bases_at);
            }
            Some(DrawnPose { pose, stamp })
        })();
        let Some(sampled) = sampled else {
            // The history does not cover that moment, the pawn did not exist yet, or it is out of sight. A pawn that
            // was predicted until now stays where it is meanwhile.
            if drawn.pose.alive && drawn.stamp != ViewStamp::Present {
                drawn.pose.alive = false;
            }
            continue;
        };
        stats.drawn += 1;
        if let ViewStamp::Extrapolated { from, time } = sampled.stamp
            && mode.is_none_or(|mode| mode.is_played_out())
        {
            stats.extrapolated += 1;
            stats.held += u64::from(time.ticks_since(from) > 2.0 * sampler.max_extrapolation_ticks());
        }
        *drawn = sampled;
    }
    let played = median(&mut times).or_else(|| playout.main_time());
    // On a machine with authority another plugin sets the view time.
    if played.is_some() || *had_time {
        view.0 = played;
    }
    *had_time = played.is_some();
}

/// Returns the median, of two the later one. It moves no faster than a pawn while pawns change over from one clock to
/// another, one after the other: if it jumped to a clock, all pawns would seem to be shifted.
fn median(times: &mut [ViewTime]) -> Option<ViewTime> {
    let any = *times.first()?;
    let middle = times.len() / 2;
    let (_, median, _) = times.select_nth_unstable_by_key(middle, |time| time.since(any));
    Some(*median)
}

#[cfg(test)]
mod tests;

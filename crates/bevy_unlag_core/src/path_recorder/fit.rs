//! Fitting of path knots: greedy selection with least-squares arrival velocities.

use bevy::prelude::*;

use super::PathKnotConfig;
use crate::{
    angle::units_to_angle,
    hermite::HermiteWeights,
    interpolate::{Interpolation, InterpolationSpan},
    proxy_update::{MAX_PATH_KNOTS, ProxyUpdate},
    sampler::PoseSampler,
    snapshot::{Arrival, Snapshot},
};

/// Change of velocity within a tick, in m/s, above which it counts as a jump.
const JUMP: f32 = 1.0;
/// Smallest tolerance, in metres and in radians.
const MIN_TOLERANCE: f32 = 1e-4;

/// Ticks of a pawn since an earlier update, oldest first.
pub(super) struct Path<'a> {
    pub ticks: &'a [Snapshot],
    pub tick_seconds: f32,
}

impl Path<'_> {
    fn seconds(&self, from: &Snapshot, to: &Snapshot) -> f32 {
        to.tick.since(from.tick).max(1) as f32 * self.tick_seconds
    }

    /// Returns sample points between two snapshots: all ticks, and the midpoints between neighbouring ticks,
    /// because a curve that is exact at the ticks may swing out in between.
    ///
    /// Each point is the fraction of the time, the position and the rotation so far.
    fn points<'b>(
        &'b self,
        from: &'b Snapshot,
        to: &'b Snapshot,
        between: &'b [Snapshot],
    ) -> impl Iterator<Item = (f32, Vec3, f32)> + 'b {
        let seconds = self.seconds(from, to);
        let at = move |tick: &Snapshot, turned: f32| {
            let fraction = if tick.tick == from.tick { 0.0 } else { self.seconds(from, tick) / seconds };
            (fraction, tick.position(), turned)
        };
        // Accumulated, because it may exceed half a turn.
        let mut turned = 0.0;
        pairs(from, to, between).enumerate().flat_map(move |(i, (a, b))| {
            let (place, before) = (self.middle(a, b), turned);
            turned += units_to_angle(b.yaw.wrapping_sub(a.yaw));
            let (a, b) = (at(a, before), at(b, turned));
            let middle = ((a.0 + b.0) * 0.5, place, (a.2 + b.2) * 0.5);
            (i > 0).then_some(a).into_iter().chain([middle])
        })
    }

    /// Returns the position half-way between two ticks. If the velocity jumped in between, the distance
    /// covered shows when: a kick acts at the start of a tick, a collision with the floor at any time.
    fn middle(&self, a: &Snapshot, b: &Snapshot) -> Vec3 {
        let seconds = self.seconds(a, b);
        let (from, to, v, w) = (a.position(), b.position(), a.velocity(), b.velocity());
        let jump = w - v;
        let size = jump.length();
        if size < JUMP {
            return (from + to) * 0.5 - jump * (seconds / 8.0);
        }
        let before = (w - (to - from) / seconds).dot(jump) / (size * size);
        if before > 0.5 { from + v * (seconds * 0.5) } else { to - w * (seconds * 0.5) }
    }

    /// Returns whether the curve stays within `limit` times the tolerances of the path.
    fn follows(
        &self,
        (from, to): (&Snapshot, &Snapshot),
        between: &[Snapshot],
        config: &PathKnotConfig,
        limit: f32,
    ) -> bool {
        let seconds = self.seconds(from, to);
        let [far, turned] =
            [config.tolerance, config.turn_tolerance].map(|most| most.max(MIN_TOLERANCE) * limit);
        let turns = from.spin.is_some() && to.spin.is_some();
        self.points(from, to, between).all(|(fraction, place, turn)| {
            let span = InterpolationSpan { fraction, seconds, interpolation: Interpolation::Hermite };
            let pose = PoseSampler::along(from, to, &span);
            let rotation = || from.rotation() * Quat::from_rotation_y(turn);
            pose.position.distance_squared(place) <= far * far
                && (!turns || pose.rotation.angle_between(rotation()) <= turned)
        })
    }

    /// Returns whether a client that is sent no snapshot between two draws the path well enough, although it lost an
    /// update. The path begins after `from`.
    pub(super) fn is_spanned(&self, from: &Snapshot, to: &Snapshot, config: &PathKnotConfig) -> bool {
        let before = self.ticks.partition_point(|tick| to.tick.is_newer_than(tick.tick));
        let between = &self.ticks[..before];
        let limit = config.lost_update_tolerance / config.tolerance.max(MIN_TOLERANCE);
        pairs(from, to, between).all(|(a, b)| a.is_continuous_with(b))
            && self.follows((from, to), between, config, limit)
    }

    /// Returns the end of a curve that follows the path from `from` over `between`, if there is one.
    fn arrive(
        &self,
        from: &Snapshot,
        to: &Snapshot,
        between: &[Snapshot],
        config: &PathKnotConfig,
        limit: f32,
    ) -> Option<Snapshot> {
        if self.follows((from, to), between, config, limit) {
            return Some(*to);
        }
        let fit = self.fitted_arrival(from, to, between);
        if to.tick.since(from.tick) == 1 {
            let chord = to.chord_units(from, self.seconds(from, to));
            let straight = Snapshot { arrival: Some(Arrival { velocity: chord, ..fit }), ..*to };
            if self.follows((from, &straight), between, config, limit) {
                return Some(straight);
            }
        }
        let fitted = Snapshot { arrival: Some(fit), ..*to };
        // A single tick has no better fit.
        let good = between.is_empty() || self.follows((from, &fitted), between, config, limit);
        good.then_some(fitted)
    }

    /// Returns the arrival velocity and spin with the least squared error of a cubic from `from`.
    fn fitted_arrival(&self, from: &Snapshot, to: &Snapshot, between: &[Snapshot]) -> Arrival {
        let seconds = self.seconds(from, to);
        let way = to.position() - from.position();
        let (mut weights, mut velocity, mut spin) = (0.0f32, Vec3::ZERO, 0.0f32);
        let turned: f32 =
            pairs(from, to, between).map(|(a, b)| units_to_angle(b.yaw.wrapping_sub(a.yaw))).sum();
        let left = from.spin().unwrap_or(0.0) * seconds;
        for (t, place, turn) in self.points(from, to, between) {
            let HermiteWeights { ease, leave, arrive: weight } = HermiteWeights::place(t);
            let without = way * ease + from.velocity() * (seconds * leave);
            velocity += (place - from.position() - without) * weight;
            spin += (turn - turned * ease - left * leave) * weight;
            weights += weight * weight;
        }
        let scale = 1.0 / (weights * seconds).max(f32::MIN_POSITIVE);
        Arrival {
            velocity: Snapshot::velocity_units(velocity * scale),
            spin: to.spin.map(|_| Snapshot::spin_units(spin * scale)),
        }
    }

    /// Turns `end` into a path knot from which the path continues to `next`. Its departure velocity is the
    /// one that leads there, which after an impulse differs from the velocity at the end of the tick.
    fn leave(&self, end: Snapshot, next: &Snapshot) -> Snapshot {
        let seconds = self.seconds(&end, next);
        let leads = (next.position() - end.position()) * (2.0 / seconds) - next.velocity();
        let spin = end.spin.zip(next.spin()).map(|(_, spin)| {
            let turned = units_to_angle(next.yaw.wrapping_sub(end.yaw));
            Snapshot::spin_units(2.0 * turned / seconds - spin)
        });
        let arrival = end.arrival.unwrap_or(Arrival { velocity: end.velocity, spin: end.spin });
        Snapshot { velocity: Snapshot::velocity_units(leads), spin, arrival: Some(arrival), ..end }
    }
}

/// Returns all neighbouring pairs between two snapshots.
fn pairs<'a>(
    from: &'a Snapshot,
    to: &'a Snapshot,
    between: &'a [Snapshot],
) -> impl Iterator<Item = (&'a Snapshot, &'a Snapshot)> {
    [from].into_iter().chain(between).zip(between.iter().chain([to]))
}

/// Returns an update that follows the path within the tolerance, with as few path knots as a greedy search
/// finds.
/// If it needs too many, the tolerance is increased.
pub(super) fn fit(sent: &Snapshot, path: &Path<'_>, config: &PathKnotConfig) -> ProxyUpdate {
    let mut knots = [Snapshot::default(); MAX_PATH_KNOTS];
    let max = config.max_knots.min(MAX_PATH_KNOTS);
    for limit in (0..10).map(|power| 4.0f32.powi(power)) {
        if let Some((end, count)) = greedy(sent, path, config, limit, &mut knots[..max]) {
            let knots = knots.map(Snapshot::quantised);
            return ProxyUpdate::new(end.quantised(), &knots[..count]);
        }
    }
    path.ticks.last().copied().unwrap_or(*sent).into()
}

/// Selects the longest curve within the tolerance and repeats from its end. Returns `None` if there are not
/// enough path knots.
fn greedy(
    sent: &Snapshot,
    path: &Path<'_>,
    config: &PathKnotConfig,
    limit: f32,
    knots: &mut [Snapshot],
) -> Option<(Snapshot, usize)> {
    let (ticks, mut from, mut next, mut count) = (path.ticks, *sent, 0, 0);
    loop {
        let (mut end, mut at) = longest(path, config, limit, &from, next)?;
        if at + 1 == ticks.len() {
            return Some((end, count));
        }
        let after = &ticks[at + 1];
        if !end.is_continuous_with(after) {
            // Across a discontinuity the next path knot is the next tick; no curve lies in between.
            *knots.get_mut(count)? = end;
            count += 1;
            (end, at) = (*after, at + 1);
            if at + 1 == ticks.len() {
                return Some((end, count));
            }
        } else {
            let led = path.leave(end, after);
            let reach = |from| longest(path, config, limit, from, at + 1).map(|(_, at)| at);
            if reach(&led) > reach(&end) {
                end = led;
            }
        }
        *knots.get_mut(count)? = end;
        count += 1;
        (from, next) = (end, at + 1);
    }
}

/// Returns the last tick that a curve from `from` reaches, starting at index `next`, and the snapshot with
/// which it arrives there.
fn longest(
    path: &Path<'_>,
    config: &PathKnotConfig,
    limit: f32,
    from: &Snapshot,
    next: usize,
) -> Option<(Snapshot, usize)> {
    let ticks = path.ticks.get(next..)?;
    if !from.is_continuous_with(ticks.first()?) {
        return Some((*ticks.first()?, next));
    }
    let run = 1 + ticks.windows(2).take_while(|pair| pair[0].is_continuous_with(&pair[1])).count();
    let reach = |last: usize| path.arrive(from, &ticks[last], &ticks[..last], config, limit);
    if let Some(end) = reach(run - 1) {
        return Some((end, next + run - 1));
    }
    // The first tick is always reached: nothing lies in between. Bisect for the last one.
    let (mut good, mut best, mut bad) = (0, reach(0)?, run - 1);
    while good + 1 < bad {
        let middle = usize::midpoint(good, bad);
        match reach(middle) {
            Some(end) => (good, best) = (middle, end),
            None => bad = middle,
        }
    }
    Some((best, next + good))
}

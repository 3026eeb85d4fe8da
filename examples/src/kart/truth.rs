//! Where karts were on the server.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use bevy::prelude::*;
use bevy_unlag::{
    core::{MoveSystems, Shown},
    movement::{KartModel, KartState},
    prelude::*,
};

use crate::app::TICK;

/// Ticks that are kept: eight seconds, more than any picture is late.
const KEPT: usize = 512;

/// A kart at the end of a tick.
#[derive(Clone, Copy, Debug)]
struct Tock {
    tick: Tick,
    state: KartState,
    at: Instant,
}

/// Where every kart was on the server at the end of each of the last ticks. The server's app and
/// those who want to know better hold the same one.
#[derive(Resource, Clone, Default)]
pub struct Truth(Arc<Mutex<HashMap<NetId, VecDeque<Tock>>>>);

/// Where a kart was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// In metres.
    pub position: Vec3,
    /// Which way it pointed.
    pub rotation: Quat,
    /// Metres per second.
    pub velocity: Vec3,
}

impl Place {
    fn of(state: &KartState) -> Self {
        let yaw = f64::from(state.heading) / 4_294_967_296.0 * core::f64::consts::TAU;
        let rotation = Quat::from_rotation_y(yaw as f32);
        Self { position: state.position, rotation, velocity: state.velocity }
    }
}

impl Truth {
    fn all(&self) -> MutexGuard<'_, HashMap<NetId, VecDeque<Tock>>> {
        // A thread that panicked leaves numbers that are as good as any.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a kart was at a moment, if that is remembered.
    #[must_use]
    pub fn at(&self, kart: NetId, time: ViewTime) -> Option<Place> {
        let all = self.all();
        let tocks = all.get(&kart)?;
        let after = tocks.partition_point(|tock| time.ticks_since(tock.tick) >= 0.0);
        let (a, b) = (tocks.get(after.checked_sub(1)?)?, tocks.get(after).or(tocks.back())?);
        let span = b.tick.since(a.tick);
        if span <= 0 {
            return (time.ticks_since(a.tick) == 0.0).then(|| Place::of(&a.state));
        }
        let (t, seconds) = (time.ticks_since(a.tick) / span as f32, span as f32 * TICK.as_secs_f32());
        let (from, to) = (Place::of(&a.state), Place::of(&b.state));
        // A tick is a corner of its path, and nobody knows what is between two; a curve along both
        // tangents is as good a guess as any, and no further than 2 mm from another one.
        let (ta, tb) = (a.state.tangent() * seconds, b.state.tangent() * seconds);
        let (t2, t3) = (t * t, t * t * t);
        let way = (to.position - from.position) * (3.0 * t2 - 2.0 * t3);
        let smooth = from.position + way + ta * (t3 - 2.0 * t2 + t) + tb * (t3 - t2);
        // Where it was put somewhere else or ran into something there is no curve.
        let bent = (ta - tb).length() > 0.05 || a.state.teleports != b.state.teleports;
        Some(Place {
            position: if bent { from.position.lerp(to.position, t) } else { smooth },
            rotation: from.rotation.slerp(to.rotation, t),
            velocity: to.velocity,
        })
    }

    /// The moment that it is on the server now, a tick ago so that it is never ahead, as this
    /// process's clock has it; for a server that runs beside.
    #[must_use]
    pub fn now(&self, kart: NetId) -> Option<ViewTime> {
        let newest = *self.all().get(&kart)?.back()?;
        let ticks = newest.at.elapsed().as_secs_f64() / TICK.as_secs_f64();
        Some(ViewTime::after(newest.tick, (ticks - 1.0).min(0.0)))
    }
}

pub(super) fn record(app: &mut App, truth: Truth) {
    app.insert_resource(truth).add_systems(FixedPostUpdate, note.after(MoveSystems::Show));
}

fn note(truth: Res<Truth>, karts: Query<(&NetId, &Shown<KartModel>)>) {
    let mut all = truth.all();
    let at = Instant::now();
    for (id, shown) in &karts {
        let tocks = all.entry(*id).or_default();
        let Shown { tick, state, .. } = *shown;
        if tocks.back().is_some_and(|last| !tick.is_newer_than(last.tick)) {
            continue;
        }
        if tocks.len() == KEPT {
            tocks.pop_front();
        }
        tocks.push_back(Tock { tick, state, at });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_exact_at_ticks_and_unknown_beyond_what_is_kept() {
        let truth = Truth::default();
        let state = |x: f32| KartState { velocity: Vec3::X * 64.0, ..KartState::at(Vec3::X * x, 0) };
        let tocks = [4, 5, 7].map(|tick: u32| Tock {
            tick: Tick(tick),
            state: state(tick as f32),
            at: Instant::now(),
        });
        truth.all().insert(NetId(1), tocks.into());
        let x =
            |ticks: f64| truth.at(NetId(1), ViewTime::after(Tick(0), ticks)).map(|place| place.position.x);
        for (time, expected) in [(4.0, 4.0), (4.5, 4.5), (5.0, 5.0), (6.0, 6.0), (7.0, 7.0)] {
            let found = x(time).expect("it is known");
            assert!((found - expected).abs() < 1e-4, "{found} m at {time}");
        }
        assert_eq!((x(3.9), x(7.1)), (None, None));
        assert!(truth.at(NetId(2), ViewTime::at(Tick(5))).is_none());
    }
}

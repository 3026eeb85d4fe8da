//! Ground truth: the recorded positions of karts on the server.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use bevy::prelude::*;
use bevy_unlag::{
    core::{MoveSystems, PublishedState, Tick, ViewTime},
    movement::{KartModel, KartState},
    prelude::*,
};

use crate::app::TICK;

/// Number of ticks kept: eight seconds, longer than any playout delay.
const KEPT: usize = 512;

/// State of a kart at the end of a tick.
#[derive(Clone, Copy, Debug)]
struct RecordedState {
    tick: Tick,
    state: KartState,
    at: Instant,
}

/// Recorded states of every kart on the server. The server's app writes it; the apps that measure errors
/// share it.
#[derive(Resource, Clone, Default)]
pub struct GroundTruth(Arc<Mutex<HashMap<NetId, VecDeque<RecordedState>>>>);

/// Pose of a kart at a server time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TruePose {
    /// Position, in metres.
    pub position: Vec3,
    /// Orientation.
    pub rotation: Quat,
}

impl TruePose {
    fn of(state: &KartState) -> Self {
        let yaw = f64::from(state.heading) / 4_294_967_296.0 * core::f64::consts::TAU;
        let rotation = Quat::from_rotation_y(yaw as f32);
        Self { position: state.position, rotation }
    }
}

impl GroundTruth {
    fn all(&self) -> MutexGuard<'_, HashMap<NetId, VecDeque<RecordedState>>> {
        // After a panic in another thread the recorded states are still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the pose of a kart at a server time, if it is in the record.
    #[must_use]
    pub fn at(&self, kart: NetId, time: ViewTime) -> Option<TruePose> {
        let all = self.all();
        let tocks = all.get(&kart)?;
        let after = tocks.partition_point(|tock| time.ticks_since(tock.tick) >= 0.0);
        let (a, b) = (tocks.get(after.checked_sub(1)?)?, tocks.get(after).or(tocks.back())?);
        let span = b.tick.since(a.tick);
        if span <= 0 {
            return (time.ticks_since(a.tick) == 0.0).then(|| TruePose::of(&a.state));
        }
        let (t, seconds) = (time.ticks_since(a.tick) / span as f32, span as f32 * TICK.as_secs_f32());
        let (from, to) = (TruePose::of(&a.state), TruePose::of(&b.state));
        // The motion between two ticks is not defined; the cubic along both tangents is within 2 mm of any
        // other reasonable curve.
        let (ta, tb) = (a.state.tangent() * seconds, b.state.tangent() * seconds);
        let (t2, t3) = (t * t, t * t * t);
        let way = (to.position - from.position) * (3.0 * t2 - 2.0 * t3);
        let smooth = from.position + way + ta * (t3 - 2.0 * t2 + t) + tb * (t3 - t2);
        // A teleport or a collision is not interpolated by a curve.
        let bent = (ta - tb).length() > 0.05 || a.state.teleports != b.state.teleports;
        Some(TruePose {
            position: if bent { from.position.lerp(to.position, t) } else { smooth },
            rotation: from.rotation.slerp(to.rotation, t),
        })
    }

    /// Returns the current server time of a kart by this process's clock, one tick behind so that it is
    /// never ahead of the record. Requires a server in the same process.
    #[must_use]
    pub fn now(&self, kart: NetId) -> Option<ViewTime> {
        let newest = *self.all().get(&kart)?.back()?;
        let ticks = newest.at.elapsed().as_secs_f64() / TICK.as_secs_f64();
        Some(ViewTime::after(newest.tick, (ticks - 1.0).min(0.0)))
    }
}

pub(super) fn record(app: &mut App, truth: GroundTruth) {
    app.insert_resource(truth).add_systems(FixedPostUpdate, note.after(MoveSystems::Publish));
}

fn note(truth: Res<GroundTruth>, karts: Query<(&NetId, &PublishedState<KartModel>)>) {
    let mut all = truth.all();
    let at = Instant::now();
    for (id, shown) in &karts {
        let tocks = all.entry(*id).or_default();
        let PublishedState { tick, state, .. } = *shown;
        if tocks.back().is_some_and(|last| !tick.is_newer_than(last.tick)) {
            continue;
        }
        if tocks.len() == KEPT {
            tocks.pop_front();
        }
        tocks.push_back(RecordedState { tick, state, at });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_pose_is_exact_at_ticks_and_none_outside_the_record() {
        let truth = GroundTruth::default();
        let state = |x: f32| KartState { velocity: Vec3::X * 64.0, ..KartState::at(Vec3::X * x, 0) };
        let tocks = [4, 5, 7].map(|tick: u32| RecordedState {
            tick: Tick(tick),
            state: state(tick as f32),
            at: Instant::now(),
        });
        truth.all().insert(NetId(1), tocks.into());
        let x =
            |ticks: f64| truth.at(NetId(1), ViewTime::after(Tick(0), ticks)).map(|place| place.position.x);
        for (time, expected) in [(4.0, 4.0), (4.5, 4.5), (5.0, 5.0), (6.0, 6.0), (7.0, 7.0)] {
            let found = x(time).expect("the tick is in the record");
            assert!((found - expected).abs() < 1e-4, "{found} m at {time}");
        }
        assert_eq!((x(3.9), x(7.1)), (None, None));
        assert!(truth.at(NetId(2), ViewTime::at(Tick(5))).is_none());
    }
}

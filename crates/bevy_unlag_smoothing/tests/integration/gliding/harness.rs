//! Test app with proxies whose updates arrive at scripted times.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    DrawnPose, DrawnViewTime, NetRole, PathKnotConfig, PathRecorder, ProxySmoothing, ProxyUpdate, Snapshot,
    Tick, ViewTime, VisualOffset,
};
use bevy_unlag_smoothing::{ProxyTime, SmoothingPlugin, SmoothingStats, SnapshotInbox};

pub const FRAME: f64 = 1.0 / 60.0;
pub const TICK: f64 = 1.0 / 64.0;
/// Close to the wrap.
pub const FIRST: Tick = Tick(u32::MAX - 300);

/// State of a proxy as drawn in one frame.
#[derive(Clone, Copy, Debug)]
pub struct DrawnFrame {
    pub now: f64,
    /// Position including the offset that hides jumps.
    pub place: Vec3,
    /// Position without the offset.
    pub pose: Vec3,
    /// View time in seconds since the first tick.
    pub view: f64,
    /// View time of most pawns, likewise.
    pub main_view: f64,
    pub alive: bool,
}

/// A proxy and its updates in flight.
pub struct Pawn {
    pub entity: Entity,
    due: Vec<(f64, ProxyUpdate)>,
    pub seen: Vec<DrawnFrame>,
}

pub struct Harness {
    pub app: App,
    pub pawns: Vec<Pawn>,
    /// Accuracy of the paths of pawns that are added from now on.
    pub path_knots: PathKnotConfig,
    now: f64,
}

impl Harness {
    pub fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, SmoothingPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(FRAME)));
        Self { app, pawns: Vec::new(), path_knots: PathKnotConfig::default(), now: 0.0 }
    }

    /// Adds a pawn that moves along `path` and is sent every `every(tick)` ticks. Each update arrives after
    /// `latency(seconds)`, or never.
    pub fn pawn(
        &mut self,
        mode: Option<ProxySmoothing>,
        seconds: f64,
        path: impl Fn(u32) -> Snapshot,
        every: impl Fn(u32) -> u32,
        latency: impl Fn(f64) -> Option<f64>,
    ) -> usize {
        let entity = self.app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy)).id();
        if let Some(mode) = mode {
            self.app.world_mut().entity_mut(entity).insert(mode);
        }
        let (mut track, mut due) = (PathRecorder::default(), Vec::new());
        let simulated = mode == Some(ProxySmoothing::Simulate);
        for tick in 0..(seconds / TICK) as u32 {
            track.record(Snapshot { tick: Tick(FIRST.0.wrapping_add(tick)), ..path(tick) }, TICK as f32);
            if !tick.is_multiple_of(every(tick)) {
                continue;
            }
            let update = track.update(&self.path_knots, TICK as f32, simulated);
            let sent = f64::from(tick) * TICK;
            if let Some((update, latency)) = update.zip(latency(sent)) {
                due.push((sent + latency, update));
            }
        }
        due.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.pawns.push(Pawn { entity, due, seen: Vec::new() });
        self.pawns.len() - 1
    }

    /// Runs frames for `seconds`.
    pub fn run(&mut self, seconds: f64) {
        let end = self.now + seconds;
        while self.now < end {
            for pawn in &mut self.pawns {
                let mut inbox = self.app.world_mut().get_mut::<SnapshotInbox>(pawn.entity).expect("an inbox");
                while let Some((_, update)) = pawn.due.pop_if(|(at, _)| *at <= self.now) {
                    inbox.0.push(update);
                }
            }
            self.app.update();
            let seconds = |time: Option<ViewTime>| {
                time.map_or(f64::NAN, |time| f64::from(time.ticks_since(FIRST)) * TICK)
            };
            let main_view = seconds(self.app.world().resource::<DrawnViewTime>().0);
            for pawn in &mut self.pawns {
                let entity = self.app.world().entity(pawn.entity);
                let drawn = entity.get::<DrawnPose>().expect("a drawn pose");
                let offset = entity.get::<VisualOffset>().expect("an offset");
                let view = seconds(entity.get::<ProxyTime>().and_then(|time| time.drawn));
                let pose = drawn.pose.position;
                let place = pose + offset.offset;
                let alive = drawn.pose.alive;
                pawn.seen.push(DrawnFrame { now: self.now, place, pose, view, main_view, alive });
            }
            self.now += FRAME;
        }
    }

    pub fn stats(&self) -> SmoothingStats {
        *self.app.world().resource::<SmoothingStats>()
    }
}

impl Pawn {
    /// Returns the frames from `now` on.
    pub fn after(&self, now: f64) -> &[DrawnFrame] {
        &self.seen[self.seen.partition_point(|sight| sight.now < now)..]
    }
}

/// Returns the largest step between two frames, in metres.
pub fn largest_step(seen: &[DrawnFrame]) -> f32 {
    seen.windows(2).map(|pair| pair[1].place.distance(pair[0].place)).fold(0.0, f32::max)
}

/// Asserts that the view time runs forward within these speeds relative to real time.
pub fn assert_time_flows(seen: &[DrawnFrame], slowest: f64, fastest: f64) {
    for pair in seen.windows(2) {
        let speed = (pair[1].view - pair[0].view) / (pair[1].now - pair[0].now);
        // A view time is rounded to 61 µs.
        assert!(speed > slowest - 0.01 && speed < fastest + 0.01, "{speed} at {}", pair[1].now);
    }
}

/// A circle of 5 m radius at 6 m/s.
pub fn circle(tick: u32) -> Snapshot {
    let (sin, cos) = (f64::from(tick) * TICK * 1.2).sin_cos();
    let (sin, cos) = (sin as f32, cos as f32);
    Snapshot::new(Tick(tick), Vec3::new(cos, 0.0, sin) * 5.0, Vec3::new(-sin, 0.0, cos) * 6.0)
}

/// Returns the largest distance of the drawn positions from the circle at their view times, in metres.
pub fn distance_from_circle(seen: &[DrawnFrame]) -> f32 {
    let off = seen.iter().map(|sight| {
        let (sin, cos) = (sight.view * 1.2).sin_cos();
        sight.place.distance(Vec3::new(cos as f32, 0.0, sin as f32) * 5.0)
    });
    off.fold(0.0, f32::max)
}

/// Returns deterministic jitter of up to `most` seconds.
pub fn jitter(sent: f64, most: f64) -> f64 {
    let hash = ((sent * 1_000.0) as u32).wrapping_mul(2_654_435_761) >> 16;
    f64::from(hash) / 65_536.0 * most
}

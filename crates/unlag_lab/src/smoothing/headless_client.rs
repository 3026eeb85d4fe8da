//! Headless client that draws proxies from updates with given arrival times.

use super::{error_metrics::DrawnSample, link::Arrival, truth::TICKS_PER_SECOND};
use crate::prelude::*;

/// Frames per second.
const FPS: u32 = 60;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / FPS as u64);

/// Proxy to draw.
pub struct Actor<'a> {
    /// Updates of the proxy. The updates of all actors with the same index travel in one packet.
    pub updates: &'a [ProxyUpdate],
    /// Smoothing mode.
    pub mode: ProxySmoothing,
}

/// Results of a run.
pub struct RunResult {
    /// Drawn samples of each actor.
    pub seen: Vec<Vec<DrawnSample>>,
    /// Age of the drawn samples over time, in seconds.
    pub ages: Vec<(f64, f64)>,
    /// Number of clock jumps.
    pub jumps: u64,
}

/// Headless client before its run.
pub struct HeadlessClient {
    app: App,
    /// One-way latency of its time exchanges with the server in seconds.
    exchanges: Option<f64>,
}

/// Draws actors until `end`, in seconds; samples before `from` are dropped.
pub fn play(actors: &[Actor<'_>], arrivals: &[Arrival], from: f64, end: f64) -> RunResult {
    HeadlessClient::new(|_| ()).play(actors, arrivals, from, end)
}

impl HeadlessClient {
    /// Creates a client with plugins in addition to smoothing.
    pub fn new(add: impl FnOnce(&mut App)) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, SmoothingPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
        add(&mut app);
        finish(&mut app);
        Self { app, exchanges: None }
    }

    /// Adds time exchanges with the server, ten per second, with a round trip of twice `latency`.
    pub fn with_time_exchanges(self, latency: f64) -> Self {
        Self { exchanges: Some(latency), ..self }
    }

    fn now(&self) -> f64 {
        self.app.world().resource::<Time<Real>>().elapsed_secs_f64()
    }

    /// Processes the time exchange that completes in this frame, if any.
    fn process_exchange(&mut self, now: f64) {
        let Some(latency) = self.exchanges else { return };
        let asked = ((now - 2.0 * latency) * 10.0).floor() / 10.0;
        if asked >= 0.0 && asked + 2.0 * latency > now - FRAME.as_secs_f64() {
            let there = asked + latency;
            self.app.world_mut().resource_mut::<ServerClock>().sample(
                asked,
                there,
                there,
                asked + 2.0 * latency,
            );
        }
    }

    /// Draws actors until `end`, in seconds; samples before `from` are dropped.
    pub fn play(mut self, actors: &[Actor<'_>], arrivals: &[Arrival], from: f64, end: f64) -> RunResult {
        let spawn = |actor: &Actor<'_>| {
            self.app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy, actor.mode)).id()
        };
        let proxies: Vec<Entity> = actors.iter().map(spawn).collect();
        let mut played = RunResult { seen: vec![Vec::new(); actors.len()], ages: Vec::new(), jumps: 0 };
        let mut coming = arrivals.iter().peekable();
        let mut jumps_before = 0;
        // The first app update only starts the clock.
        self.app.update();
        loop {
            let now = self.now() + FRAME.as_secs_f64();
            if now > end {
                break;
            }
            self.process_exchange(now);
            while let Some(arrival) = coming.next_if(|arrival| arrival.at <= now) {
                for (actor, proxy) in actors.iter().zip(&proxies) {
                    let Some(update) = actor.updates.get(arrival.packet) else { continue };
                    if let Some(mut inbox) = self.app.world_mut().get_mut::<SnapshotInbox>(*proxy) {
                        inbox.0.push(*update);
                    }
                }
            }
            self.app.update();
            let world = self.app.world();
            let clock = world.resource::<PlayoutClocks>().primary().map_or(0, PlayoutClock::jumps);
            let jumps = clock + world.resource::<SmoothingStats>().resyncs;
            if let Some(view) = world.resource::<DrawnViewTime>().0 {
                played.ages.push((now, now - seconds_of(view)));
            }
            if now < from {
                jumps_before = jumps;
                continue;
            }
            played.jumps = jumps - jumps_before;
            for (proxy, seen) in proxies.iter().zip(&mut played.seen) {
                seen.extend(look(world, *proxy, now));
            }
        }
        played
    }
}

/// Converts a view time into seconds since the server's tick 0.
fn seconds_of(view: ViewTime) -> f64 {
    (f64::from(view.tick.since(Tick(0))) + f64::from(view.fraction) / SUB_TICKS as f64)
        / f64::from(TICKS_PER_SECOND)
}

/// Returns the drawn sample of a proxy, if it is visible.
fn look(world: &World, proxy: Entity, now: f64) -> Option<DrawnSample> {
    let drawn = world.get::<DrawnPose>(proxy).filter(|drawn| drawn.pose.alive)?;
    let view = world.get::<ProxyTime>(proxy)?.drawn?;
    let offset = world.get::<VisualOffset>(proxy).copied().unwrap_or_default();
    let forward = offset.turn * drawn.pose.rotation * Vec3::NEG_Z;
    Some(DrawnSample {
        now,
        view: seconds_of(view),
        place: (drawn.pose.position + offset.offset).as_dvec3(),
        yaw: f64::from((-forward.x).atan2(-forward.z)),
    })
}

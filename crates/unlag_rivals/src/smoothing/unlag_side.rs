//! `bevy_unlag` side of the smoothing benchmark: a client with smoothed proxies that receives a server's
//! updates.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    DrawnPose, NetRole, PathKnotConfig, PathRecorder, ProxySmoothing, ProxyUpdate, SUB_TICKS, Snapshot, Tick,
    VisualOffset,
};
use bevy_unlag_smoothing::{ProxyTime, SmoothingPlugin, SnapshotInbox};

use super::{
    FRAME, INTERVAL,
    error_metrics::DrawnSample,
    link::{Direction, Link, PacketQueue},
};
use crate::scene::{TICK, finish_plugins};

/// Hermite interpolation, and linear interpolation for comparison.
pub const MODES: [ProxySmoothing; 2] = [ProxySmoothing::Hermite, ProxySmoothing::Linear];

/// Server that sends updates of all actors.
pub struct Server {
    tracks: Vec<PathRecorder>,
    /// Updates of its last frame.
    sent: Vec<ProxyUpdate>,
}

impl Server {
    /// Creates a server with a number of actors.
    pub fn new(actors: usize) -> Self {
        Self { tracks: (0..actors).map(|_| PathRecorder::default()).collect(), sent: Vec::new() }
    }

    /// Runs one tick with the given states of the actors.
    pub fn frame(&mut self, tick: u32, states: impl Iterator<Item = Snapshot>) {
        self.sent.clear();
        let seconds = TICK.as_secs_f32();
        for (track, state) in self.tracks.iter_mut().zip(states) {
            track.record(state, seconds);
            if tick.is_multiple_of(INTERVAL) {
                self.sent.extend(track.update(&PathKnotConfig::default(), seconds, false));
            }
        }
    }
}

/// Client at the end of a link.
pub struct Watcher {
    app: App,
    link: Link,
    seed: u64,
    down: PacketQueue<Vec<ProxyUpdate>>,
    /// Proxies per mode and actor.
    proxies: [Vec<Entity>; 2],
    /// Drawn samples per mode and actor.
    pub seen: [Vec<Vec<DrawnSample>>; 2],
}

impl Watcher {
    /// Creates a client that draws a number of actors.
    pub fn new(actors: usize, link: Link, seed: u64) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, SmoothingPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
        finish_plugins(&mut app);
        let mut spawn =
            |mode| app.world_mut().spawn((SnapshotInbox::default(), NetRole::SimulatedProxy, mode)).id();
        let proxies = MODES.map(|mode| (0..actors).map(|_| spawn(mode)).collect());
        let seen = MODES.map(|_| vec![Vec::new(); actors]);
        Self { app, link, seed, down: PacketQueue::default(), proxies, seen }
    }

    /// Sends what the server has created in its frame.
    pub fn serve(&mut self, server: &Server, now: Duration) {
        if !server.sent.is_empty()
            && let Some(takes) = self.link.latency_or_loss(Direction::Down, now, self.seed)
        {
            self.down.push(now + takes, server.sent.clone());
        }
    }

    /// Runs one frame at `now`, when the server's time is `ticks`.
    pub fn frame(&mut self, now: Duration, ticks: f64) {
        while let Some(updates) = self.down.pop(now) {
            for proxies in &self.proxies {
                for (proxy, update) in proxies.iter().zip(&updates) {
                    if let Some(mut inbox) = self.app.world_mut().get_mut::<SnapshotInbox>(*proxy) {
                        inbox.0.push(*update);
                    }
                }
            }
        }
        self.app.update();
        let world = self.app.world();
        for (proxies, seen) in self.proxies.iter().zip(&mut self.seen) {
            for (proxy, seen) in proxies.iter().zip(seen) {
                seen.extend(look(world, *proxy, ticks));
            }
        }
    }
}

/// Returns the drawn sample of a proxy, if it is visible.
fn look(world: &World, proxy: Entity, ticks: f64) -> Option<DrawnSample> {
    let drawn = world.get::<DrawnPose>(proxy).filter(|drawn| drawn.pose.alive)?;
    let view = world.get::<ProxyTime>(proxy)?.drawn?;
    let offset = world.get::<VisualOffset>(proxy).map_or(Vec3::ZERO, |offset| offset.offset);
    let view = f64::from(view.tick.since(Tick(0))) + f64::from(view.fraction) / SUB_TICKS as f64;
    let place = (drawn.pose.position + offset).as_dvec3();
    Some(DrawnSample { now: ticks / 64.0, view: view / 64.0, place, yaw: 0.0 })
}

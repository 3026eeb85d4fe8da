//! Proxies that their model simulates to the present, for a bounded time.

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_core::{
    BitReader, BitWriter, DrawnPose, MoveModel, PawnClass, PoseSample, PoseSampler, ProxySmoothing, Snapshot,
    StepContext, Tick, Wire, WireError,
};
use bevy_unlag_smoothing::ProxySimulationPlugin;

use super::harness::*;

/// A model whose proxies climb, as no extrapolation does.
struct Glider;

#[derive(Resource)]
struct GliderConfig;

#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct GliderState(Vec3);

/// Speed in metres per second at which a proxy climbs.
const CLIMB: f32 = 1.0;
/// Speed in metres per second at which a proxy flies.
const SPEED: f32 = 6.0;

impl Wire for GliderState {
    fn write(&self, w: &mut BitWriter) {
        self.0.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(Vec3::read(r)?))
    }
}

impl MoveModel for Glider {
    type Config = GliderConfig;
    type Input = ();
    type State = GliderState;
    type Event = ();
    type Push = ();
    type World = ();
    type Diagnostics = ();

    fn step(
        _: &GliderConfig,
        state: &GliderState,
        (): &(),
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        _: &mut Vec<()>,
    ) -> GliderState {
        GliderState(state.0 + Self::velocity(state) * ctx.dt)
    }

    fn position(state: &GliderState) -> Vec3 {
        state.0
    }

    fn velocity(_: &GliderState) -> Vec3 {
        Vec3::X * SPEED
    }

    fn kind(_: &GliderState) -> u32 {
        0
    }

    fn proxy_step(
        _: &GliderConfig,
        _: PawnClass,
        pose: &PoseSample,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
    ) -> PoseSample {
        PoseSample { position: pose.position + (pose.velocity + Vec3::Y * CLIMB) * ctx.dt, ..*pose }
    }
}

/// Tick of the last update before the silence, and its position.
const LAST: u32 = 255;
const LAST_X: f32 = SPEED * LAST as f32 / 64.0;

/// A proxy that is not updated from four seconds on.
fn silent_proxy(max_simulation: f32) -> (Harness, usize) {
    let mut stage = Harness::new();
    stage.app.add_plugins(ProxySimulationPlugin::<Glider>::default()).insert_resource(GliderConfig);
    stage.app.world_mut().resource_mut::<PoseSampler>().max_simulation = max_simulation;
    let path = |tick: u32| {
        let x = f64::from(SPEED) * f64::from(tick) * TICK;
        Snapshot::new(Tick(tick), Vec3::X * x as f32, Vec3::X * SPEED)
    };
    let latency = |sent: f64| (sent < 4.0).then_some(0.02);
    let pawn = stage.pawn(Some(ProxySmoothing::Simulate), 8.0, path, |_| 3, latency);
    (stage, pawn)
}

/// Fails if `max_simulation` is ignored.
#[test]
fn simulated_proxy_stops_after_the_maximum_time_without_updates() {
    for cap in [0.0, 0.25, 0.5] {
        let (mut stage, pawn) = silent_proxy(cap);
        stage.run(6.0);
        let held = stage.pawns[pawn].after(5.0);
        assert!(
            held.iter().all(|sight| sight.pose == held[0].pose),
            "it must stand still at a cap of {cap} s"
        );
        let expected = Vec3::new(LAST_X + SPEED * cap, CLIMB * cap, 0.0);
        assert!(held[0].pose.distance(expected) < 0.02, "{} instead of {expected}", held[0].pose);
        let drawn = stage.app.world().get::<DrawnPose>(stage.pawns[pawn].entity).expect("a drawn pose");
        assert_eq!(drawn.pose.velocity, Vec3::ZERO, "it must not be drawn in motion");
    }
}

#[test]
fn simulated_proxy_moves_by_its_model_until_the_maximum_time() {
    let (mut stage, pawn) = silent_proxy(0.25);
    stage.run(4.2);
    for sight in stage.pawns[pawn].after(4.05) {
        // The last update has arrived in the frame after 4.004 s.
        let seconds = (sight.pose.x - LAST_X) / SPEED;
        assert!((0.02..0.25).contains(&seconds), "{seconds} s at {} s", sight.now);
        assert!((sight.pose.y - CLIMB * seconds).abs() < 0.005, "{} after {seconds} s", sight.pose);
    }
    let drawn = stage.app.world().get::<DrawnPose>(stage.pawns[pawn].entity).expect("a drawn pose");
    assert!((drawn.pose.velocity.x - SPEED).abs() < 0.01, "{}", drawn.pose.velocity);
}

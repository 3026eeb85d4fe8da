//! Simulation of proxies to the server's present by their movement model.

use core::marker::PhantomData;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnPose, MoveModel, NetRole, PawnClass, PawnModel, PoseSample, PoseSampler,
    ProxySmoothing, SnapshotHistory, StepContext, Tick, TimeDilation, ViewStamp, ViewTime, require_plugin,
};

use crate::plugin::{SmoothingPlugin, SmoothingSystems};

/// Simulates proxies of the model `M` with [`ProxySmoothing::Simulate`] by [`MoveModel::proxy_step`], so
/// that walls deflect them and floors support them; without this plugin they are extrapolated without
/// collision. Pawns of another [`PawnModel`] are left alone. Costs one cheap step per such proxy and frame, and some
/// more after an update.
#[doc(alias = "SimulateMovement")]
pub struct ProxySimulationPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(ProxySimulationPlugin<M>);

impl<M: MoveModel> Plugin for ProxySimulationPlugin<M> {
    fn build(&self, app: &mut App) {
        require_plugin(app, SmoothingPlugin);
        app.add_systems(PostUpdate, simulate::<M>.in_set(SmoothingSystems::Simulate));
    }
}

/// Progress of a proxy's simulation.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct SimulationProgress {
    from: Tick,
    time: ViewTime,
    pose: PoseSample,
}

/// Maximum number of steps per frame, of at most one tick each.
const MAX_STEPS: u32 = 64;

fn simulate<M: MoveModel>(
    model: Option<Res<M::Config>>,
    (sampler, bases): (Res<PoseSampler>, Res<BasePoses>),
    (tick, fixed): (Option<Res<CurrentTick>>, Option<Res<Time<Fixed>>>),
    world: StaticSystemParam<M::World>,
    mut proxies: Query<(
        Entity,
        (&NetRole, Option<&PawnModel>, Option<&PawnClass>, Option<&TimeDilation>),
        &ProxySmoothing,
        &SnapshotHistory,
        &mut DrawnPose,
        Option<&mut SimulationProgress>,
    )>,
    mut commands: Commands,
) {
    let Some(model) = model else { return };
    let bases = bases.at(tick.zip(fixed).map(|(tick, fixed)| tick.frame_time(&fixed)).unwrap_or_default());
    for (entity, (role, kind, class, rate), mode, history, mut drawn, carried) in &mut proxies {
        let ViewStamp::Extrapolated { from, time } = drawn.stamp else { continue };
        if kind.is_some_and(|kind| !kind.is::<M>()) {
            continue;
        }
        if *role != NetRole::SimulatedProxy || *mode != ProxySmoothing::Simulate || !drawn.pose.alive {
            continue;
        }
        let Some(newest) = history.get(from) else { continue };
        let class = class.copied().unwrap_or_default();
        let factor = rate.copied().unwrap_or_default().factor();
        let fresh = SimulationProgress { from, time: ViewTime::at(from), pose: newest.pose(&bases) };
        let mut state = carried
            .as_deref()
            .copied()
            .filter(|carried| carried.from == from && carried.time.since(time) <= 0)
            .unwrap_or(fresh);
        let limit = time.ticks_since(from).min(sampler.max_simulation_ticks());
        for _ in 0..MAX_STEPS {
            let left = limit - state.time.ticks_since(from);
            // Skip a rest below a hundredth of a tick.
            if left < 0.01 {
                break;
            }
            let ticks = left.min(1.0);
            // The model steps the pawn in the pawn's own time.
            let dt = ticks * sampler.tick_seconds * factor;
            let ctx = StepContext { tick: state.time.tick.offset(1), dt, entity, replaying: true };
            let own = in_own_time(state.pose, factor);
            let next = in_own_time(M::proxy_step(&model, class, &own, &ctx, &world), 1.0 / factor);
            if !(next.position.is_finite() && next.velocity.is_finite()) {
                break;
            }
            state.pose = next;
            state.time = state.time.later((ticks * bevy_unlag_core::SUB_TICKS as f32).round() as i64);
        }
        drawn.pose = state.pose;
        if time.ticks_since(from) > sampler.max_simulation_ticks() {
            // It stands still until the next update.
            drawn.pose.velocity = Vec3::ZERO;
        }
        match carried {
            Some(mut carried) => *carried = state,
            None => {
                commands.entity(entity).insert(state);
            }
        }
    }
}

/// Returns a pose whose rates of change are per second of a time that runs by `factor` faster.
fn in_own_time(pose: PoseSample, factor: f32) -> PoseSample {
    if factor == 1.0 {
        return pose;
    }
    PoseSample {
        velocity: pose.velocity / factor,
        acceleration: pose.acceleration / (factor * factor),
        spin: pose.spin / factor,
        ..pose
    }
}

//! Where the owner's pawn was, on the owner's own screen.

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag::{
    Soldier,
    core::{MoveModel, StepContext},
    prediction::SavedMoves,
    prelude::*,
};

/// Places between two ticks, found as the owner draws them: by a part of the step.
const PARTS: usize = 8;

/// What the owner's screen could have shown at every moment, and when it did.
#[derive(Resource, Default)]
pub struct OwnPath {
    /// The tick whose end [`places`](Self::places) begin with.
    pub began: Option<Tick>,
    /// Eight of them a tick.
    pub places: Vec<Vec3>,
    /// Of every frame: seconds on this app's clock, and ticks since the first one ended.
    pub frames: Vec<(f64, f64)>,
    /// Moves that began elsewhere than the one before ended.
    pub breaks: usize,
}

impl OwnPath {
    /// Seconds from one place to the next.
    pub const STEP: f64 = 1.0 / (64 * PARTS) as f64;

    /// Notes a client's own path down from now on.
    pub fn watch(client: &mut App) {
        client.init_resource::<Self>().add_systems(FixedLast, follow).add_systems(Last, look);
    }

    /// Ticks on the owner's time line when this app's clock showed so many seconds.
    pub fn ticks_at(&self, seconds: f64) -> Option<f64> {
        let next = self.frames.partition_point(|(at, _)| *at < seconds);
        let ((s0, a), (s1, b)) = (self.frames.get(next.checked_sub(1)?)?, self.frames.get(next)?);
        Some(a + (b - a) * ((seconds - s0) / (s1 - s0).max(1e-9)))
    }
}

fn follow(
    config: Res<<Soldier as MoveModel>::Config>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<<Soldier as MoveModel>::World>,
    pawns: Query<(Entity, &SavedMoves<Soldier>), With<LocalControl>>,
    mut path: ResMut<OwnPath>,
) {
    let Ok((entity, saved)) = pawns.single() else { return };
    let Some(made) = saved.iter().next_back() else { return };
    let path = &mut *path;
    if path.began.is_none() {
        path.began = Some(made.tick.offset(-1));
        path.places.push(made.start.body.position);
    }
    if path.places.last() != Some(&made.start.body.position) {
        path.breaks += 1;
    }
    for part in 1..PARTS {
        let dt = fixed.timestep().as_secs_f32() * part as f32 / PARTS as f32;
        let ctx = StepContext { tick: made.tick, dt, entity, replaying: true };
        let drawn = Soldier::step(&config, &made.start, &made.input, &ctx, &world, &mut Vec::new());
        path.places.push(drawn.body.position);
    }
    path.places.push(made.result.body.position);
}

fn look(time: Res<Time<Real>>, tick: Res<CurrentTick>, fixed: Res<Time<Fixed>>, mut path: ResMut<OwnPath>) {
    let Some(began) = path.began else { return };
    let overstep = fixed.overstep().as_secs_f64() / fixed.timestep().as_secs_f64();
    path.frames.push((time.elapsed_secs_f64(), f64::from(tick.0.since(began)) + overstep));
}

//! Path of the owner's pawn as drawn on the owner's own screen.

use bevy::ecs::system::StaticSystemParam;

use crate::prelude::*;

/// Samples per tick, computed like the owner's drawn pose: by a partial step.
const PARTS: usize = 8;

/// Positions that the owner's screen could have drawn at any time, and the times of its frames.
#[derive(Resource, Default)]
pub struct OwnPath {
    /// Tick at whose end [`places`](Self::places) begin.
    pub began: Option<Tick>,
    /// Positions, eight per tick.
    pub places: Vec<Vec3>,
    /// Time of every frame in seconds on this app's clock, and in ticks since the end of `began`.
    pub frames: Vec<(f64, f64)>,
}

impl OwnPath {
    /// Seconds between two positions.
    pub const STEP: f64 = 1.0 / (64 * PARTS) as f64;

    /// Records a client's own path from now on.
    pub fn watch<M: MoveModel>(client: &mut App) {
        client.init_resource::<Self>().add_systems(FixedLast, follow::<M>).add_systems(Last, look);
    }

    /// Converts a time on this app's clock, in seconds, into ticks on the owner's timeline.
    pub fn ticks_at(&self, seconds: f64) -> Option<f64> {
        let next = self.frames.partition_point(|(at, _)| *at < seconds);
        let ((s0, a), (s1, b)) = (self.frames.get(next.checked_sub(1)?)?, self.frames.get(next)?);
        Some(a + (b - a) * ((seconds - s0) / (s1 - s0).max(1e-9)))
    }
}

fn follow<M: MoveModel>(
    config: Res<M::Config>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    pawns: Query<(Entity, &SavedMoves<M>), With<LocalControl>>,
    mut path: ResMut<OwnPath>,
) {
    let Ok((entity, saved)) = pawns.single() else { return };
    let Some(made) = saved.iter().next_back() else { return };
    let path = &mut *path;
    if path.began.is_none() {
        path.began = Some(made.tick.offset(-1));
        path.places.push(M::position(&made.start));
    }
    for part in 1..PARTS {
        let dt = fixed.timestep().as_secs_f32() * part as f32 / PARTS as f32;
        let ctx = StepContext { tick: made.tick, dt, entity, replaying: true };
        let drawn = M::step(&config, &made.start, &made.input, &ctx, &world, &mut Vec::new());
        path.places.push(M::position(&drawn));
    }
    path.places.push(M::position(&made.result));
}

fn look(time: Res<Time<Real>>, tick: Res<CurrentTick>, fixed: Res<Time<Fixed>>, mut path: ResMut<OwnPath>) {
    let Some(began) = path.began else { return };
    let overstep = fixed.overstep().as_secs_f64() / fixed.timestep().as_secs_f64();
    path.frames.push((time.elapsed_secs_f64(), f64::from(tick.0.since(began)) + overstep));
}

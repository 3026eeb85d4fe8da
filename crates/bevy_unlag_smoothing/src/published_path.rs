//! Path of a pawn as published to remote clients, on the server.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, BaseView, CaughtUpStates, CurrentTick, MoveModel, PathKnotConfig, PathRecorder, PoseSample,
    PoseSampler, ProxySmoothing, ProxyUpdate, PublishedState, Snapshot, SnapshotHistory, Tick, TimeDilation,
    ViewTime,
};

/// Path of a pawn as published to remote clients: the snapshots sent within a bounded time, the ticks since
/// the last one, and the present pose.
///
/// A pawn with this component is recorded in every tick and, over a network, published at its update
/// interval. Server-side rewind tests shots against the sent snapshots stored here.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PublishedPath {
    /// Sent snapshots.
    pub sent: SnapshotHistory,
    // A buffer of the ticks since the last snapshot.
    #[reflect(ignore)]
    track: PathRecorder,
    present: Option<PoseSample>,
    /// Tick of `present`, and the number of teleports by then.
    recorded: Option<(Tick, u8)>,
    /// Ticks between the last updates, newest first; 0 if unknown.
    spaces: [i32; 6],
    /// Whether the last update that was due lacked the newest ticks, because the owner's moves were late.
    is_behind: bool,
}

impl PublishedPath {
    /// Restores the path of a pawn from an evidence record.
    #[must_use]
    pub fn restored(snapshots: &[Snapshot], present: Option<PoseSample>) -> Self {
        let mut sent = SnapshotHistory::new(snapshots.len());
        for snapshot in snapshots {
            sent.insert(*snapshot);
        }
        Self { sent, present, ..Self::default() }
    }

    /// Returns the pose after the last tick; `None` before the first.
    #[must_use]
    pub fn present(&self) -> Option<&PoseSample> {
        self.present.as_ref()
    }

    /// Returns the tick of [`present`](Self::present), and the number of teleports by then.
    #[must_use]
    pub fn recorded(&self) -> Option<(Tick, u8)> {
        self.recorded
    }

    /// Returns the ticks between updates: the fewest of the last few intervals, because frames lengthen some of them.
    /// An overdue update after late moves makes it too short for a few updates. 0 before the second update. Clients
    /// rely on the first two updates as well, and a shot at a new pawn is tested as it was drawn.
    #[must_use]
    pub fn interval(&self) -> i32 {
        self.spaces.into_iter().filter(|space| *space > 0).min().unwrap_or(0)
    }

    /// Records the tick `now`: `present` in world space, and the snapshot, relative to a movement base if the
    /// pawn stands on one.
    fn take(
        &mut self,
        now: Tick,
        present: PoseSample,
        snapshot: Snapshot,
        velocity: Vec3,
        tick_seconds: f32,
    ) {
        self.present = Some(present);
        self.recorded = Some((now, snapshot.teleports));
        self.track.record_exactly(snapshot, velocity, tick_seconds);
    }

    /// Records the state of a tick, in world space.
    pub fn record(&mut self, tick: Tick, snapshot: Snapshot, velocity: Vec3, tick_seconds: f32) {
        self.take(tick, PoseSample::from(&snapshot), snapshot, velocity, tick_seconds);
    }

    /// Returns whether an update is overdue: the last one that was due lacked ticks for which the owner's moves were
    /// late, and these moves have run. Clients are waiting for it.
    #[must_use]
    pub fn is_overdue(&self) -> bool {
        self.is_behind && self.recorded.map(|(now, _)| now) == self.track.newest()
    }

    /// Returns whether the last update should be sent again in the next tick; see
    /// [`PathKnotConfig::repeat_acceleration`].
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        self.track.is_unexpected()
    }

    /// Returns the last update; `None` before the first.
    #[must_use]
    pub fn last_update(&self) -> Option<&ProxyUpdate> {
        self.track.last_update()
    }

    /// Returns the next update to send and stores it as sent: the present, and path knots where a curve from
    /// the last update would miss the path. `None` if there is nothing to send: the snapshot of a tick is
    /// final, even if the pawn's moves were late then and its state has changed since. `mode` is the pawn's
    /// own smoothing mode, if it has one.
    pub fn next_update(
        &mut self,
        config: &PathKnotConfig,
        sampler: &PoseSampler,
        mode: Option<&ProxySmoothing>,
    ) -> Option<ProxyUpdate> {
        let simulated = mode == Some(&ProxySmoothing::Simulate);
        let recorded = self.recorded.zip(self.track.newest());
        self.is_behind = recorded.is_some_and(|((now, _), newest)| now.is_newer_than(newest));
        let update = self.track.update_for(config, sampler, simulated)?;
        self.store(&update);
        Some(update)
    }

    /// Stores an update as sent: one from [`next_update`](Self::next_update) of a recorded match, to replay it.
    pub fn store(&mut self, update: &ProxyUpdate) {
        let before = self.sent.newest().map(|newest| newest.tick);
        self.spaces.rotate_right(1);
        self.spaces[0] = before.map_or(0, |before| update.snapshot.tick.since(before));
        for snapshot in update.iter() {
            self.sent.insert(*snapshot);
        }
    }
}

/// Records the published state of every pawn of a model. While a pawn's moves are late, it differs from the
/// state that the server simulates.
pub(crate) fn record<M: MoveModel>(
    tick: Res<CurrentTick>,
    sampler: Res<PoseSampler>,
    bases: Res<BasePoses>,
    config: Option<Res<M::Config>>,
    mut pawns: Query<(&M::State, Option<&PublishedState<M>>, Option<&CaughtUpStates<M>>, &mut PublishedPath)>,
) {
    let turns = config.is_some_and(|config| M::turns_with_base(&config));
    let now = tick.0;
    for (state, shown, caught_up, mut path) in &mut pawns {
        for earlier in caught_up.iter().flat_map(|caught_up| &caught_up.0) {
            let bases = bases.at(ViewTime::at(earlier.move_tick));
            let (snapshot, velocity) =
                based_snapshot::<M>(&earlier.state, earlier.tick, turns, (&bases, &sampler));
            path.track.record_exactly(snapshot, velocity, sampler.tick_seconds);
        }
        let (state, tick, moved) =
            shown.map_or((state, now, now), |shown| (&shown.state, shown.tick, shown.move_tick));
        let bases = bases.at(ViewTime::at(moved));
        let present =
            PoseSample { position: M::position(state), ..PoseSample::from(&M::snapshot(state, tick)) };
        let (snapshot, velocity) = based_snapshot::<M>(state, tick, turns, (&bases, &sampler));
        path.take(now, present, snapshot, velocity, sampler.tick_seconds);
    }
}

/// Returns the snapshot of a state, relative to the base on which the pawn stands, and its exact velocity.
fn based_snapshot<M: MoveModel>(
    state: &M::State,
    tick: Tick,
    turns: bool,
    (bases, sampler): (&BaseView<'_>, &PoseSampler),
) -> (Snapshot, Vec3) {
    let position = M::position(state);
    let snapshot = M::snapshot(state, tick).on_base(M::base(state), position, turns, bases);
    let velocity = if snapshot.base == 0 { M::velocity(state) } else { snapshot.velocity() };
    (with_own_gravity(snapshot, M::time_dilation(state), sampler), velocity)
}

/// Adds the acceleration of a falling pawn whose own time has another rate than the world's: screens extrapolate it
/// with that instead of ordinary gravity. Costs three bytes in the air.
fn with_own_gravity(snapshot: Snapshot, rate: TimeDilation, sampler: &PoseSampler) -> Snapshot {
    if rate == TimeDilation::NORMAL || !snapshot.falling || sampler.gravity == 0.0 {
        return snapshot;
    }
    // Both the velocity and its change are by that factor slower or faster.
    let gravity = sampler.gravity * rate.factor().powi(2);
    let acceleration = Snapshot::acceleration_units(snapshot.up.direction() * -gravity);
    // An acceleration that rounds to nothing would stand for ordinary gravity.
    Snapshot { acceleration, falling: acceleration != [0; 3], ..snapshot }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{StepContext, Wire};

    use super::*;

    /// Pawn whose state is its position and velocity.
    enum Glider {}

    #[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
    struct GliderState {
        position: Vec3,
        velocity: Vec3,
    }

    #[derive(Resource)]
    struct GliderConfig;

    impl MoveModel for Glider {
        type Config = GliderConfig;
        type Input = u8;
        type State = GliderState;
        type Event = ();
        type Push = ();
        type World = ();
        type Diagnostics = ();

        fn step(
            _: &GliderConfig,
            state: &GliderState,
            _: &u8,
            ctx: &StepContext,
            (): &(),
            _: &mut Vec<()>,
        ) -> GliderState {
            GliderState { position: state.position + state.velocity * ctx.dt, ..*state }
        }

        fn position(state: &GliderState) -> Vec3 {
            state.position
        }

        fn velocity(state: &GliderState) -> Vec3 {
            state.velocity
        }

        fn kind(_: &GliderState) -> u32 {
            0
        }
    }

    /// Returns the state at the end of a tick of a pawn that turns by a right angle at the end of tick 6.
    fn corner(tick: u32) -> GliderState {
        let (before, after) = (tick.min(6) as f32 / 64.0, tick.saturating_sub(6) as f32 / 64.0);
        let velocity = if tick < 6 { Vec3::X } else { Vec3::Z } * 6.0;
        GliderState { position: Vec3::new(before, 0.0, after) * 6.0, velocity }
    }

    /// Fails without the loop over `CaughtUpStates` in `record`.
    #[test]
    fn late_moves_that_run_in_one_tick_are_drawn_where_they_led() {
        let mut app = App::new();
        app.init_resource::<PoseSampler>()
            .init_resource::<BasePoses>()
            .init_resource::<CurrentTick>()
            .insert_resource(GliderConfig);
        let published = |tick: u32| PublishedState::<Glider> {
            tick: Tick(tick),
            move_tick: Tick(tick),
            state: corner(tick),
        };
        let pawn = (corner(0), CaughtUpStates::<Glider>::default(), PublishedPath::default());
        let pawn = app.world_mut().spawn((pawn, published(0))).id();
        // No move arrives from tick 4 to 8; in tick 9 all of them run.
        for (tick, earlier) in [(0, 0..0), (1, 0..0), (2, 0..0), (3, 0..0), (9, 4..9)] {
            let world = app.world_mut();
            world.resource_mut::<CurrentTick>().0 = Tick(tick);
            let earlier = CaughtUpStates(earlier.map(published).collect());
            world.entity_mut(pawn).insert((corner(tick), published(tick), earlier));
            assert!(world.run_system_cached(record::<Glider>).is_ok());
            if tick.is_multiple_of(3) {
                let sampler = *world.resource::<PoseSampler>();
                let mut path = world.get_mut::<PublishedPath>(pawn).expect("the pawn has a path");
                assert!(path.next_update(&PathKnotConfig::default(), &sampler, None).is_some());
            }
        }
        let path = app.world().get::<PublishedPath>(pawn).expect("the pawn has a path");
        for tick in 3..=9 {
            let stamp = path.sent.stamp(ViewTime::at(Tick(tick))).expect("updates were sent");
            let drawn = path.sent.pose(stamp, app.world().resource(), &BaseView::default());
            let off = drawn.expect("stored snapshots").position.distance(corner(tick).position);
            assert!(off < 0.01, "{off} m beside the path at tick {tick}");
        }
    }

    /// Fails if an update is overdue only at the next regular tick, or as soon as one late move has run.
    #[test]
    fn update_is_overdue_once_the_late_moves_have_run_that_the_last_one_lacked() {
        let mut path = PublishedPath::default();
        let sampler = PoseSampler::default();
        let mut record = |now: u32, tick: u32, is_due: bool| {
            let snapshot = Snapshot::new(Tick(tick), Vec3::X * tick as f32, Vec3::X);
            path.take(Tick(now), PoseSample::from(&snapshot), snapshot, Vec3::X, sampler.tick_seconds);
            let overdue = path.is_overdue();
            if is_due || overdue {
                path.next_update(&PathKnotConfig::default(), &sampler, None);
            }
            overdue
        };
        // The moves of ticks 5 to 7 arrive in tick 8, and one of them in tick 7.
        let ticks = [(3, 3), (4, 4), (5, 4), (6, 4), (7, 5), (8, 8), (9, 9), (10, 10)];
        let overdue: Vec<u32> = ticks
            .into_iter()
            .filter(|(now, tick)| record(*now, *tick, now % 3 == 0))
            .map(|(now, _)| now)
            .collect();
        assert_eq!(overdue, [8]);
    }

    #[test]
    fn recorded_tick_and_updates_that_clients_cannot_foresee_are_told() {
        let mut path = PublishedPath::default();
        let sampler = PoseSampler::default();
        let mut record = |tick: u32| {
            let GliderState { position, velocity } = corner(tick);
            let snapshot = Snapshot { teleports: 2, ..Snapshot::new(Tick(tick), position, velocity) };
            path.record(Tick(tick), snapshot, velocity, sampler.tick_seconds);
            assert_eq!(path.recorded(), Some((Tick(tick), 2)));
            tick.is_multiple_of(4) && {
                path.next_update(&PathKnotConfig::default(), &sampler, None);
                path.is_unexpected()
            }
        };
        let unexpected: Vec<u32> = (0..=12).filter(|tick| record(*tick)).collect();
        assert_eq!(unexpected, [8], "the corner is at the end of tick 6");
    }

    /// Returns how far below a line a falling pawn of this rate is drawn after 8 ticks without an update.
    fn drawn_fall(factor: f32) -> f32 {
        let sampler = PoseSampler { gravity: 9.8, ..PoseSampler::default() };
        let falling = Snapshot { falling: true, ..Snapshot::new(Tick(0), Vec3::ZERO, Vec3::X) };
        let sent = with_own_gravity(falling, TimeDilation::new(factor), &sampler);
        let pose = sampler.extrapolate(&sent, ViewTime::at(Tick(8)), &BaseView::default());
        assert!((pose.position.x - 0.125).abs() < 1e-4, "{factor}: {}", pose.position);
        -pose.position.y
    }

    #[test]
    fn falling_pawns_are_extrapolated_with_the_gravity_of_their_own_time() {
        for factor in [0.1, 0.24, 0.5, 1.0, 1.5, 2.0, 2.5] {
            let truth = 0.5 * 9.8 * (factor * 0.125f32).powi(2);
            let found = drawn_fall(factor);
            // An acceleration is sent in steps of half a metre per second squared.
            assert!((found - truth).abs() < 0.0025, "{factor}: {found} m for {truth} m");
        }
    }
}

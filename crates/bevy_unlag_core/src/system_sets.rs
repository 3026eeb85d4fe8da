//! System sets of the suite.

use core::{any::TypeId, marker::PhantomData};

use bevy::{ecs::schedule::ScheduleLabel, prelude::*};

use crate::{model::MoveModel, required_plugin::require_plugin, role::LocalControl};

/// System sets of movement, in [`FixedUpdate`] unless noted.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{MoveModel, MoveSystems, StepEvent};
///
/// /// Plays the effects of the moves that have just run.
/// fn play_effects<M: MoveModel>(mut steps: MessageReader<StepEvent<M>>) {
///     for step in steps.read() {
///         println!("{} in tick {}: {:?}", step.entity, step.tick.0, step.event);
///     }
/// }
///
/// fn add_effects<M: MoveModel>(app: &mut App) {
///     app.add_systems(FixedUpdate, play_effects::<M>.in_set(MoveSystems::React));
/// }
/// ```
///
/// In the book: *Reference overview*, `book/src/reference/overview.md`, has the order of a frame.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MoveSystems {
    /// In [`FixedFirst`](bevy::app::FixedFirst): increments [`CurrentTick`](crate::CurrentTick) and skips the
    /// ticks lost by a stall.
    AdvanceTick,
    /// Applies the server's acknowledgements and replays the unacknowledged moves.
    Reconcile,
    /// Empty: games write [`MoveInput`](crate::MoveInput) here.
    Sample,
    /// Extensions, such as a weapon, add their part to [`MoveInput`](crate::MoveInput).
    Extend,
    /// Steps the own pawn; the server runs the moves that arrived.
    Step,
    /// Empty: for systems that react to [`StepEvent`](crate::StepEvent)s within the same tick.
    React,
    /// In [`FixedPostUpdate`](bevy::app::FixedPostUpdate): updates [`PublishedState`](crate::PublishedState).
    Publish,
}

/// All systems of the suite in the fixed schedules, from [`FixedFirst`] to [`FixedLast`]. They must run
/// exactly once per tick.
///
/// Code that runs these schedules again, such as the rollback of a network library, gives the set a run
/// condition in each of them; `bevy_unlag_lightyear` does so for lightyear's rollback. Systems of a game that
/// must not be repeated either may join the set.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TickSystems;

/// System sets of drawing, in [`PostUpdate`] before transforms propagate.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VisualSystems {
    /// Fades offsets by the duration of the frame.
    Fade,
    /// Computes the drawn pose of every pawn: samples proxies and advances the own pawn to this frame.
    Draw,
    /// Moves visuals to their pawn's [`DrawnPose`](crate::DrawnPose) plus [`VisualOffset`](crate::VisualOffset).
    Follow,
}

/// Systems that have nothing to do without a certain kind of pawn. While the app has none, each schedule skips them
/// with a single test, from [`RunFixedMainLoop`] and [`FixedPreUpdate`] to [`PostUpdate`]. So a server does not pay for
/// systems of clients, and of models that no pawn of its match has.
///
/// The first of them that a schedule comes to decides for the schedule's run: in [`FixedUpdate`] it must run after
/// [`MoveSystems::Reconcile`], in which a player takes a pawn over.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PawnSystems {
    /// For pawns with [`LocalControl`].
    Own,
    /// For pawns with the [`MoveModel::State`] of a model: see [`of`](Self::of).
    OfModel(TypeId),
}

impl PawnSystems {
    /// Returns the set of systems for pawns with the state of `M`.
    #[must_use]
    pub fn of<M: MoveModel>() -> Self {
        Self::OfModel(TypeId::of::<M>())
    }

    fn skip_without<C: Component>(self, app: &mut App) {
        let tick =
            [FixedPreUpdate.intern(), FixedUpdate.intern(), FixedPostUpdate.intern(), FixedLast.intern()];
        for schedule in
            [RunFixedMainLoop.intern(), Update.intern(), PostUpdate.intern()].into_iter().chain(tick)
        {
            app.configure_sets(schedule, self.run_if(any_with_component::<C>));
        }
    }
}

/// Skips the [`PawnSystems`] of `M`, and those of own pawns. Prediction adds it.
pub struct PawnSystemsPlugin<M>(PhantomData<fn() -> M>);

crate::marker_impls!(PawnSystemsPlugin<M>);

impl<M: MoveModel> Plugin for PawnSystemsPlugin<M> {
    fn build(&self, app: &mut App) {
        PawnSystems::of::<M>().skip_without::<M::State>(app);
        require_plugin(app, OwnPawnSystemsPlugin);
    }
}

struct OwnPawnSystemsPlugin;

impl Plugin for OwnPawnSystemsPlugin {
    fn build(&self, app: &mut App) {
        PawnSystems::Own.skip_without::<LocalControl>(app);
    }
}

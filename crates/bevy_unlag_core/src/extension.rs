//! Extensions of movement models: additional predicted state, such as weapons and abilities, that is
//! replayed together with the body.

use core::marker::PhantomData;

use bevy::{ecs::system::SystemParamItem, prelude::*};
use bevy_unlag_derive::Wire;

use crate::{
    model::{MoveDiagnostics, MoveModel, StepContext},
    pawn_class::PawnClass,
    pose_sample::PoseSample,
    snapshot::Snapshot,
    tick::Tick,
    time_dilation::TimeDilation,
    view_frame::ViewFrame,
    wire::Wire,
};

/// State of the body at the beginning of a step, as an extension sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BodyStep {
    /// Heading and pitch of the move's view: see [`MoveModel::look`].
    pub look: (u16, i16),
    /// Frame in which they are measured: see [`MoveModel::view_frame`].
    pub frame: ViewFrame,
    /// Velocity of the body, in metres per second.
    pub velocity: Vec3,
    /// Whether the body stands on something.
    pub grounded: bool,
    /// Rate of the pawn's own time: see [`MoveModel::time_dilation`].
    pub time_dilation: TimeDilation,
}

impl BodyStep {
    /// Creates the value for a body in this state, in a move that looks straight ahead.
    #[must_use]
    pub fn of<M: MoveModel>(state: &M::State) -> Self {
        let grounded = M::snapshot(state, Tick::default()).grounded;
        Self {
            look: (0, 0),
            frame: M::view_frame(state),
            velocity: M::velocity(state),
            grounded,
            time_dilation: M::time_dilation(state),
        }
    }

    /// Returns the seconds of the pawn's own time in `seconds` of the world's, for timers that run with it.
    #[must_use]
    pub fn own_seconds(&self, seconds: f32) -> f32 {
        seconds * self.time_dilation.factor()
    }
}

/// Predicted state that accompanies a [`MoveModel`] and is stepped right after it.
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait MoveExtension: Send + Sync + Sized + 'static {
    /// Tuning, the same on client and server.
    type Config: Resource;
    /// Player input to the extension in one tick.
    type Input: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// All predicted state of the extension.
    type State: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// Event of a step.
    type Event: Clone + core::fmt::Debug + Send + Sync + 'static;

    /// Returns the state after one step. Must be pure.
    fn step(
        config: &Self::Config,
        state: &Self::State,
        input: &Self::Input,
        body: &BodyStep,
        ctx: &StepContext,
        events: &mut Vec<Self::Event>,
    ) -> Self::State;

    /// Returns a number that differs when states differ in any discrete quantity; see [`MoveModel::kind`].
    fn kind(state: &Self::State) -> u32;

    /// Returns the replacement for missing input; see [`MoveModel::missing_input`]. Default: neutral input,
    /// because an extension acts only on input.
    #[must_use]
    fn missing_input(last: &Self::Input) -> Self::Input {
        Self::Input::default()
    }

    /// Returns the state after a change of control; see [`MoveModel::change_control`]. Default: the same state.
    #[must_use]
    fn change_control(state: &Self::State) -> Self::State {
        *state
    }

    /// Returns the state after a change of the rate of the pawn's own time. An extension whose timers count ticks of
    /// that time rescales them by [`TimeDilation::rescaled_ticks`]. Default: the same state.
    #[must_use]
    fn change_time_dilation(state: &Self::State, from: TimeDilation, to: TimeDilation) -> Self::State {
        *state
    }

    /// See [`MoveModel::is_outcome`].
    #[must_use]
    fn is_outcome(event: &Self::Event) -> bool {
        false
    }

    /// See [`MoveDiagnostics::config_hash`].
    #[must_use]
    fn config_hash(config: &Self::Config) -> u32 {
        0
    }
}

/// The model `M` with the extension `X`. It is a model itself, so extensions can be nested.
#[derive(TypePath)]
pub struct Extended<M, X>(PhantomData<fn() -> (M, X)>);

impl<M, X> core::fmt::Debug for Extended<M, X> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Extended")
    }
}

impl<M, X> Clone for Extended<M, X> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

/// Input of an [`Extended`] model.
#[derive(Wire, Clone, Copy, PartialEq, Default, Debug, Reflect)]
pub struct ExtendedInput<B, X> {
    /// Input to the body.
    pub body: B,
    /// Input to the extension.
    pub extension: X,
}

/// State of an [`Extended`] model.
#[derive(Component, Wire, Clone, Copy, PartialEq, Default, Debug, Reflect)]
#[reflect(Component)]
pub struct ExtendedState<B: Send + Sync + 'static, X: Send + Sync + 'static> {
    /// State of the body.
    pub body: B,
    /// State of the extension.
    pub extension: X,
}

impl<B: Send + Sync + 'static, X: Default + Send + Sync + 'static> ExtendedState<B, X> {
    /// Creates the state of a pawn with the default extension.
    #[must_use]
    pub fn new(body: B) -> Self {
        Self { body, extension: X::default() }
    }
}

impl<B: Send + Sync + 'static, S: Copy + Send + Sync + 'static> ExtendedState<B, S> {
    /// Informs the extension if the rate of the pawn's own time is no longer `before`.
    fn follow_time_dilation<M: MoveModel<State = B>, X: MoveExtension<State = S>>(
        mut self,
        before: TimeDilation,
    ) -> Self {
        let now = M::time_dilation(&self.body);
        if now != before {
            self.extension = X::change_time_dilation(&self.extension, before, now);
        }
        self
    }
}

/// Event of an [`Extended`] model.
#[derive(Clone, Debug, Reflect)]
pub enum ExtendedEvent<B, X> {
    /// Event of the body.
    Body(B),
    /// Event of the extension.
    Extension(X),
}

/// Implements the functions of a model and of its diagnostics that an [`ExtendedState`] leaves to its body. The
/// names of the types in them are those at the place of the call.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate_to_body {
    (model: $body:ty) => {
        fn position(state: &Self::State) -> Vec3 {
            <$body as MoveModel>::position(&state.body)
        }

        fn eye(config: &Self::Config, state: &Self::State) -> Vec3 {
            <$body as MoveModel>::eye(config, &state.body)
        }

        fn look(input: &Self::Input) -> (u16, i16) {
            <$body as MoveModel>::look(&input.body)
        }

        fn view_frame(state: &Self::State) -> ViewFrame {
            <$body as MoveModel>::view_frame(&state.body)
        }

        fn snapshot(state: &Self::State, tick: Tick) -> Snapshot {
            <$body as MoveModel>::snapshot(&state.body, tick)
        }

        fn velocity(state: &Self::State) -> Vec3 {
            <$body as MoveModel>::velocity(&state.body)
        }

        fn time_dilation(state: &Self::State) -> TimeDilation {
            <$body as MoveModel>::time_dilation(&state.body)
        }

        fn base(state: &Self::State) -> u16 {
            <$body as MoveModel>::base(&state.body)
        }

        fn turns_with_base(config: &Self::Config) -> bool {
            <$body as MoveModel>::turns_with_base(config)
        }

        fn proxy_step(
            config: &Self::Config,
            class: PawnClass,
            pose: &PoseSample,
            ctx: &StepContext,
            world: &SystemParamItem<Self::World>,
        ) -> PoseSample {
            <$body as MoveModel>::proxy_step(config, class, pose, ctx, &world.0)
        }

        fn teleports(state: &Self::State) -> u8 {
            <$body as MoveModel>::teleports(&state.body)
        }

        fn can_combine_with(older: &Self::Input, newer: &Self::Input) -> bool {
            <$body as MoveModel>::can_combine_with(&older.body, &newer.body)
                && older.extension == newer.extension
        }

        fn try_nudge(
            config: &Self::Config,
            state: &Self::State,
            by: Vec3,
            ctx: &StepContext,
            world: &SystemParamItem<Self::World>,
        ) -> Option<Self::State> {
            let body = <$body as MoveModel>::try_nudge(config, &state.body, by, ctx, &world.0)?;
            Some(ExtendedState { body, ..*state })
        }
    };
    (diagnostics: $body:ty) => {
        fn is_near_pawn(
            config: &<Self as MoveModel>::Config,
            state: &<Self as MoveModel>::State,
            ctx: &StepContext,
            world: &SystemParamItem<<Self as MoveModel>::World>,
        ) -> bool {
            <$body as MoveModel>::Diagnostics::is_near_pawn(config, &state.body, ctx, &world.0)
        }

        fn surroundings_hash(
            config: &<Self as MoveModel>::Config,
            state: &<Self as MoveModel>::State,
            world: &SystemParamItem<<Self as MoveModel>::World>,
        ) -> u32 {
            <$body as MoveModel>::Diagnostics::surroundings_hash(config, &state.body, &world.0)
        }

        fn level_hash(world: &SystemParamItem<<Self as MoveModel>::World>) -> u32 {
            <$body as MoveModel>::Diagnostics::level_hash(&world.0)
        }

        fn outline(config: &<Self as MoveModel>::Config, state: &<Self as MoveModel>::State) -> (f32, f32) {
            <$body as MoveModel>::Diagnostics::outline(config, &state.body)
        }
    };
}

impl<M: MoveModel, X: MoveExtension> MoveModel for Extended<M, X> {
    type Config = M::Config;
    type Input = ExtendedInput<M::Input, X::Input>;
    type State = ExtendedState<M::State, X::State>;
    type Event = ExtendedEvent<M::Event, X::Event>;
    type Push = M::Push;
    type World = (M::World, Res<'static, X::Config>);
    type Diagnostics = Self;

    fn step(
        config: &Self::Config,
        state: &Self::State,
        input: &Self::Input,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
        events: &mut Vec<Self::Event>,
    ) -> Self::State {
        let (mut of_body, mut of_extension) = (Vec::new(), Vec::new());
        let body = M::step(config, &state.body, &input.body, ctx, &world.0, &mut of_body);
        let start = BodyStep { look: M::look(&input.body), ..BodyStep::of::<M>(&state.body) };
        let extension = X::step(&world.1, &state.extension, &input.extension, &start, ctx, &mut of_extension);
        events.extend(of_body.into_iter().map(ExtendedEvent::Body));
        events.extend(of_extension.into_iter().map(ExtendedEvent::Extension));
        ExtendedState { body, extension }.follow_time_dilation::<M, X>(start.time_dilation)
    }

    delegate_to_body!(model: M);

    fn push(config: &Self::Config, state: &Self::State, push: &Self::Push) -> Self::State {
        let before = M::time_dilation(&state.body);
        let body = M::push(config, &state.body, push);
        ExtendedState { body, ..*state }.follow_time_dilation::<M, X>(before)
    }

    fn kind(state: &Self::State) -> u32 {
        // An odd factor is a bijection and keeps the two numbers from cancelling out.
        M::kind(&state.body) ^ X::kind(&state.extension).wrapping_mul(0x9e37_79b1)
    }

    fn change_control(state: &Self::State) -> Self::State {
        ExtendedState { body: M::change_control(&state.body), extension: X::change_control(&state.extension) }
    }

    fn missing_input(last: &Self::Input, axes: bool) -> Self::Input {
        ExtendedInput {
            body: M::missing_input(&last.body, axes),
            extension: X::missing_input(&last.extension),
        }
    }

    fn is_outcome(event: &Self::Event) -> bool {
        match event {
            ExtendedEvent::Body(event) => M::is_outcome(event),
            ExtendedEvent::Extension(event) => X::is_outcome(event),
        }
    }
}

impl<M: MoveModel, X: MoveExtension> MoveDiagnostics<Self> for Extended<M, X> {
    delegate_to_body!(diagnostics: M);

    fn config_hash(config: &M::Config, world: &SystemParamItem<<Self as MoveModel>::World>) -> u32 {
        M::Diagnostics::config_hash(config, &world.0) ^ X::config_hash(&world.1).rotate_left(7)
    }
}

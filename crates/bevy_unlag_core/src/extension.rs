//! Predicted state beside a model's own: weapons and abilities that replay with the body.

use core::marker::PhantomData;

use bevy::{ecs::system::SystemParamItem, prelude::*};

use crate::{BitReader, BitWriter, MoveModel, PoseSample, Snapshot, StepContext, Tick, Wire, WireError};

/// What an extension may know of the body that it rides with, as the step begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BodyStep {
    /// Where the move looks: see [`MoveModel::look`].
    pub look: (u16, i16),
    /// How fast the body moves, in metres per second.
    pub velocity: Vec3,
    /// Whether it stands on something.
    pub grounded: bool,
}

impl BodyStep {
    /// Of a body in this state, in a move that looks straight ahead.
    #[must_use]
    pub fn of<M: MoveModel>(state: &M::State) -> Self {
        let grounded = M::snapshot(state, Tick::default()).grounded;
        Self { look: (0, 0), velocity: M::velocity(state), grounded }
    }
}

/// Predicted state that rides with a [`MoveModel`] and is stepped right after it.
pub trait MoveExtension: Send + Sync + Sized + 'static {
    /// The tuning, the same on both sides.
    type Config: Resource;
    /// What the player wants of the extension in one tick.
    type Input: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// All that is predicted.
    type State: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// What happened in a step.
    type Event: Clone + core::fmt::Debug + Send + Sync + 'static;

    /// The state after one step. Must be pure.
    fn step(
        config: &Self::Config,
        state: &Self::State,
        input: &Self::Input,
        body: &BodyStep,
        ctx: &StepContext,
        events: &mut Vec<Self::Event>,
    ) -> Self::State;

    /// A number that differs when states differ in anything discrete; see [`MoveModel::kind`].
    fn kind(state: &Self::State) -> u32;

    /// What is left of an input when nobody is at the controls; see [`MoveModel::unattended`]. Default: nothing.
    /// What an extension does, it does when somebody asks for it.
    #[must_use]
    fn unattended(last: &Self::Input) -> Self::Input {
        let _ = last;
        Self::Input::default()
    }

    /// See [`MoveModel::is_outcome`].
    #[must_use]
    fn is_outcome(event: &Self::Event) -> bool {
        let _ = event;
        false
    }

    /// See [`MoveModel::config_hash`].
    #[must_use]
    fn config_hash(config: &Self::Config) -> u32 {
        let _ = config;
        0
    }
}

/// The model `M` with the extension `X` beside it; itself a model, so extensions nest.
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

/// The input of an [`Extended`] model.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct ExtendedInput<B, X> {
    /// What the player wants of the body.
    pub body: B,
    /// What the player wants of the extension.
    pub extension: X,
}

/// The state of an [`Extended`] model.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
pub struct ExtendedState<B: Send + Sync + 'static, X: Send + Sync + 'static> {
    /// The body's state.
    pub body: B,
    /// The extension's state.
    pub extension: X,
}

/// An event of an [`Extended`] model.
#[derive(Clone, Debug)]
pub enum ExtendedEvent<B, X> {
    /// Of the body.
    Body(B),
    /// Of the extension.
    Extension(X),
}

impl<B: Wire, X: Wire> Wire for ExtendedInput<B, X> {
    fn write(&self, w: &mut BitWriter) {
        self.body.write(w);
        self.extension.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { body: B::read(r)?, extension: X::read(r)? })
    }

    fn write_delta(&self, base: &Self, w: &mut BitWriter) {
        self.body.write_delta(&base.body, w);
        self.extension.write_delta(&base.extension, w);
    }

    fn read_delta(base: &Self, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { body: B::read_delta(&base.body, r)?, extension: X::read_delta(&base.extension, r)? })
    }
}

impl<B, X> Wire for ExtendedState<B, X>
where
    B: Wire + Send + Sync + 'static,
    X: Wire + Send + Sync + 'static,
{
    fn write(&self, w: &mut BitWriter) {
        self.body.write(w);
        self.extension.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { body: B::read(r)?, extension: X::read(r)? })
    }
}

impl<M: MoveModel, X: MoveExtension> MoveModel for Extended<M, X> {
    type Config = M::Config;
    type Input = ExtendedInput<M::Input, X::Input>;
    type State = ExtendedState<M::State, X::State>;
    type Event = ExtendedEvent<M::Event, X::Event>;
    type Push = M::Push;
    type World = (M::World, Res<'static, X::Config>);

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
        ExtendedState { body, extension }
    }

    fn position(state: &Self::State) -> Vec3 {
        M::position(&state.body)
    }

    fn eye(config: &Self::Config, state: &Self::State) -> Vec3 {
        M::eye(config, &state.body)
    }

    fn look(input: &Self::Input) -> (u16, i16) {
        M::look(&input.body)
    }

    fn kind(state: &Self::State) -> u32 {
        // An odd factor keeps every bit and keeps the two apart.
        M::kind(&state.body) ^ X::kind(&state.extension).wrapping_mul(0x9e37_79b1)
    }

    fn snapshot(state: &Self::State, tick: Tick) -> Snapshot {
        M::snapshot(&state.body, tick)
    }

    fn velocity(state: &Self::State) -> Vec3 {
        M::velocity(&state.body)
    }

    fn base(state: &Self::State) -> u16 {
        M::base(&state.body)
    }

    fn turns_with_base(config: &Self::Config) -> bool {
        M::turns_with_base(config)
    }

    fn proxy_step(
        config: &Self::Config,
        pose: &PoseSample,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> PoseSample {
        M::proxy_step(config, pose, ctx, &world.0)
    }

    fn teleports(state: &Self::State) -> u8 {
        M::teleports(&state.body)
    }

    fn push(config: &Self::Config, state: &Self::State, push: &Self::Push) -> Self::State {
        ExtendedState { body: M::push(config, &state.body, push), ..*state }
    }

    fn unattended(last: &Self::Input, axes: bool) -> Self::Input {
        ExtendedInput { body: M::unattended(&last.body, axes), extension: X::unattended(&last.extension) }
    }

    fn combines(older: &Self::Input, newer: &Self::Input) -> bool {
        M::combines(&older.body, &newer.body) && older.extension == newer.extension
    }

    fn nudged(
        config: &Self::Config,
        state: &Self::State,
        by: Vec3,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> Option<Self::State> {
        Some(ExtendedState { body: M::nudged(config, &state.body, by, ctx, &world.0)?, ..*state })
    }

    fn is_outcome(event: &Self::Event) -> bool {
        match event {
            ExtendedEvent::Body(event) => M::is_outcome(event),
            ExtendedEvent::Extension(event) => X::is_outcome(event),
        }
    }

    fn meets_pawn(
        config: &Self::Config,
        state: &Self::State,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> bool {
        M::meets_pawn(config, &state.body, ctx, &world.0)
    }

    fn config_hash(config: &Self::Config, world: &SystemParamItem<Self::World>) -> u32 {
        M::config_hash(config, &world.0) ^ X::config_hash(&world.1).rotate_left(7)
    }

    fn surroundings_hash(
        config: &Self::Config,
        state: &Self::State,
        world: &SystemParamItem<Self::World>,
    ) -> u32 {
        M::surroundings_hash(config, &state.body, &world.0)
    }

    fn level_hash(world: &SystemParamItem<Self::World>) -> u32 {
        M::level_hash(&world.0)
    }

    fn outline(config: &Self::Config, state: &Self::State) -> (f32, f32) {
        M::outline(config, &state.body)
    }
}

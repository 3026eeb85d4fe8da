//! Custom moves of a game: state, input flags and modes in addition to the capsule's, without a fork.

use core::marker::PhantomData;

use bevy::{
    ecs::system::{ReadOnlySystemParam, SystemParamItem},
    prelude::*,
};
use bevy_unlag_core::{
    ExtendedEvent, ExtendedInput, ExtendedState, MoveDiagnostics, MoveModel, PawnClass, PoseSample, Snapshot,
    StepContext, Tick, TimeDilation, ViewFrame, Wire, delegate_to_body,
};

use crate::{
    ability_hooks::AbilityHooks, capsule_model::CapsuleModel, config::CapsuleConfig, event::MoveEvent,
    input::CapsuleInput, mover::Mover, server_queries::CapsulePush, state::CapsuleState, step::step,
    step_state::Limits, world::MoverWorld,
};

/// Custom move of a game, such as a dash, a teleport or a wall run. It is predicted, replayed and
/// validated like a jump. Corresponds to subclassing the movement component and its saved moves in
/// Unreal.
///
/// Everything that changes belongs in [`State`](Self::State), the player's requests in
/// [`Input`](Self::Input). All functions must be pure: they may read nothing but their arguments.
///
/// A tuple of two abilities, such as `(Dash, Teleport)`, is an ability as well, and tuples nest.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::Wire;
/// use bevy_unlag_movement::{CapsuleWith, MoveAbility, Mover};
///
/// /// A second jump in the air.
/// struct DoubleJump;
///
/// #[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
/// struct JumpState {
///     held: bool,
///     used: bool,
/// }
///
/// impl MoveAbility for DoubleJump {
///     type Param = ();
///     /// The body's own jump button is enough.
///     type Input = ();
///     type State = JumpState;
///     type Event = ();
///     type Cue = ();
///
///     fn begin(_: &(), state: &mut JumpState, _: &(), mover: &mut Mover<'_, '_, '_>, _: &mut Vec<()>) {
///         let jump = mover.input().jump;
///         if mover.state().is_grounded() {
///             state.used = false;
///         } else if jump && !state.held && !state.used {
///             state.used = true;
///             mover.set_velocity(mover.velocity().with_y(6.0));
///         }
///         state.held = jump;
///     }
///
///     fn kind(state: &JumpState) -> u32 {
///         u32::from(state.used)
///     }
/// }
///
/// /// The movement model.
/// type Jumper = CapsuleWith<DoubleJump>;
/// ```
///
/// In the book: *Abilities*, `book/src/reference/abilities.md`.
#[doc(alias = "FLAG_Custom_0")]
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait MoveAbility: Send + Sync + Sized + 'static {
    /// Tuning, such as `Res<'static, DashConfig>`; must be the same on client and server.
    type Param: ReadOnlySystemParam + 'static;
    /// Quantised input flags of one tick. They are sent with every move: keep them to a few bits.
    type Input: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// Timers, charges, directions: the complete predicted state of the ability.
    type State: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// Event of a step. It is a value, so that a replay can drop it.
    type Event: Clone + core::fmt::Debug + Send + Sync + 'static;
    /// Cue of an event for the screens of all players: see [`cue`](Self::cue). `()` for nothing.
    #[doc(alias = "GameplayCue")]
    type Cue: Wire + Clone + Send + Sync + 'static;

    /// Adds to an app what the ability needs, on clients and servers: usually the default tuning, unless the
    /// app has it already, and custom modes. The plugin groups call it. Default: nothing.
    fn build(_app: &mut App) {}

    /// Filters the body's input before anything else runs: a stun clears the axes, a slide holds the
    /// crouch button.
    fn body_input(
        _param: &SystemParamItem<Self::Param>,
        _state: &Self::State,
        _input: &Self::Input,
        body: CapsuleInput,
    ) -> CapsuleInput {
        body
    }

    /// Runs before the body moves. May change velocity and mode, and teleport.
    fn begin(
        _param: &SystemParamItem<Self::Param>,
        _state: &mut Self::State,
        _input: &Self::Input,
        _mover: &mut Mover<'_, '_, '_>,
        _events: &mut Vec<Self::Event>,
    ) {
    }

    /// Moves the pawn for `seconds` while it is in a custom mode with
    /// [`ModePhysics::Ability`](crate::ModePhysics::Ability). Check [`Mover::mode`]: the mode may belong
    /// to another ability.
    fn custom(
        _param: &SystemParamItem<Self::Param>,
        _state: &mut Self::State,
        _input: &Self::Input,
        _mover: &mut Mover<'_, '_, '_>,
        _seconds: f32,
        _events: &mut Vec<Self::Event>,
    ) {
    }

    /// Runs after the body has moved, for timers and the like.
    fn end(
        _param: &SystemParamItem<Self::Param>,
        _state: &mut Self::State,
        _input: &Self::Input,
        _mover: &mut Mover<'_, '_, '_>,
        _events: &mut Vec<Self::Event>,
    ) {
    }

    /// Returns the top speed in metres per second; `usual` is the value without the ability.
    fn max_speed(
        _param: &SystemParamItem<Self::Param>,
        _state: &Self::State,
        _mover: &Mover<'_, '_, '_>,
        usual: f32,
    ) -> f32 {
        usual
    }

    /// Returns the acceleration in metres per second squared; `usual` is the value without the ability.
    fn max_acceleration(
        _param: &SystemParamItem<Self::Param>,
        _state: &Self::State,
        _mover: &Mover<'_, '_, '_>,
        usual: f32,
    ) -> f32 {
        usual
    }

    /// Returns a number that differs between states that differ in anything discrete; see
    /// [`MoveModel::kind`].
    fn kind(state: &Self::State) -> u32;

    /// Returns whether the server reports to the owner if this event happened in the server's
    /// simulation, too. See [`MoveModel::is_outcome`]. Default: false for every event.
    #[must_use]
    fn is_outcome(event: &Self::Event) -> bool {
        false
    }

    /// Returns the cue that all players see or hear of an event. The plugin groups share it: it is written once on
    /// every machine, at the moment that its screen shows, as `PawnEvent<Cue>` of the network integration. Costs five
    /// bytes and the cue for each client that sees the pawn. Default: nothing.
    #[must_use]
    fn cue(event: &Self::Event) -> Option<Self::Cue> {
        None
    }

    /// Returns a hash of the tuning in [`Param`](Self::Param); see [`MoveDiagnostics::config_hash`]. Default
    /// 0.
    #[must_use]
    fn config_hash(param: &SystemParamItem<Self::Param>) -> u32 {
        0
    }
}

/// Capsule model with the ability `A`.
#[derive(TypePath)]
pub struct CapsuleWith<A>(PhantomData<fn() -> A>);

impl<A> core::fmt::Debug for CapsuleWith<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("CapsuleWith")
    }
}

impl<A> Clone for CapsuleWith<A> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<A: MoveAbility> MoveModel for CapsuleWith<A> {
    type Config = CapsuleConfig;
    type Input = ExtendedInput<CapsuleInput, A::Input>;
    type State = ExtendedState<CapsuleState, A::State>;
    type Event = ExtendedEvent<MoveEvent, A::Event>;
    type Push = CapsulePush;
    type World = (MoverWorld<'static, 'static>, A::Param);
    type Diagnostics = Self;

    fn step(
        config: &CapsuleConfig,
        state: &Self::State,
        input: &Self::Input,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
        events: &mut Vec<Self::Event>,
    ) -> Self::State {
        let mut of_body = Vec::new();
        let mut hooks = Ability::<A> {
            param: &world.1,
            state: state.extension,
            input: &input.extension,
            events: Vec::new(),
        };
        let body = step(config, &state.body, &input.body, ctx, &world.0, &mut hooks, &mut of_body);
        events.extend(of_body.into_iter().map(ExtendedEvent::Body));
        events.extend(hooks.events.into_iter().map(ExtendedEvent::Extension));
        ExtendedState { body, extension: hooks.state }
    }

    delegate_to_body!(model: CapsuleModel);

    fn push(config: &CapsuleConfig, state: &Self::State, push: &CapsulePush) -> Self::State {
        ExtendedState { body: CapsuleModel::push(config, &state.body, push), ..*state }
    }

    fn kind(state: &Self::State) -> u32 {
        // The odd factor keeps all bits and prevents equal values from cancelling out.
        CapsuleModel::kind(&state.body) ^ A::kind(&state.extension).wrapping_mul(0xcc9e_2d51)
    }

    fn missing_input(last: &Self::Input, axes: bool) -> Self::Input {
        ExtendedInput { body: CapsuleModel::missing_input(&last.body, axes), extension: A::Input::default() }
    }

    fn is_outcome(event: &Self::Event) -> bool {
        matches!(event, ExtendedEvent::Extension(event) if A::is_outcome(event))
    }
}

impl<A: MoveAbility> MoveDiagnostics<Self> for CapsuleWith<A> {
    delegate_to_body!(diagnostics: CapsuleModel);

    fn config_hash(config: &CapsuleConfig, world: &SystemParamItem<<Self as MoveModel>::World>) -> u32 {
        CapsuleModel::config_hash(config, &world.0) ^ A::config_hash(&world.1).rotate_left(11)
    }
}

struct Ability<'a, 'w, 's, A: MoveAbility> {
    param: &'a SystemParamItem<'w, 's, A::Param>,
    state: A::State,
    input: &'a A::Input,
    events: Vec<A::Event>,
}

impl<A: MoveAbility> AbilityHooks for Ability<'_, '_, '_, A> {
    fn body_input(&self, body: CapsuleInput) -> CapsuleInput {
        A::body_input(self.param, &self.state, self.input, body)
    }

    fn begin(&mut self, mover: &mut Mover<'_, '_, '_>) {
        A::begin(self.param, &mut self.state, self.input, mover, &mut self.events);
    }

    fn custom(&mut self, mover: &mut Mover<'_, '_, '_>, seconds: f32) {
        A::custom(self.param, &mut self.state, self.input, mover, seconds, &mut self.events);
    }

    fn end(&mut self, mover: &mut Mover<'_, '_, '_>) {
        A::end(self.param, &mut self.state, self.input, mover, &mut self.events);
    }

    fn limits(&self, mover: &Mover<'_, '_, '_>, usual: Limits) -> Limits {
        let sound = |value: f32, usual: f32| if value.is_finite() { value.max(0.0) } else { usual };
        let speed = A::max_speed(self.param, &self.state, mover, usual.speed);
        let acceleration = A::max_acceleration(self.param, &self.state, mover, usual.acceleration);
        Limits { speed: sound(speed, usual.speed), acceleration: sound(acceleration, usual.acceleration) }
    }
}

/// Inputs or states of two combined abilities.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
pub struct AbilityPair<A, B> {
    /// Part of the first ability.
    pub first: A,
    /// Part of the second ability.
    pub second: B,
}

/// Event or cue of one of two combined abilities.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub enum AbilityEvent<A, B> {
    /// Event of the first ability.
    First(A),
    /// Event of the second ability.
    Second(B),
}

/// Calls a hook of both abilities of a pair and wraps their events.
macro_rules! both {
    ($param:ident, $state:ident, $input:ident, $events:ident, $A:ident :: $call:ident, $B:ident, ($($arg:expr),*)) => {{
        let mut of_first = Vec::new();
        $A::$call(&$param.0, &mut $state.first, &$input.first, $($arg,)* &mut of_first);
        $events.extend(of_first.into_iter().map(AbilityEvent::First));
        let mut of_second = Vec::new();
        $B::$call(&$param.1, &mut $state.second, &$input.second, $($arg,)* &mut of_second);
        $events.extend(of_second.into_iter().map(AbilityEvent::Second));
    }};
}

impl<A: MoveAbility, B: MoveAbility> MoveAbility for (A, B) {
    type Param = (A::Param, B::Param);
    type Input = AbilityPair<A::Input, B::Input>;
    type State = AbilityPair<A::State, B::State>;
    type Event = AbilityEvent<A::Event, B::Event>;
    type Cue = AbilityEvent<A::Cue, B::Cue>;

    fn build(app: &mut App) {
        A::build(app);
        B::build(app);
    }

    fn body_input(
        param: &SystemParamItem<Self::Param>,
        state: &Self::State,
        input: &Self::Input,
        body: CapsuleInput,
    ) -> CapsuleInput {
        let body = A::body_input(&param.0, &state.first, &input.first, body);
        B::body_input(&param.1, &state.second, &input.second, body)
    }

    fn begin(
        param: &SystemParamItem<Self::Param>,
        state: &mut Self::State,
        input: &Self::Input,
        mover: &mut Mover<'_, '_, '_>,
        events: &mut Vec<Self::Event>,
    ) {
        both!(param, state, input, events, A::begin, B, (mover));
    }

    fn custom(
        param: &SystemParamItem<Self::Param>,
        state: &mut Self::State,
        input: &Self::Input,
        mover: &mut Mover<'_, '_, '_>,
        seconds: f32,
        events: &mut Vec<Self::Event>,
    ) {
        both!(param, state, input, events, A::custom, B, (mover, seconds));
    }

    fn end(
        param: &SystemParamItem<Self::Param>,
        state: &mut Self::State,
        input: &Self::Input,
        mover: &mut Mover<'_, '_, '_>,
        events: &mut Vec<Self::Event>,
    ) {
        both!(param, state, input, events, A::end, B, (mover));
    }

    fn max_speed(
        param: &SystemParamItem<Self::Param>,
        state: &Self::State,
        mover: &Mover<'_, '_, '_>,
        usual: f32,
    ) -> f32 {
        B::max_speed(&param.1, &state.second, mover, A::max_speed(&param.0, &state.first, mover, usual))
    }

    fn max_acceleration(
        param: &SystemParamItem<Self::Param>,
        state: &Self::State,
        mover: &Mover<'_, '_, '_>,
        usual: f32,
    ) -> f32 {
        let first = A::max_acceleration(&param.0, &state.first, mover, usual);
        B::max_acceleration(&param.1, &state.second, mover, first)
    }

    fn kind(state: &Self::State) -> u32 {
        // Different factors keep nested pairs from cancelling out.
        A::kind(&state.first).wrapping_mul(0x2545_f491).rotate_left(13)
            ^ B::kind(&state.second).wrapping_mul(0x1b87_3593)
    }

    fn is_outcome(event: &Self::Event) -> bool {
        match event {
            AbilityEvent::First(event) => A::is_outcome(event),
            AbilityEvent::Second(event) => B::is_outcome(event),
        }
    }

    fn cue(event: &Self::Event) -> Option<Self::Cue> {
        match event {
            AbilityEvent::First(event) => A::cue(event).map(AbilityEvent::First),
            AbilityEvent::Second(event) => B::cue(event).map(AbilityEvent::Second),
        }
    }

    fn config_hash(param: &SystemParamItem<Self::Param>) -> u32 {
        A::config_hash(&param.0) ^ B::config_hash(&param.1).rotate_left(5)
    }
}

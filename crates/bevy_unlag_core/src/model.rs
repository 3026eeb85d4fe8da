//! Movement models: one pure, predicted simulation step.

use bevy::{
    ecs::{
        component::Mutable,
        system::{ReadOnlySystemParam, SystemParamItem},
    },
    prelude::*,
};

use crate::{
    pawn_class::PawnClass, pose_sample::PoseSample, snapshot::Snapshot, tick::Tick,
    time_dilation::TimeDilation, view_frame::ViewFrame, wire::Wire,
};

/// Context of a simulation step, besides its state and input.
#[derive(Clone, Copy, Debug)]
pub struct StepContext {
    /// Tick of the move. It is sent with the move, so that any function of the tick, such as the pose of a
    /// lift, has the same result on the client, in its replay and on the server.
    pub tick: Tick,
    /// Seconds that the step covers: one fixed tick, or less for the temporary step that draws the own pawn
    /// between ticks.
    pub dt: f32,
    /// The pawn, so that a world query can exclude its own collider.
    pub entity: Entity,
    /// Whether this step repeats a move or its result is discarded: a replay after a correction, the step
    /// that draws the own pawn between ticks, a speculative copy. Its events are dropped, and a step with
    /// visible side effects must skip them. The movement itself must not depend on it. Unreal's
    /// `bReplayingMoves`.
    #[doc(alias = "bReplayingMoves")]
    #[doc(alias = "is_replaying")]
    pub replaying: bool,
}

/// Deterministic movement that gives the same result on the owner's client, in the client's replay and on
/// the server. Unreal's `PerformMovement`, Quake's `Pmove`.
///
/// All predicted data is in [`State`](Self::State). A step that reads anything but its arguments causes
/// mispredictions.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{MoveModel, StepContext, Tick, Wire};
///
/// /// A raft: its config is its speed, in metres per second.
/// #[derive(Resource)]
/// struct Raft(f32);
///
/// /// Both sides simulate what arrives: eight bits for each axis.
/// #[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
/// struct Oars {
///     #[wire(range = -1.0..=1.0, bits = 8)]
///     stick: Vec2,
/// }
///
/// /// All that is predicted. The floats of a state are not rounded.
/// #[derive(Component, Wire, Clone, Copy, PartialEq, Default, Debug)]
/// struct RaftState {
///     position: Vec3,
///     velocity: Vec3,
/// }
///
/// impl MoveModel for Raft {
///     type Config = Self;
///     type Input = Oars;
///     type State = RaftState;
///     type Event = ();
///     type Push = ();
///     type World = ();
///     type Diagnostics = ();
///
///     fn step(
///         raft: &Self,
///         state: &RaftState,
///         oars: &Oars,
///         ctx: &StepContext,
///         (): &(),
///         _: &mut Vec<()>,
///     ) -> RaftState {
///         let velocity = Vec3::new(oars.stick.x, 0.0, -oars.stick.y) * raft.0;
///         RaftState { position: state.position + velocity * ctx.dt, velocity }
///     }
///
///     fn position(state: &RaftState) -> Vec3 {
///         state.position
///     }
///
///     fn velocity(state: &RaftState) -> Vec3 {
///         state.velocity
///     }
///
///     /// Nothing is discrete.
///     fn kind(_: &RaftState) -> u32 {
///         0
///     }
/// }
///
/// let ctx = StepContext { tick: Tick(7), dt: 0.5, entity: Entity::PLACEHOLDER, replaying: false };
/// let forward = Oars { stick: Vec2::Y };
/// let state = Raft::step(&Raft(3.0), &RaftState::default(), &forward, &ctx, &(), &mut Vec::new());
/// assert_eq!(state.position, Vec3::new(0.0, 0.0, -1.5));
/// ```
///
/// In the book: *Models of your own*, `book/src/reference/own_models.md`.
#[doc(alias = "UCharacterMovementComponent")]
#[doc(alias = "PerformMovement")]
#[doc(alias = "Pmove")]
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait MoveModel: Send + Sync + Sized + 'static {
    /// Tuning, the same on client and server.
    type Config: Resource;
    /// Player input of one tick. Prediction simulates its [`quantised`](Wire::quantised) form, which is what
    /// the server reads.
    #[doc(alias = "CUserCmd")]
    type Input: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// All predicted state. A correction sends it unchanged.
    type State: Component<Mutability = Mutable> + Wire + Copy + PartialEq + core::fmt::Debug;
    /// Event of a step. It is a value, so that a replay can suppress it.
    type Event: Clone + core::fmt::Debug + Send + Sync + 'static;
    /// Change that the server applies to a pawn at a tick of its owner, so that client and server apply it
    /// in the same move: a knock-back, a launch. `()` for none.
    type Push: Wire + Copy + PartialEq + core::fmt::Debug + Send + Sync + 'static;
    /// The part of the world that a step may read.
    type World: ReadOnlySystemParam + 'static;
    /// Hashes and outlines for diagnostics; `()` for none.
    type Diagnostics: MoveDiagnostics<Self>;

    /// Returns the state after one step. Must be pure: equal arguments must give equal bits.
    fn step(
        config: &Self::Config,
        state: &Self::State,
        input: &Self::Input,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
        events: &mut Vec<Self::Event>,
    ) -> Self::State;

    /// Returns the position of the pawn's root, in metres.
    fn position(state: &Self::State) -> Vec3;

    /// Returns the velocity in the world at the end of the step, in metres per second: one that is one tick
    /// old bends the curves on other clients and more than doubles their error.
    fn velocity(state: &Self::State) -> Vec3;

    /// Returns the rate of the pawn's own time in this state. [`step`](Self::step) must advance the state by
    /// `ctx.dt` times this rate, and [`velocity`](Self::velocity) is in seconds of the world. Extensions such as
    /// weapons follow it. Default: the world's own time, for models without another one.
    #[doc(alias = "CustomTimeDilation")]
    #[must_use]
    fn time_dilation(state: &Self::State) -> TimeDilation {
        TimeDilation::NORMAL
    }

    /// Returns a number that differs when states differ in any discrete quantity: mode, stance, rounds
    /// fired; 0 if there is none. The owner's client sends it with the result of its move, so that the
    /// server detects a difference that the distance does not show.
    fn kind(state: &Self::State) -> u32;

    /// Returns the replicated form of this state, in the world. Default: alive and upright, with
    /// [`position`](Self::position), [`velocity`](Self::velocity) and [`teleports`](Self::teleports), and
    /// without a heading.
    ///
    /// Set `spin` for a heading that turns evenly; leave it out for a player's view.
    #[must_use]
    fn snapshot(state: &Self::State, tick: Tick) -> Snapshot {
        let teleports = Self::teleports(state);
        Snapshot { teleports, ..Snapshot::new(tick, Self::position(state), Self::velocity(state)) }
    }

    /// Returns the movement base that the pawn stands on, 0 for the world. Other clients draw the pawn
    /// relative to it; otherwise a passenger would slide, because bases are drawn at another moment than
    /// pawns.
    #[must_use]
    fn base(state: &Self::State) -> u16 {
        0
    }

    /// Returns whether the view of a pawn turns with the base that it stands on. Default: it does not.
    #[must_use]
    fn turns_with_base(config: &Self::Config) -> bool {
        false
    }

    /// Simulates a remote pawn of a class for `ctx.dt` from its replicated pose, for
    /// [`ProxySmoothing::Simulate`](crate::ProxySmoothing::Simulate). It has no input and must be much
    /// cheaper than [`step`](Self::step). Default: extrapolation without collision.
    #[doc(alias = "MoveSmooth")]
    #[must_use]
    fn proxy_step(
        config: &Self::Config,
        class: PawnClass,
        pose: &PoseSample,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> PoseSample {
        pose.extrapolated(ctx.dt)
    }

    /// Returns the position of the eye, in metres. Default: that of the root.
    #[must_use]
    fn eye(config: &Self::Config, state: &Self::State) -> Vec3 {
        Self::position(state)
    }

    /// Returns the heading and pitch of an input in 1/65,536 of a turn, with the axes of
    /// [`look_direction`](crate::look_direction) in the [`view_frame`](Self::view_frame). Default: straight
    /// ahead.
    #[must_use]
    fn look(input: &Self::Input) -> (u16, i16) {
        (0, 0)
    }

    /// Returns the frame in which the next move's [`look`](Self::look) is measured. Default: the up direction of
    /// the [`snapshot`](Self::snapshot), which is rounded to 1°, without a turn.
    #[must_use]
    fn view_frame(state: &Self::State) -> ViewFrame {
        ViewFrame { up: Self::snapshot(state, Tick::default()).up.direction(), turn: 0 }
    }

    /// Returns a counter that changes with each teleport. A correction across a teleport is not an error and
    /// is not smoothed. Only the lowest four bits count. Default 0: no teleports.
    #[must_use]
    fn teleports(state: &Self::State) -> u8 {
        0
    }

    /// Returns the state after a push, right before the step of the tick in which it is due. Must be pure.
    /// Default: the same state, for models whose [`Push`](Self::Push) is `()`; it does not compile for
    /// others.
    #[must_use]
    fn push(config: &Self::Config, state: &Self::State, push: &Self::Push) -> Self::State {
        const { assert!(size_of::<Self::Push>() == 0, "a model with a type `Push` needs a function `push`") };
        *state
    }

    /// Returns the replacement for missing input: a lost move, a silent client, a stalled app. `axes`:
    /// whether the pawn keeps walking. Action buttons such as fire must never be repeated. Default: neutral
    /// input.
    #[must_use]
    fn missing_input(last: &Self::Input, axes: bool) -> Self::Input {
        Self::Input::default()
    }

    /// Returns the state after a change of control, before the first move of the new player, with the remembered
    /// input of the previous player cleared, such as the direction of its look. Must be pure, and have no
    /// effect on a state that it has returned: a player that learns late of its control begins with neutral
    /// moves, each of which it follows. Default: the same state.
    #[must_use]
    fn change_control(state: &Self::State) -> Self::State {
        *state
    }

    /// Returns whether two consecutive inputs differ in nothing important, so that the newer one may wait
    /// for the next packet. Unreal's `CanCombineWith`. Default: whether they are equal.
    #[doc(alias = "CanCombineWith")]
    #[must_use]
    fn can_combine_with(older: &Self::Input, newer: &Self::Input) -> bool {
        older == newer
    }

    /// Returns the state moved by a few centimetres if nothing is in the way, for a server that accepts its
    /// client's end position. Default: `None`.
    #[doc(alias = "bServerAcceptClientAuthoritativePosition")]
    #[must_use]
    fn try_nudge(
        config: &Self::Config,
        state: &Self::State,
        by: Vec3,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> Option<Self::State> {
        None
    }

    /// Returns whether the server reports to the owner if this event also occurred in its own step of the
    /// move, such as an ability that it may refuse. Default: no event is reported.
    #[must_use]
    fn is_outcome(event: &Self::Event) -> bool {
        false
    }
}

/// Hashes and outlines of the model `M` for diagnostics. They name the cause of a correction or of a refused setup and
/// shape debug views; no move depends on them.
///
/// A model names its implementation as [`MoveModel::Diagnostics`]: `()` for the defaults, or a type that
/// overrides some of them, such as the model itself.
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait MoveDiagnostics<M: MoveModel> {
    /// Returns whether another pawn is so close that client and server may see it on different sides.
    /// Evaluated when client and server disagree. Default: `false`.
    #[must_use]
    fn is_near_pawn(
        config: &M::Config,
        state: &M::State,
        ctx: &StepContext,
        world: &SystemParamItem<M::World>,
    ) -> bool {
        false
    }

    /// Returns a hash of the configuration. Client and server compare it, so that a different tuning is
    /// reported as such. Default 0: no comparison.
    #[must_use]
    fn config_hash(config: &M::Config, world: &SystemParamItem<M::World>) -> u32 {
        0
    }

    /// Returns a hash of the static world around a pawn. Client and server compare it when they disagree
    /// about a move. Default 0: no comparison.
    #[must_use]
    fn surroundings_hash(config: &M::Config, state: &M::State, world: &SystemParamItem<M::World>) -> u32 {
        0
    }

    /// Returns a hash of the level, compared when the own pawn first moves. Default 0: no comparison.
    #[must_use]
    fn level_hash(world: &SystemParamItem<M::World>) -> u32 {
        0
    }

    /// Returns radius and half height, in metres, of a capsule about as large as the pawn and standing at
    /// its position, for debug views. Default: 0.34 and 0.88.
    #[must_use]
    fn outline(config: &M::Config, state: &M::State) -> (f32, f32) {
        (0.34, 0.88)
    }
}

impl<M: MoveModel> MoveDiagnostics<M> for () {}

/// State of a player's pawn that the server publishes to other clients: the real state, or a speculative
/// copy while the owner's moves are late. Authoritative decisions never use it but [`MoveModel::State`].
#[derive(Component, Clone, Copy, Debug, Reflect)]
#[reflect(Component)]
pub struct PublishedState<M: MoveModel> {
    /// Server tick to which the owner's move is assigned.
    pub tick: Tick,
    /// Owner's tick of the move that led to the state: the moment of the movement bases in it.
    pub move_tick: Tick,
    /// The published state.
    pub state: M::State,
}

/// States that a pawn published before its [`PublishedState`] of this tick: those of late moves that ran together, each
/// with the tick to which it belongs, oldest first. Without them the published path would skip what happened between.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component)]
pub struct CaughtUpStates<M: MoveModel>(pub Vec<PublishedState<M>>);

impl<M: MoveModel> Default for CaughtUpStates<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Event of a step that counts: sent on the owner's client when a move is first simulated, and on the server
/// when it runs the move. A replay sends none.
#[derive(Message, Clone, Debug, Reflect)]
#[reflect(Message)]
pub struct StepEvent<M: MoveModel> {
    /// The pawn.
    pub entity: Entity,
    /// Tick of the move, on the owner's count.
    pub tick: Tick,
    /// State after the step. Several moves may run within one tick of this app.
    pub state: M::State,
    /// Number of this app's ticks for which the move was queued after its arrival; 0 on the owner's client.
    pub queued_ticks: u32,
    /// On the server: the newest snapshot message that the owner had received when it wrote the packet that
    /// first brought this move. If that packet was lost and the move arrived in a later one, it is the value
    /// of the later packet: slightly newer than what the owner had received at this move, never older.
    /// `None` if the owner had received no message, and on the owner's client.
    pub last_received_snapshot: Option<Tick>,
    /// The event.
    pub event: M::Event,
}

/// Current input of the pawn that this app controls. Games write it in
/// [`MoveSystems::Sample`](crate::MoveSystems::Sample) for the tick that is about to run. If they also write
/// it in every frame, the drawn pawn reacts before the next tick.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{LocalControl, MoveInput, MoveModel, MoveSystems, Wire};
///
/// #[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
/// struct Oars {
///     stick: Vec2,
/// }
///
/// /// Rows straight ahead, with any model that has this input.
/// fn row<M: MoveModel<Input = Oars>>(mut own: Query<&mut MoveInput<M>, With<LocalControl>>) {
///     for mut input in &mut own {
///         input.0.stick = Vec2::Y;
///     }
/// }
///
/// fn add_controls<M: MoveModel<Input = Oars>>(app: &mut App) {
///     app.add_systems(FixedUpdate, row::<M>.in_set(MoveSystems::Sample));
/// }
/// ```
#[doc(alias = "CUserCmd")]
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component)]
pub struct MoveInput<M: MoveModel>(pub M::Input);

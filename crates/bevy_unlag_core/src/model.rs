//! One pure step of something that is predicted.

use bevy::{
    ecs::{
        component::Mutable,
        system::{ReadOnlySystemParam, SystemParamItem},
    },
    prelude::*,
};

use crate::{PoseSample, Snapshot, Tick, Wire};

/// What a step may know besides its state and its input.
#[derive(Clone, Copy, Debug)]
pub struct StepContext {
    /// The tick of the move. It travels with the move, so that anything that is a function of the
    /// tick, such as a lift's pose, is the same for the client, its replay and the server.
    pub tick: Tick,
    /// Seconds that the step covers: one fixed tick, or less for the throw-away step that draws
    /// the own pawn between ticks.
    pub dt: f32,
    /// The pawn, so that a world query can leave out its own collider.
    pub entity: Entity,
    /// Whether this step repeats a move or is thrown away: a replay after a correction, the step
    /// that draws the own pawn between ticks, a speculative copy. Its events are dropped, and a step
    /// that does anything visible by itself must not do it. Never a reason to move differently.
    /// Unreal's `bReplayingMoves`.
    #[doc(alias = "is_replaying")]
    pub replaying: bool,
}

/// Something that moves the same way on the owner's client, in the client's replay and on the
/// server. Unreal's `PerformMovement`, Quake's `Pmove`.
///
/// Everything that is predicted lives in [`State`](Self::State). A step that reads anything else
/// but its arguments is a misprediction.
pub trait MoveModel: Send + Sync + Sized + 'static {
    /// The tuning, the same on both sides.
    type Config: Resource;
    /// One tick of what the player wants, already quantised: what is simulated is what is sent.
    type Input: Wire + Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static;
    /// All that is predicted. It travels as it is in a correction.
    type State: Component<Mutability = Mutable> + Wire + Copy + PartialEq + core::fmt::Debug;
    /// What happened in a step, as a value, so that a replay can mute it.
    type Event: Clone + core::fmt::Debug + Send + Sync + 'static;
    /// What the server does to a pawn at a tick of its owner's, so that both do it in the same
    /// move: a knock-back, a launch. `()` for none.
    type Push: Wire + Copy + PartialEq + core::fmt::Debug + Send + Sync + 'static;
    /// The part of the world that a step may look at.
    type World: ReadOnlySystemParam + 'static;

    /// The state after one step. Must be pure: equal arguments give equal bits.
    fn step(
        config: &Self::Config,
        state: &Self::State,
        input: &Self::Input,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
        events: &mut Vec<Self::Event>,
    ) -> Self::State;

    /// Where the pawn's root is, in metres.
    fn position(state: &Self::State) -> Vec3;

    /// How fast it moves in the world, in metres per second. Default: what its snapshot says, which is
    /// rounded.
    #[must_use]
    fn velocity(state: &Self::State) -> Vec3 {
        Self::snapshot(state, Tick::default()).velocity()
    }

    /// What everyone but the owner learns of this state, in the world. Its velocity must be that at the end
    /// of the step, or every curve that others draw is bent: a velocity that is one tick old more than
    /// doubles their error. `spin` turns a heading evenly; leave it out for a view.
    fn snapshot(state: &Self::State, tick: Tick) -> Snapshot;

    /// The movement base that it stands on, 0 for the world. Others draw it relative to that, or a
    /// passenger would slide on a lift that everyone draws at another moment than passengers.
    #[must_use]
    fn base(state: &Self::State) -> u16 {
        let _ = state;
        0
    }

    /// Whether the view of a pawn turns with the base that it stands on. Default: it does not.
    #[must_use]
    fn turns_with_base(config: &Self::Config) -> bool {
        let _ = config;
        false
    }

    /// Carries a pawn of somebody else on for `ctx.dt`, from what was sent of it: for
    /// [`ProxySmoothing::Simulate`](crate::ProxySmoothing::Simulate). Much cheaper than
    /// [`step`](Self::step) and without input. Default: straight on, through walls.
    #[doc(alias = "MoveSmooth")]
    #[must_use]
    fn proxy_step(
        config: &Self::Config,
        pose: &PoseSample,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> PoseSample {
        let _ = (config, world);
        pose.carried_on(ctx.dt)
    }

    /// Where it looks from, in metres.
    fn eye(config: &Self::Config, state: &Self::State) -> Vec3;

    /// Where an input looks: its heading and its elevation in 1/65,536 of a turn, as
    /// [`look_direction`](crate::look_direction) has them. Default: straight ahead.
    #[must_use]
    fn look(input: &Self::Input) -> (u16, i16) {
        let _ = input;
        (0, 0)
    }

    /// A number that differs when states differ in anything but continuous quantities: mode,
    /// stance, rounds fired. The owner's client sends it with its result, so that the server sees
    /// a difference that no distance shows.
    fn kind(state: &Self::State) -> u32;

    /// A number that changes whenever the pawn is put somewhere else: a correction across such a
    /// change is not an error and is not smoothed. Only the lowest four bits count.
    fn teleports(state: &Self::State) -> u8;

    /// The state after a push, right before the step of the tick that it is due in. Must be pure.
    fn push(config: &Self::Config, state: &Self::State, push: &Self::Push) -> Self::State;

    /// What is left of an input when nobody is at the controls: a lost move, a silent client, a
    /// stalled app. `axes` says whether the pawn goes on walking; buttons that act, such as fire,
    /// are never carried on. Default: nothing is left.
    #[must_use]
    fn unattended(last: &Self::Input, axes: bool) -> Self::Input {
        let _ = (last, axes);
        Self::Input::default()
    }

    /// Whether nothing that matters differs between two inputs in a row, so that the newer one may
    /// wait for the next packet. Unreal's `CanCombineWith`. Default: they are equal.
    #[must_use]
    fn combines(older: &Self::Input, newer: &Self::Input) -> bool {
        older == newer
    }

    /// The state moved by a few centimetres, when nothing is in the way: for a server that accepts
    /// its client's end position. Default: never.
    #[must_use]
    fn nudged(
        config: &Self::Config,
        state: &Self::State,
        by: Vec3,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> Option<Self::State> {
        let _ = (config, state, by, ctx, world);
        None
    }

    /// Whether the owner is to learn if the server had this event in the same move, such as an
    /// ability that may be refused. Default: no event is.
    #[must_use]
    fn is_outcome(event: &Self::Event) -> bool {
        let _ = event;
        false
    }

    /// Whether another pawn is so close that client and server may well see different sides of it.
    /// Asked when they disagree. Default: none is.
    #[must_use]
    fn meets_pawn(
        config: &Self::Config,
        state: &Self::State,
        ctx: &StepContext,
        world: &SystemParamItem<Self::World>,
    ) -> bool {
        let _ = (config, state, ctx, world);
        false
    }

    /// A number that differs when configurations do. Client and server compare it, so that a wrong
    /// tuning has a name. Default 0: nothing is compared.
    #[must_use]
    fn config_hash(config: &Self::Config, world: &SystemParamItem<Self::World>) -> u32 {
        let _ = (config, world);
        0
    }

    /// A number that differs when the fixed world around a pawn does. Compared when client and
    /// server disagree about a move. Default 0: nothing is compared.
    #[must_use]
    fn surroundings_hash(
        config: &Self::Config,
        state: &Self::State,
        world: &SystemParamItem<Self::World>,
    ) -> u32 {
        let _ = (config, state, world);
        0
    }

    /// A number that differs when levels do, compared when a client joins. Default 0: nothing is
    /// compared.
    #[must_use]
    fn level_hash(world: &SystemParamItem<Self::World>) -> u32 {
        let _ = world;
        0
    }

    /// Radius and half height, in metres, of a capsule about as large as the pawn, standing at its
    /// position: for debug views. Default: 0.34 and 0.88.
    #[must_use]
    fn outline(config: &Self::Config, state: &Self::State) -> (f32, f32) {
        let _ = (config, state);
        (0.34, 0.88)
    }
}

/// What others are to see of a pawn that somebody else steers: its state, or while its moves are
/// late a speculative copy of it, and the moment that it belongs to on the owner's time line. What
/// the server decides about is never this but [`MoveModel::State`].
#[derive(Component, Clone, Copy, Debug)]
pub struct Shown<M: MoveModel> {
    /// The server's tick that the owner's move falls on.
    pub tick: Tick,
    /// The owner's tick of the move that led to the state: the moment of the movement bases in it.
    pub moved: Tick,
    /// The state.
    pub state: M::State,
}

/// Something happened in a step that counts: on the owner's client the first time a move is
/// simulated, on the server when it is. A replay writes none.
#[derive(Message, Clone, Debug)]
pub struct StepEvent<M: MoveModel> {
    /// The pawn.
    pub entity: Entity,
    /// The tick of the move, the owner's count.
    pub tick: Tick,
    /// The state that the step led to. Several moves may be run in one of this app's ticks.
    pub state: M::State,
    /// How many of this app's ticks the move had waited here since it arrived; 0 on the owner's
    /// client.
    pub waited: u32,
    /// On the server: the newest snapshot message that the owner had heard of when it wrote the packet
    /// that first brought the move here. What comes again because that packet was lost says what its own
    /// packet says: a little more than the owner knew in this move, never less. `None` when it had heard of
    /// none, and on the owner's client.
    pub heard: Option<Tick>,
    /// What happened.
    pub event: M::Event,
}

/// The input of the pawn that this app steers: what the player wants right now. Games write it in
/// [`MoveSystems::Sample`] for the tick that is about to run and, for a picture that does not wait
/// for the next tick, in every frame.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct MoveInput<M: MoveModel>(pub M::Input);

/// When moves are made, in [`FixedUpdate`].
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MoveSystems {
    /// Answers of the server are taken in and unanswered moves made again.
    Answer,
    /// Empty: games write [`MoveInput`] here.
    Sample,
    /// Extensions, such as a weapon, add their part to [`MoveInput`].
    Extend,
    /// The own pawn takes a step; the server runs what arrived.
    Step,
    /// Empty but for what reads a step's [`StepEvent`]s at once.
    React,
    /// In [`FixedPostUpdate`](bevy::app::FixedPostUpdate): [`Shown`] is brought up to date.
    Show,
}

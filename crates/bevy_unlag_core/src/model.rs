//! One pure step of something that is predicted.

use bevy::{
    ecs::{
        component::Mutable,
        system::{ReadOnlySystemParam, SystemParamItem},
    },
    prelude::*,
};

use crate::{Snapshot, Tick, Wire};

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

    /// What everyone but the owner learns of this state.
    fn snapshot(state: &Self::State, tick: Tick) -> Snapshot;

    /// Where it looks from, in metres.
    fn eye(config: &Self::Config, state: &Self::State) -> Vec3;

    /// A number that differs when states differ in anything but continuous quantities: mode,
    /// stance, rounds fired. The owner's client sends it with its result, so that the server sees
    /// a difference that no distance shows.
    fn kind(state: &Self::State) -> u32;

    /// A number that changes whenever the pawn is put somewhere else: a correction across such a
    /// change is not an error and is not smoothed. Only the lowest four bits count.
    fn teleports(state: &Self::State) -> u8;
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
}

//! Four implementations of the teleport. Three are the obvious first attempts; only the fourth is part of a
//! move.

use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent},
    movement::{CapsuleConfig, CapsuleState, abilities::TeleportEvent},
    prelude::*,
};

use super::{Level, Observations, Pawn, PawnState};

/// Distance of the teleport, in metres.
pub const DISTANCE: f32 = 10.0;

/// Implementation of the teleport.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// The owner's app moves its pawn. The server does not know of it.
    ClientOnly,
    /// The owner's app sends a request, and the server moves the pawn.
    ServerOnly,
    /// Both: the owner's app moves its pawn at once and sends the request.
    ServerAndLocal,
    /// The key is a bit of the move's input, and the move step teleports.
    Stream,
}

impl Variant {
    /// All variants, in the order of Unreal's documentation.
    pub const ALL: [Self; 4] = [Self::ClientOnly, Self::ServerOnly, Self::ServerAndLocal, Self::Stream];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClientOnly => "client only",
            Self::ServerOnly => "server only",
            Self::ServerAndLocal => "server and local",
            Self::Stream => "in the move stream",
        }
    }

    fn acts_at_once(self) -> bool {
        matches!(self, Self::ClientOnly | Self::ServerAndLocal)
    }

    fn sends_request(self) -> bool {
        matches!(self, Self::ServerOnly | Self::ServerAndLocal)
    }
}

/// Method by which code outside the move stream moves a pawn.
#[doc(alias = "SetActorLocation")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum WriteMethod {
    /// Writes the position, as Unreal's `SetActorLocation` does.
    #[default]
    Position,
    /// Calls [`CapsuleState::teleport_to`], which increments the teleport counter.
    Teleport,
}

/// Scripted input of the player.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub(super) struct ScriptedInput {
    /// Whether the teleport key is down.
    pub(super) key: bool,
    /// Whether the teleport key was down in the last tick.
    was_down: bool,
    /// Whether the movement input is neutral.
    pub(super) still: bool,
    ticks: u32,
}

/// Number of requests that the owner's app is about to send.
#[derive(Resource, Default, Debug)]
pub(super) struct UnsentRequests(pub(super) usize);

/// Number of requests that have arrived at the server and are not handled yet.
#[derive(Resource, Default, Debug)]
pub(super) struct ReceivedRequests(pub(super) usize);

/// Adds the owner's systems of all four variants.
pub(super) fn add_client(app: &mut App) {
    app.init_resource::<ScriptedInput>()
        .init_resource::<UnsentRequests>()
        .add_systems(FixedUpdate, (steer, act_at_once).chain().in_set(MoveSystems::Sample))
        .add_systems(FixedUpdate, play_effects.in_set(MoveSystems::React));
}

/// Adds the server's systems of all four variants.
pub(super) fn add_server(app: &mut App) {
    app.init_resource::<ReceivedRequests>()
        .add_systems(FixedUpdate, handle_requests.in_set(MoveSystems::Sample))
        .add_systems(FixedUpdate, play_effects.in_set(MoveSystems::React));
}

/// Runs right and left, across the direction of the teleport, and forwards the key of the scripted input.
fn steer(
    variant: Res<Variant>,
    mut scripted: ResMut<ScriptedInput>,
    mut inputs: Query<&mut MoveInput<Pawn>>,
) {
    scripted.ticks += 1;
    let right = if (scripted.ticks / 40).is_multiple_of(2) { 127 } else { -127 };
    for mut input in &mut inputs {
        input.0.body.right = if scripted.still { 0 } else { right };
        // Besides the ability itself, this is all that the fourth variant needs.
        input.0.extension.pressed = *variant == Variant::Stream && scripted.key;
    }
}

/// First and third variant: the owner's app moves its pawn itself and plays the effect.
fn act_at_once(
    variant: Res<Variant>,
    write_method: Res<WriteMethod>,
    level: Res<Level>,
    config: Res<CapsuleConfig>,
    mut scripted: ResMut<ScriptedInput>,
    mut requests: ResMut<UnsentRequests>,
    mut seen: ResMut<Observations>,
    mut pawns: Query<&mut PawnState, With<LocalControl>>,
) {
    let pressed = scripted.key && !scripted.was_down;
    scripted.was_down = scripted.key;
    if !pressed {
        return;
    }
    if variant.sends_request() {
        requests.0 += 1;
    }
    for mut state in &mut pawns {
        if !variant.acts_at_once() {
            continue;
        }
        if teleport_ahead(&mut state.body, &level, &config, *write_method) {
            seen.play_effect();
        } else {
            seen.record_outcome(false);
        }
    }
}

/// Second and third variant: the server moves the pawn when the request arrives, between two moves.
fn handle_requests(
    write_method: Res<WriteMethod>,
    level: Res<Level>,
    config: Res<CapsuleConfig>,
    mut requested: ResMut<ReceivedRequests>,
    mut seen: ResMut<Observations>,
    mut pawns: Query<&mut PawnState>,
) {
    for _ in 0..core::mem::take(&mut requested.0) {
        for mut state in &mut pawns {
            if teleport_ahead(&mut state.body, &level, &config, *write_method) {
                seen.play_effect();
            }
        }
    }
}

/// Fourth variant: the step emits one event per teleport, however often its move is replayed.
fn play_effects(mut happened: MessageReader<StepEvent<Pawn>>, mut seen: ResMut<Observations>) {
    for event in happened.read() {
        match event.event {
            ExtendedEvent::Extension(TeleportEvent::Teleported { .. }) => seen.play_effect(),
            ExtendedEvent::Extension(TeleportEvent::Blocked) => seen.record_outcome(false),
            ExtendedEvent::Body(_) => {}
        }
    }
}

/// Moves the pawn ten metres ahead if the destination is free.
fn teleport_ahead(
    state: &mut CapsuleState,
    level: &Level,
    config: &CapsuleConfig,
    write_method: WriteMethod,
) -> bool {
    let to = state.position + state.rotation() * Vec3::NEG_Z * DISTANCE;
    if !level.is_free(config, to) {
        return false;
    }
    match write_method {
        WriteMethod::Position => state.position = to,
        WriteMethod::Teleport => state.teleport_to(to),
    }
    true
}

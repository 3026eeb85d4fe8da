//! The four ways. Three of them are what one writes first; only the fourth is part of a move.

use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent},
    movement::{CapsuleConfig, CapsuleState, abilities::TeleportEvent},
    prelude::*,
};

use super::{Level, Pawn, PawnState, Seen};

/// Metres of the teleport.
pub const DISTANCE: f32 = 10.0;

/// Where the teleport is done.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// The owner's app puts its pawn ahead. The server knows nothing of it.
    ClientOnly,
    /// The owner's app asks by a message, and the server puts the pawn ahead.
    ServerOnly,
    /// Both: the owner's app does it at once and sends the message.
    ServerAndLocal,
    /// The key is a bit of the move's input, and the step does it.
    Stream,
}

impl Variant {
    /// All four, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::ClientOnly, Self::ServerOnly, Self::ServerAndLocal, Self::Stream];

    /// What to call it.
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

    fn asks(self) -> bool {
        matches!(self, Self::ServerOnly | Self::ServerAndLocal)
    }
}

/// How code beside the move stream puts a pawn ahead.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Writes {
    /// It writes the position, as Unreal's `SetActorLocation` does.
    #[default]
    Position,
    /// It calls [`CapsuleState::teleport_to`], which counts the teleport.
    Teleport,
}

/// What the player's hands do.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub(super) struct Hands {
    /// Whether the teleport key is down.
    pub(super) key: bool,
    /// Whether it was in the last tick.
    was_down: bool,
    /// Whether the player lets go of the stick.
    pub(super) still: bool,
    ticks: u32,
}

/// Requests of the owner that its app wants to be sent.
#[derive(Resource, Default, Debug)]
pub(super) struct Asked(pub(super) usize);

/// Requests that have arrived at the server.
#[derive(Resource, Default, Debug)]
pub(super) struct Requested(pub(super) usize);

/// The owner's side of all four.
pub(super) fn add_client(app: &mut App) {
    app.init_resource::<Hands>()
        .init_resource::<Asked>()
        .add_systems(FixedUpdate, (steer, act_at_once).chain().in_set(MoveSystems::Sample))
        .add_systems(FixedUpdate, play_effects.in_set(MoveSystems::React));
}

/// The server's.
pub(super) fn add_server(app: &mut App) {
    app.init_resource::<Requested>()
        .add_systems(FixedUpdate, do_as_asked.in_set(MoveSystems::Sample))
        .add_systems(FixedUpdate, play_effects.in_set(MoveSystems::React));
}

/// Runs to the right and back, across the way of the teleport, and holds the key down as long as the
/// hands do.
fn steer(variant: Res<Variant>, mut hands: ResMut<Hands>, mut inputs: Query<&mut MoveInput<Pawn>>) {
    hands.ticks += 1;
    let right = if (hands.ticks / 40).is_multiple_of(2) { 127 } else { -127 };
    for mut input in &mut inputs {
        input.0.body.right = if hands.still { 0 } else { right };
        // The whole of the fourth way, beside the ability itself.
        input.0.extension.pressed = *variant == Variant::Stream && hands.key;
    }
}

/// The first and the third way: the owner's app acts by itself and plays the effect.
fn act_at_once(
    variant: Res<Variant>,
    writes: Res<Writes>,
    level: Res<Level>,
    config: Res<CapsuleConfig>,
    mut hands: ResMut<Hands>,
    mut asked: ResMut<Asked>,
    mut seen: ResMut<Seen>,
    mut pawns: Query<&mut PawnState, With<LocalControl>>,
) {
    let pressed = hands.key && !hands.was_down;
    hands.was_down = hands.key;
    if !pressed {
        return;
    }
    if variant.asks() {
        asked.0 += 1;
    }
    for mut state in &mut pawns {
        if !variant.acts_at_once() {
            continue;
        }
        if put_ahead(&mut state.body, &level, &config, *writes) {
            seen.play_effect();
        } else {
            seen.is_told(false);
        }
    }
}

/// The second and the third way: the server acts when the message arrives, between two moves.
fn do_as_asked(
    writes: Res<Writes>,
    level: Res<Level>,
    config: Res<CapsuleConfig>,
    mut requested: ResMut<Requested>,
    mut seen: ResMut<Seen>,
    mut pawns: Query<&mut PawnState>,
) {
    for _ in 0..core::mem::take(&mut requested.0) {
        for mut state in &mut pawns {
            if put_ahead(&mut state.body, &level, &config, *writes) {
                seen.play_effect();
            }
        }
    }
}

/// The fourth way: the step says what happened, once, whatever is replayed later.
fn play_effects(mut happened: MessageReader<StepEvent<Pawn>>, mut seen: ResMut<Seen>) {
    for event in happened.read() {
        match event.event {
            ExtendedEvent::Extension(TeleportEvent::Teleported { .. }) => seen.play_effect(),
            ExtendedEvent::Extension(TeleportEvent::Blocked) => seen.is_told(false),
            ExtendedEvent::Body(_) => {}
        }
    }
}

/// Ten metres ahead, if nothing is there.
fn put_ahead(state: &mut CapsuleState, level: &Level, config: &CapsuleConfig, writes: Writes) -> bool {
    let to = state.position + state.rotation() * Vec3::NEG_Z * DISTANCE;
    if !level.is_free(config, to) {
        return false;
    }
    match writes {
        Writes::Position => state.position = to,
        Writes::Teleport => state.teleport_to(to),
    }
    true
}

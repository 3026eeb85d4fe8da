//! Owner mode "overwrite": the server's state replaces the client's at every update.
//!
//! The suite does not support this: an owner's client gets acknowledgements, and a state only to replay
//! from. So the server sends the state in a message of this example at the update rate, and in this mode the
//! state is removed from the acknowledgements.

use bevy::prelude::*;
use bevy_unlag::{
    core::{BitReader, BitWriter, MoveSystems, Tick, Wire},
    movement::{KartPush, KartState},
    prediction::{AckedMove, IncomingMoveAcks, MoveAck},
    prelude::*,
};
use lightyear::prelude::{
    AppChannelExt, AppMessageExt, ChannelMode, ChannelSettings, Connected, ControlledBy, MessageReceiver,
    MessageSender, MessageSystems, NetworkDirection, client::Client, server::ClientOf,
};
use serde::{Deserialize, Serialize};

use super::race_settings::{OwnerMode, RaceSettings};

/// The server's state of the receiving client's kart.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OwnerStateMessage(Vec<u8>);

/// Unreliable channel: a newer state replaces an older one.
struct OwnerChannel;

/// Registers the message. Client and server both add it, after the suite's plugins.
pub(super) fn protocol(app: &mut App) {
    app.add_channel::<OwnerChannel>(ChannelSettings {
        mode: ChannelMode::UnorderedUnreliable,
        retry_unsent_messages: false,
        ..default()
    })
    .add_direction(NetworkDirection::ServerToClient);
    app.register_message::<OwnerStateMessage>().add_direction(NetworkDirection::ServerToClient);
}

pub(super) fn server(app: &mut App) {
    app.add_systems(PostUpdate, send_owner_states.before(MessageSystems::Send));
}

pub(super) fn client(app: &mut App) {
    app.init_resource::<ReceivedOwnerState>()
        .add_systems(PreUpdate, receive_owner_state.after(MessageSystems::Receive))
        .add_systems(
            FixedUpdate,
            (
                strip_adjustments.before(MoveSystems::Reconcile),
                overwrite.after(MoveSystems::Reconcile).before(MoveSystems::Sample),
            ),
        );
}

fn send_owner_states(
    switches: Res<RaceSettings>,
    tick: Res<CurrentTick>,
    karts: Query<(&KartState, &ControlledBy)>,
    mut links: Query<&mut MessageSender<OwnerStateMessage>, (With<ClientOf>, With<Connected>)>,
    mut last: Local<Tick>,
) {
    let round = |tick: Tick| tick.0 / switches.interval();
    if switches.owner() != OwnerMode::Overwrite || round(tick.0) == round(*last) {
        return;
    }
    *last = tick.0;
    for (state, owner) in &karts {
        if let Ok(mut link) = links.get_mut(owner.owner) {
            let mut w = BitWriter::default();
            state.write(&mut w);
            link.send::<OwnerChannel>(OwnerStateMessage(w.finish()));
        }
    }
}

/// The newest received state that has not been applied yet.
#[derive(Resource, Default)]
struct ReceivedOwnerState(Option<KartState>);

fn receive_owner_state(
    mut links: Query<&mut MessageReceiver<OwnerStateMessage>, With<Client>>,
    mut received: ResMut<ReceivedOwnerState>,
) {
    for mut link in &mut links {
        for message in link.receive() {
            if let Ok(state) = KartState::read(&mut BitReader::new(&message.0)) {
                received.0 = Some(state);
            }
        }
    }
}

/// Removes the state from the server's acknowledgements of moves.
fn strip_adjustments(
    switches: Res<RaceSettings>,
    mut karts: Query<&mut IncomingMoveAcks, (With<LocalControl>, With<KartState>)>,
    mut kept: Local<Vec<Vec<u8>>>,
) {
    if switches.owner() != OwnerMode::Overwrite {
        return;
    }
    for mut incoming in &mut karts {
        kept.extend(incoming.drain().filter_map(|bytes| acknowledgement(&bytes)));
        for bytes in kept.drain(..) {
            incoming.deliver(bytes);
        }
    }
}

fn acknowledgement(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut answer = MoveAck::<KartState, KartPush>::read(&mut BitReader::new(bytes)).ok()?;
    if matches!(answer.acked, AckedMove::Move(_)) {
        answer.adjustment = None;
    }
    let mut w = BitWriter::default();
    answer.write(&mut w);
    Some(w.finish())
}

fn overwrite(
    switches: Res<RaceSettings>,
    mut received: ResMut<ReceivedOwnerState>,
    mut karts: Query<&mut KartState, With<LocalControl>>,
) {
    let Some(theirs) = received.0.take() else { return };
    if switches.owner() == OwnerMode::Overwrite {
        for mut mine in &mut karts {
            *mine = theirs;
        }
    }
}

//! Moves and their acknowledgements, between mailboxes and messages.

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, NetId};
use bevy_unlag_prediction::{
    IncomingMoveAcks, IncomingMoves, MAX_MAILBOX_MESSAGES, OutgoingMoveAcks, OutgoingMoves, SendThrottle,
};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    budget::SnapshotSendQueue,
    possession::OfferedTo,
    protocol::{MoveAckMessage, MoveMessage},
    spectators::Spectator,
    system_sets::{ReceiveSystems, SendSystems},
};

pub(crate) fn client_plugin(app: &mut App) {
    app.add_systems(PreUpdate, (deliver_move_acks.in_set(ReceiveSystems::Moves), count_players))
        .add_systems(PostUpdate, send_moves.before(MessageSystems::Send));
}

pub(crate) fn server_plugin(app: &mut App) {
    app.add_systems(PreUpdate, deliver_moves.after(MessageSystems::Receive))
        .add_systems(PostUpdate, send_move_acks.in_set(SendSystems::Acks));
}

/// Counts players for [`SendThrottle`], which throttles sending when there are many.
fn count_players(pawns: Query<(), With<NetId>>, throttle: Option<ResMut<SendThrottle>>) {
    let Some(mut throttle) = throttle else { return };
    let players = pawns.iter().len() as u32;
    if throttle.players != players {
        throttle.players = players;
    }
}

fn deliver_move_acks(
    mut messages: ServerMessages<MoveAckMessage>,
    mut pawns: Query<&mut IncomingMoveAcks, With<LocalControl>>,
) {
    for answer in messages.take() {
        if let Ok(mut mailbox) = pawns.single_mut() {
            mailbox.deliver(answer.0);
        }
    }
}

fn send_moves(
    mut links: Query<&mut MessageSender<MoveMessage>, (With<Client>, With<Connected>)>,
    mut pawns: Query<&mut OutgoingMoves>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut mailbox in &mut pawns {
        for bytes in mailbox.0.drain(..) {
            if let Ok(mut link) = links.single_mut() {
                bandwidth.send(&mut link, bytes);
            }
        }
    }
}

/// Delivers moves to the pawn that the sender owns by [`ControlledBy`]. A move packet names no pawn, so a
/// client cannot move another one.
fn deliver_moves(
    mut links: Query<(Entity, &mut MessageReceiver<MoveMessage>), (With<ClientOf>, Without<Spectator>)>,
    mut pawns: Query<(&ControlledBy, &mut IncomingMoves)>,
    mut offered: Query<(&OfferedTo, &mut IncomingMoves), Without<ControlledBy>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (link, mut receiver) in &mut links {
        let mut pawn = pawns.iter_mut().find(|(owner, _)| owner.owner == link);
        for message in bandwidth.receive(&mut receiver).take(MAX_MAILBOX_MESSAGES) {
            if let Some((_, mut mailbox)) = offered.iter_mut().find(|(to, _)| to.takes(link, &message.0)) {
                mailbox.deliver(message.0);
            } else if let Some((_, mailbox)) = &mut pawn {
                mailbox.deliver(message.0);
            }
        }
    }
}

fn send_move_acks(
    mut pawns: Query<(Option<&ControlledBy>, &mut OutgoingMoveAcks)>,
    mut links: Query<(&mut MessageSender<MoveAckMessage>, Option<&mut SnapshotSendQueue>), With<Connected>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (owner, mut mailbox) in &mut pawns {
        // Drained without a connected owner too, so that the mailbox does not grow.
        for bytes in mailbox.0.drain(..) {
            if let Some(Ok((mut link, budget))) = owner.map(|owner| links.get_mut(owner.owner)) {
                if let Some(mut budget) = budget {
                    budget.spend(bytes.len());
                }
                bandwidth.send(&mut link, bytes);
            }
        }
    }
}

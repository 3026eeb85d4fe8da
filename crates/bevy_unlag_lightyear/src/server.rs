//! Server plugin: moves data between messages and mailboxes, enforces ownership, sends snapshots.

use core::marker::PhantomData;

use bevy::{ecs::error::FallbackErrorHandler, prelude::*};
use bevy_unlag_core::{MoveModel, NetId, NetRole, SimulationRate, VisualSystems};
use bevy_unlag_prediction::{IncomingMoves, MAX_MAILED, OutgoingAnswers, authority_pawn};
use bevy_unlag_rewind::{FrameHistory, ViewLedger};
use bevy_unlag_smoothing::SentLog;
use bevy_unlag_weapons::{OutgoingVerdicts, RefusedShots};
use lightyear::prelude::{server::ClientOf, *};
use lightyear_guard::ServerGuardPlugin;

use crate::{
    Bandwidth, MessageClass, clock, link, mail, messages,
    protocol::{AnswerChannel, AnswerMessage, MoveMessage},
    session, snapshots,
};

/// Server side of the transport: exchanges mailboxes with the clients. Add it after lightyear's
/// `ServerPlugins`.
#[derive(Debug)]
pub struct UnlagServerNetPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for UnlagServerNetPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for UnlagServerNetPlugin<M> {
    fn build(&self, app: &mut App) {
        crate::shared(app);
        let rate = *app.world_mut().get_resource_or_init::<SimulationRate>();
        app.insert_resource(ReplicationMetadata::new(rate.snapshot_interval()))
            .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
                commands.entity(added.entity).insert((ReplicationSender, link::quiet_pings()));
            })
            .add_systems(
                PreUpdate,
                (deliver_moves.after(MessageSystems::Receive), link::tell_owners.after(link::publish_rtt)),
            )
            .add_systems(
                PostUpdate,
                // Snapshots first: tracers use what they leave of the budget.
                (snapshots::publish.before(VisualSystems::Draw), send_answers, mail::send)
                    .chain()
                    .before(MessageSystems::Send),
            );
        // Bytes from a peer may make a lightyear system fail; the server must keep running.
        app.world_mut().get_resource_or_insert_with(|| FallbackErrorHandler(bevy::ecs::error::warn));
        app.add_plugins(ServerGuardPlugin);
        messages::server_plugin(app);
        session::server_plugin::<M>(app);
        clock::server_plugin(app);
        snapshots::server_plugin(app);
    }
}

/// Components of a networked pawn on the server: movement by its owner, replication, frame history and hit
/// detection. Add [`player_pawn`](crate::player_pawn), which ties the pawn to its player: one pawn per
/// player, for as long as the pawn lives. `id` must be unique among living pawns.
#[must_use]
pub fn networked_pawn<M: MoveModel>(id: NetId, state: M::State) -> impl Bundle {
    (replicated_pawn(id), authority_pawn::<M>(state), SentLog::default(), ViewLedger::default())
}

/// The part of [`networked_pawn`] without a remote owner: for the server's bots and the pawn of a listen
/// server host.
#[must_use]
pub fn replicated_pawn(id: NetId) -> impl Bundle {
    (
        NetRole::Authority,
        id,
        FrameHistory::default(),
        OutgoingVerdicts::default(),
        RefusedShots::default(),
        Replicate::to_clients(NetworkTarget::All),
    )
}

/// Delivers moves to the pawn that the sender owns by [`ControlledBy`]. A move packet names no pawn, so a
/// client cannot move another one.
fn deliver_moves(
    mut links: Query<(Entity, &mut MessageReceiver<MoveMessage>), With<ClientOf>>,
    mut pawns: Query<(&ControlledBy, &mut IncomingMoves)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (link, mut receiver) in &mut links {
        let mut pawn = pawns.iter_mut().find(|(owner, _)| owner.owner == link);
        for message in receiver.receive().take(MAX_MAILED) {
            bandwidth.count(MessageClass::Moves, message.0.len(), 1);
            if let Some((_, mailbox)) = &mut pawn {
                mailbox.deliver(message.0);
            }
        }
    }
}

fn send_answers(
    mut pawns: Query<(Option<&ControlledBy>, &mut OutgoingAnswers)>,
    mut links: Query<&mut MessageSender<AnswerMessage>, With<Connected>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (owner, mut mailbox) in &mut pawns {
        // Drained without a connected owner too, so that the mailbox does not grow.
        for bytes in mailbox.0.drain(..) {
            if let Some(Ok(mut link)) = owner.map(|owner| links.get_mut(owner.owner)) {
                bandwidth.count(MessageClass::Answers, bytes.len(), 1);
                link.send::<AnswerChannel>(AnswerMessage(bytes));
            }
        }
    }
}

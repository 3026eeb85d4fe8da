//! The server's end: mailboxes to messages and back, ownership, snapshots.

use core::{marker::PhantomData, time::Duration};

use bevy::{ecs::error::FallbackErrorHandler, prelude::*};
use bevy_unlag_core::{MoveModel, NetId, NetRole, VisualSystems};
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

/// Carries mailboxes to clients and back. Add it after lightyear's `ServerPlugins`.
#[derive(Debug)]
pub struct UnlagServerNetPlugin<M> {
    /// The time between two snapshots of a pawn without an [`UpdateInterval`](crate::UpdateInterval), and
    /// between two looks at what else is replicated. Default 46.875 ms, three ticks of 64 Hz. Raising it
    /// saves downstream bytes and shows everyone else that much later.
    pub snapshot_interval: Duration,
    pub(crate) model: PhantomData<fn() -> M>,
}

impl<M> Default for UnlagServerNetPlugin<M> {
    fn default() -> Self {
        Self { snapshot_interval: Duration::from_nanos(46_875_000), model: PhantomData }
    }
}

impl<M: MoveModel> Plugin for UnlagServerNetPlugin<M> {
    fn build(&self, app: &mut App) {
        crate::shared(app);
        app.insert_resource(ReplicationMetadata::new(self.snapshot_interval))
            .add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
                commands.entity(added.entity).insert((ReplicationSender, link::quiet_pings()));
            })
            .add_systems(
                PreUpdate,
                (deliver_moves.after(MessageSystems::Receive), link::tell_owners.after(link::publish_rtt)),
            )
            .add_systems(
                PostUpdate,
                // Tracers get what snapshots leave.
                (snapshots::publish.before(VisualSystems::Draw), send_answers, mail::send)
                    .chain()
                    .before(MessageSystems::Send),
            );
        // A peer's bytes may make a lightyear system fail; that is no reason to stop serving.
        app.world_mut().get_resource_or_insert_with(|| FallbackErrorHandler(bevy::ecs::error::warn));
        app.add_plugins(ServerGuardPlugin);
        messages::server_plugin(app);
        session::server_plugin::<M>(app);
        clock::server_plugin(app);
        snapshots::server_plugin(app, self.snapshot_interval);
    }
}

/// The components of a networked pawn on the server: what it needs to be moved by its owner, seen
/// by everyone, remembered and shot at. Add [`player_pawn`](crate::player_pawn), which names its player: one
/// pawn a player, for as long as the pawn lives. `id` must be unique among living pawns.
#[must_use]
pub fn networked_pawn<M: MoveModel>(id: NetId, state: M::State) -> impl Bundle {
    (replicated_pawn(id), authority_pawn::<M>(state), SentLog::default(), ViewLedger::default())
}

/// The part of [`networked_pawn`] that has nothing to do with a remote owner: for bots of the
/// server's own and for the host of a listen server.
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

/// A client moves only what [`ControlledBy`] gives it: a packet names no pawn.
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
        // Emptied also when nobody listens: a mailbox does not grow.
        for bytes in mailbox.0.drain(..) {
            if let Some(Ok(mut link)) = owner.map(|owner| links.get_mut(owner.owner)) {
                bandwidth.count(MessageClass::Answers, bytes.len(), 1);
                link.send::<AnswerChannel>(AnswerMessage(bytes));
            }
        }
    }
}

//! A game's own messages, by rules: what Unreal calls RPCs.
//!
//! * A message type is a [`Wire`](bevy_unlag_core::Wire) type with [`MessageRules`]: which way it goes, whether it
//!   must arrive, how often a client may send it. [`AddGameMessage`]
//! * [`Outbox`] sends, about a pawn or about none; [`Received`] is what arrives. On the server a system of the game
//!   may look at a message before anybody reads it, and says what becomes of it. [`Verdict`]
//! * [`MessageLimits`] bounds what waits: on the line, and for pawns that are still to come.
//!
//! All types share one envelope and two channels of lightyear's: so what arrives is read by one decoder that is
//! total, refused without a line in the log, and delivered in the order in which it was sent, whatever its type.

mod backlog;
mod kinds;
mod outlet;
mod receive;
mod rules;
mod send;
mod waiting;

use core::{marker::PhantomData, time::Duration};

use bevy::{
    ecs::{
        message::Message,
        system::{IntoSystem, SystemId},
    },
    prelude::*,
};
use bevy_unlag_core::Wire;
use bevy_unlag_smoothing::SmoothingSystems;
use lightyear::prelude::*;

pub(crate) use kinds::Kinds;
use kinds::{Judge, NumberOf};
use outlet::GameOutlet;
pub use rules::{Delivery, GameMessageStats, MessageDirection, MessageLimits, MessageRules};
pub use send::Outbox;

use crate::mail;

/// A message of the game has arrived, by the rules of its type. Read it with Bevy's [`MessageReader`], from
/// [`GameMessageSystems::Deliver`] on.
#[derive(Message, Clone, PartialEq, Debug)]
pub struct Received<M: Send + Sync + 'static> {
    /// Who sent it.
    pub from: MessageSource,
    /// The pawn that it is about, if about any; it is there. Of a message to the server: one of the sender's own.
    pub about: Option<Entity>,
    /// What was sent.
    pub message: M,
}

/// Who sent a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageSource {
    /// The server.
    Server,
    /// A client: the server's end of its link.
    Client(Entity),
    /// The player of a listen server, who has no link.
    Host,
}

/// What becomes of a message to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The game gets it.
    Accept,
    /// Nobody gets it; it is counted as [`Refusal::Rejected`](crate::Refusal::Rejected). No offence: a client may
    /// have had good reasons when it sent it.
    Reject,
    /// Nobody gets it, and its sender is thrown out with
    /// [`KickReason::Game`](crate::KickReason::Game) and this number. For what no honest client does.
    Kick(u8),
}

/// When messages of the game come and go.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameMessageSystems {
    /// In [`PreUpdate`]: [`Received`] are written.
    Deliver,
    /// In [`PostUpdate`]: what was given to an [`Outbox`] leaves.
    Send,
}

/// Messages of a game's own.
pub trait AddGameMessage {
    /// Adds a type of message. Both sides call it, in any order, at any time before they connect. What is sent is what
    /// [`Wire`] writes, at most 1,000 bytes.
    ///
    /// On the wire a type is known by its full name. A client and a server that know other types, or the same with
    /// other rules, do not come together: [`ProtocolMismatch`](crate::ProtocolMismatch).
    fn add_game_message<M: Wire + Send + Sync + 'static>(&mut self, rules: MessageRules) -> &mut Self;

    /// Lets a system decide about each message of a type that comes to the server, the host's own included, before
    /// anybody can read it. It may use whatever a system may; its message is
    /// [`InRef<Received<M>>`](bevy::prelude::InRef). When it cannot run, the message is rejected. It runs for each
    /// message by itself, in the order of their arrival, in [`GameMessageSystems::Deliver`]. A later one replaces
    /// it.
    fn judge_game_message<M: Wire + Send + Sync + 'static, Marker>(
        &mut self,
        judge: impl IntoSystem<InRef<'static, Received<M>>, Verdict, Marker> + 'static,
    ) -> &mut Self;
}

impl AddGameMessage for App {
    fn add_game_message<M: Wire + Send + Sync + 'static>(&mut self, rules: MessageRules) -> &mut Self {
        self.add_message::<Received<M>>();
        let number = self.world_mut().get_resource_or_init::<Kinds>().add::<M>(rules);
        self.insert_resource(NumberOf::<M>(number, PhantomData))
    }

    fn judge_game_message<M: Wire + Send + Sync + 'static, Marker>(
        &mut self,
        judge: impl IntoSystem<InRef<'static, Received<M>>, Verdict, Marker> + 'static,
    ) -> &mut Self {
        let id: SystemId<InRef<'static, Received<M>>, Verdict> = self.world_mut().register_system(judge);
        self.insert_resource(Judge(id))
    }
}

/// Whose rules apply.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Client,
    Server,
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<Kinds>()
        .init_resource::<MessageLimits>()
        .init_resource::<GameMessageStats>()
        .init_resource::<send::Outgoing>()
        .init_resource::<receive::Incoming>()
        .init_resource::<waiting::Waiting>()
        .add_observer(|added: On<Add, Connected>, mut commands: Commands| {
            let state = (GameOutlet::default(), receive::Inlet::default(), backlog::Backlog::default());
            commands.entity(added.entity).insert(state);
        })
        .add_observer(forget)
        .add_systems(
            PreUpdate,
            (receive::collect, receive::deliver.run_if(receive::has_work))
                .chain()
                .in_set(GameMessageSystems::Deliver)
                .after(MessageSystems::Receive)
                .after(ReplicationSystems::Receive)
                // By then a pawn has its role.
                .after(SmoothingSystems::Deliver),
        )
        .add_systems(
            PostUpdate,
            // What must arrive before what may be lost.
            send::send.in_set(GameMessageSystems::Send).before(mail::send).before(MessageSystems::Send),
        )
        .add_systems(Last, (outlet::account, backlog::bound));
}

pub(crate) fn client_plugin(app: &mut App) {
    // Who is both is a server.
    app.world_mut().get_resource_or_insert_with(|| Side::Client);
}

pub(crate) fn server_plugin(app: &mut App) {
    app.insert_resource(Side::Server);
}

/// What waits for a session that is over waits in vain.
fn forget(
    ended: On<Remove, Connected>,
    mut outlets: Query<&mut GameOutlet>,
    clients: Query<(), With<Client>>,
    mut waiting: ResMut<waiting::Waiting>,
) {
    if let Ok(mut outlet) = outlets.get_mut(ended.entity) {
        *outlet = GameOutlet::default();
    }
    if clients.contains(ended.entity) {
        waiting.clear();
    }
}

/// Bytes of the longest message, without its envelope.
const LONGEST: usize = 1_000;
/// A client's budget may come at once after it sent nothing for this long, or four messages, or as many reliable ones as
/// may have waited on a line that was down.
const RECEIVED_BURST: Duration = Duration::from_secs(10);
/// The same where it is sent.
const SENT_BURST: Duration = Duration::from_secs(1);

//! Client plugin: assigns network roles to replicated pawns and moves data between messages and mailboxes.

use core::marker::PhantomData;

use bevy::{
    ecs::{error::FallbackErrorHandler, message::Message},
    prelude::*,
};
use bevy_replicon::prelude::ClientReplicationStats;
use bevy_unlag_core::{BitReader, HeardTick, LocalControl, MoveModel, NetId, NetRole, Wire};
use bevy_unlag_prediction::{Crowd, IncomingAnswers, OutgoingMoves, autonomous_pawn};
use bevy_unlag_rewind::RoundStart;
use bevy_unlag_smoothing::{Playout, SmoothingSystems, SnapshotInbox};
use bevy_unlag_weapons::{ForgetProjectiles, ProjectileEnd, ProjectileLaunch, ShotVerdict, Tracer};
use lightyear::prelude::{client::Remote, *};
use lightyear_guard::ClientGuardPlugin;

use crate::{
    Bandwidth, MessageClass, bandwidth, clock, link, messages,
    net_sim::NetSimPlugin,
    protocol::{
        AnswerMessage, EndMessage, LaunchMessage, MoveChannel, MoveMessage, Raw, TracerMessage,
        VerdictMessage,
    },
    session, snapshots,
};

/// Client side of the transport: exchanges mailboxes with the server. Add it after lightyear's
/// `ClientPlugins`.
///
/// A client controls the one pawn that the server assigns to it in the update that spawns the pawn.
#[derive(Debug)]
pub struct UnlagClientNetPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for UnlagClientNetPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for UnlagClientNetPlugin<M> {
    fn build(&self, app: &mut App) {
        crate::shared(app);
        // A server with another protocol makes lightyear's systems fail. The player gets an error message;
        // the app must not crash.
        app.world_mut().get_resource_or_insert_with(|| FallbackErrorHandler(bevy::ecs::error::warn));
        if !app.is_plugin_added::<NetSimPlugin>() {
            app.add_plugins(NetSimPlugin);
        }
        app.add_message::<ShotVerdict>()
            .add_message::<Tracer>()
            .add_message::<ProjectileLaunch>()
            .add_message::<ProjectileEnd>()
            .add_message::<ForgetProjectiles>()
            .add_observer(|added: On<Add, Client>, mut commands: Commands| {
                commands.entity(added.entity).insert((ReplicationReceiver, link::quiet_pings()));
            })
            .add_observer(leave)
            .add_systems(
                PreUpdate,
                (
                    assign_roles::<M>,
                    deliver_answers,
                    snapshots::deliver.in_set(SmoothingSystems::Deliver),
                    deliver::<VerdictMessage, ShotVerdict>(MessageClass::Verdicts, |_, _| true),
                    deliver::<TracerMessage, Tracer>(MessageClass::Tracers, |_, _| true),
                    deliver::<LaunchMessage, ProjectileLaunch>(MessageClass::Projectiles, is_of_this_match),
                    deliver::<EndMessage, ProjectileEnd>(MessageClass::Projectiles, |_, _| true),
                )
                    .chain()
                    .after(MessageSystems::Receive)
                    .after(ReplicationSystems::Receive)
                    .before(SmoothingSystems::Receive),
            )
            .init_resource::<ClientReplicationStats>()
            .add_systems(
                PreUpdate,
                (count_crowd, bandwidth::count_replication.after(ReplicationSystems::Receive)),
            )
            .add_systems(PostUpdate, send_moves.before(MessageSystems::Send));
        clock::client_plugin(app);
        app.add_plugins(ClientGuardPlugin);
        messages::client_plugin(app);
        session::client_plugin::<M>(app);
        snapshots::client_plugin(app);
    }
}

/// Assigns the [`NetRole`] of each new pawn: autonomous proxy if the server marks it as controlled in the
/// same update that spawns it, otherwise simulated proxy.
fn assign_roles<M: MoveModel>(
    pawns: Query<(Entity, Has<Controlled>), (With<NetId>, With<Remote>, Without<NetRole>)>,
    mut commands: Commands,
) {
    for (entity, ours) in &pawns {
        let mut pawn = commands.entity(entity);
        if ours {
            pawn.insert((NetRole::AutonomousProxy, autonomous_pawn::<M>())).remove::<SnapshotInbox>();
        } else {
            pawn.insert(NetRole::SimulatedProxy).insert_if_new(SnapshotInbox::default());
        }
    }
}

/// Resets everything that refers to the server's ticks: the next server counts its own.
fn leave(
    ended: On<Remove, Connected>,
    links: Query<(), With<Client>>,
    (playout, heard): (Option<ResMut<Playout>>, Option<ResMut<HeardTick>>),
    mut forget: MessageWriter<ForgetProjectiles>,
) {
    if links.contains(ended.entity) {
        forget.write(ForgetProjectiles);
        if let Some(mut playout) = playout {
            *playout = Playout::default();
        }
        if let Some(mut heard) = heard {
            *heard = HeardTick::default();
        }
    }
}

/// Counts players for [`Crowd`], which throttles sending when there are many.
fn count_crowd(pawns: Query<(), With<NetId>>, crowd: Option<ResMut<Crowd>>) {
    let Some(mut crowd) = crowd else { return };
    let players = pawns.iter().len() as u32;
    if crowd.players != players {
        crowd.players = players;
    }
}

fn deliver_answers(
    mut links: Query<&mut MessageReceiver<AnswerMessage>, With<Client>>,
    mut pawns: Query<&mut IncomingAnswers, With<LocalControl>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut link in &mut links {
        for answer in link.receive() {
            bandwidth.count(MessageClass::Answers, answer.0.len(), 1);
            if let Ok(mut mailbox) = pawns.single_mut() {
                mailbox.deliver(answer.0);
            }
        }
    }
}

/// Returns a system that delivers the server's messages of one type. One system per type: a link has no
/// receiver of a type before its first message arrives.
fn deliver<R: Raw, T: Message + Wire>(
    class: MessageClass,
    counts: fn(&T, RoundStart) -> bool,
) -> impl FnMut(
    Query<&'static mut MessageReceiver<R>, With<Client>>,
    MessageWriter<T>,
    ResMut<Bandwidth>,
    Res<RoundStart>,
) {
    move |mut links, mut heard, mut bandwidth, start| {
        for mut link in &mut links {
            let received = link.receive().inspect(|m| bandwidth.count(class, m.bytes().len(), 1));
            let read = received.filter_map(|m| T::read(&mut BitReader::new(m.bytes())).ok());
            heard.write_batch(read.filter(|one| counts(one, *start)));
        }
    }
}

/// Rejects launches of the previous match: they may arrive after the restart, and their end is never sent.
fn is_of_this_match(launch: &ProjectileLaunch, start: RoundStart) -> bool {
    !start.is_before(launch.time)
}

fn send_moves(
    mut links: Query<&mut MessageSender<MoveMessage>, (With<Client>, With<Connected>)>,
    mut pawns: Query<&mut OutgoingMoves>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut mailbox in &mut pawns {
        for bytes in mailbox.0.drain(..) {
            if let Ok(mut link) = links.single_mut() {
                bandwidth.count(MessageClass::Moves, bytes.len(), 1);
                link.send::<MoveChannel>(MoveMessage(bytes));
            }
        }
    }
}

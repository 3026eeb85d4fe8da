//! The server's end: mailboxes to messages and back, ownership, snapshots.

use core::{marker::PhantomData, time::Duration};

use bevy::{
    ecs::{error::FallbackErrorHandler, system::StaticSystemParam},
    prelude::*,
};
use bevy_unlag_core::{BitWriter, MoveModel, NetId, NetRole, VisualSystems, Wire};
use bevy_unlag_prediction::{IncomingMoves, MAX_MAILED, OutgoingAnswers, authority_pawn};
use bevy_unlag_rewind::{FrameHistory, SentLog, ViewLedger};
use bevy_unlag_weapons::{Mailed, OutgoingVerdicts, RefusedShots};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    Bandwidth, MessageClass, clock, ingress, link,
    protocol::{
        AnswerChannel, AnswerMessage, EffectChannel, EndMessage, Hello, HelloMessage, LaunchMessage,
        MoveMessage, ProtocolVersion, TracerMessage, VerdictChannel, VerdictMessage,
    },
    snapshots::{self, Outlet},
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
            .add_observer(greet::<M>)
            .add_systems(
                PreUpdate,
                (deliver_moves.after(MessageSystems::Receive), link::tell_owners.after(link::publish_rtt)),
            )
            .add_systems(
                PostUpdate,
                // Tracers get what snapshots leave.
                (snapshots::publish.before(VisualSystems::Draw), send_answers, send_verdicts)
                    .chain()
                    .before(MessageSystems::Send),
            );
        // A peer's bytes may make a lightyear system fail; that is no reason to stop serving.
        app.world_mut().get_resource_or_insert_with(|| FallbackErrorHandler(bevy::ecs::error::warn));
        ingress::plugin(app);
        clock::server_plugin(app);
        snapshots::server_plugin(app, self.snapshot_interval);
    }
}

/// The components of a networked pawn on the server: what it needs to be moved by its owner, seen
/// by everyone, remembered and shot at. Add a [`ControlledBy`] that names the owner's link: one
/// pawn a link, for as long as the pawn lives. `id` must be unique among living pawns.
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

fn greet<M: MoveModel>(
    connected: On<Add, Connected>,
    version: Res<ProtocolVersion>,
    model: Option<Res<M::Config>>,
    world: StaticSystemParam<M::World>,
    mut links: Query<&mut MessageSender<HelloMessage>, With<ClientOf>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    if let Ok(mut link) = links.get_mut(connected.entity) {
        let config = model.map_or(0, |model| M::config_hash(&model, &world));
        let mut w = BitWriter::default();
        Hello { version: version.0, config, level: M::level_hash(&world) }.write(&mut w);
        let bytes = w.finish();
        bandwidth.count(MessageClass::Hello, bytes.len(), 1);
        link.send::<VerdictChannel>(HelloMessage(bytes));
    }
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

fn send_verdicts(
    mut pawns: Query<(Option<&ControlledBy>, &mut OutgoingVerdicts)>,
    mut links: Query<
        (
            Entity,
            &mut MessageSender<VerdictMessage>,
            &mut MessageSender<TracerMessage>,
            &mut MessageSender<LaunchMessage>,
            &mut MessageSender<EndMessage>,
            &mut Outlet,
        ),
        (With<ClientOf>, With<Connected>),
    >,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (owner, mut mailbox) in &mut pawns {
        let owner = owner.map(|owner| owner.owner);
        for mailed in mailbox.0.drain(..) {
            let mut w = BitWriter::default();
            match mailed {
                Mailed::Verdict(verdict) => {
                    verdict.write(&mut w);
                    if let Some(Ok((_, mut link, ..))) = owner.map(|owner| links.get_mut(owner)) {
                        let bytes = w.finish();
                        bandwidth.count(MessageClass::Verdicts, bytes.len(), 1);
                        link.send::<VerdictChannel>(VerdictMessage(bytes));
                    }
                }
                Mailed::Tracer(tracer) => {
                    tracer.write(&mut w);
                    let bytes = w.finish();
                    for (entity, _, mut link, _, _, mut outlet) in &mut links {
                        // Characters before cosmetics.
                        if owner != Some(entity) && outlet.spare(bytes.len()) {
                            bandwidth.count(MessageClass::Tracers, bytes.len(), 1);
                            link.send::<EffectChannel>(TracerMessage(bytes.clone()));
                        }
                    }
                }
                Mailed::Launched(launch) => {
                    launch.write(&mut w);
                    let bytes = w.finish();
                    for (_, _, _, mut link, ..) in &mut links {
                        bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                        link.send::<VerdictChannel>(LaunchMessage(bytes.clone()));
                    }
                }
                Mailed::Ended(end) => {
                    end.write(&mut w);
                    let bytes = w.finish();
                    for (_, _, _, _, mut link, _) in &mut links {
                        bandwidth.count(MessageClass::Projectiles, bytes.len(), 1);
                        link.send::<VerdictChannel>(EndMessage(bytes.clone()));
                    }
                }
            }
        }
    }
}

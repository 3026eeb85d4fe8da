//! The client's end: roles for what is replicated, mailboxes to messages and back.

use core::marker::PhantomData;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_replicon::prelude::ClientReplicationStats;
use bevy_unlag_core::{BitReader, LocalControl, MoveModel, NetId, NetRole, Wire};
use bevy_unlag_prediction::{Crowd, IncomingAnswers, OutgoingMoves, SavedMoves, autonomous_pawn};
use bevy_unlag_smoothing::{Playout, SmoothingSystems, SnapshotInbox};
use bevy_unlag_weapons::{ForgetProjectiles, ProjectileEnd, ProjectileLaunch, ShotVerdict, Tracer};
use lightyear::prelude::{client::Remote, *};

use crate::{
    Bandwidth, MessageClass, bandwidth, clock, ingress, link,
    net_sim::NetSimPlugin,
    protocol::{
        AnswerMessage, EndMessage, Hello, HelloMessage, LaunchMessage, MoveChannel, MoveMessage,
        ProtocolVersion, TracerMessage, VerdictMessage,
    },
    snapshots,
};

/// The server speaks another protocol: one of the two builds is older. Written once, right after
/// the connection stands, and the connection is closed.
#[derive(Message, Clone, Copy, Debug)]
pub struct ProtocolMismatch {
    /// The server's [`ProtocolVersion`](crate::ProtocolVersion).
    pub server: u32,
    /// Our own.
    pub client: u32,
}

/// What of a client and its server is not the same, and will end in corrections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// How the pawn moves: [`MoveModel::config_hash`].
    Configuration,
    /// The fixed level: [`MoveModel::level_hash`].
    Level,
}

/// Client and server differ in something that moves depend on: written once, when the first pawn of
/// this client has appeared and its level should be there. The connection stays.
#[derive(Message, Clone, Copy, Debug)]
pub struct SetupMismatch(pub Mismatch);

/// The server's first word, until it is compared.
#[derive(Component, Clone, Copy)]
struct Announced(Hello);

/// Carries mailboxes to a server and back. Add it after lightyear's `ClientPlugins`. A client steers
/// the one pawn that the server gives it when that pawn appears.
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
        if !app.is_plugin_added::<NetSimPlugin>() {
            app.add_plugins(NetSimPlugin);
        }
        app.add_message::<ShotVerdict>()
            .add_message::<Tracer>()
            .add_message::<ProjectileLaunch>()
            .add_message::<ProjectileEnd>()
            .add_message::<ForgetProjectiles>()
            .add_message::<ProtocolMismatch>()
            .add_message::<SetupMismatch>()
            .add_observer(|added: On<Add, Client>, mut commands: Commands| {
                commands.entity(added.entity).insert((ReplicationReceiver, link::quiet_pings()));
            })
            .add_observer(leave)
            .add_systems(
                PreUpdate,
                (
                    take_hello,
                    assign_roles::<M>,
                    compare_setup::<M>,
                    deliver_answers,
                    snapshots::deliver.in_set(SmoothingSystems::Deliver),
                    deliver_verdicts,
                    deliver_tracers,
                    deliver_launches,
                    deliver_ends,
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
        ingress::client_plugin(app);
        snapshots::client_plugin(app);
    }
}

/// A replicated pawn is ours when the server says so in the very update that spawns it.
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

/// What the server's ticks were the names of is over: the next one counts anew.
fn leave(
    ended: On<Remove, Connected>,
    links: Query<(), With<Client>>,
    playout: Option<ResMut<Playout>>,
    mut forget: MessageWriter<ForgetProjectiles>,
) {
    if links.contains(ended.entity) {
        forget.write(ForgetProjectiles);
        if let Some(mut playout) = playout {
            *playout = Playout::default();
        }
    }
}

fn take_hello(
    version: Res<ProtocolVersion>,
    mut links: Query<(Entity, &mut MessageReceiver<HelloMessage>), With<Client>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut mismatch: MessageWriter<ProtocolMismatch>,
    mut commands: Commands,
) {
    for (entity, mut link) in &mut links {
        for hello in link.receive() {
            bandwidth.count(MessageClass::Hello, hello.0.len(), 1);
            let mut r = BitReader::new(&hello.0);
            // Servers of other versions say at least their version.
            let server = r.clone().bits(32).unwrap_or(0);
            match Hello::read(&mut r) {
                Ok(hello) if hello.version == version.0 => {
                    commands.entity(entity).insert(Announced(hello));
                }
                _ => {
                    mismatch.write(ProtocolMismatch { server, client: version.0 });
                    // What it sends from here on would be misread.
                    commands.trigger(Disconnect { entity });
                }
            }
        }
    }
}

/// Compares what the server announced with what is here, once the own pawn has moved: by then the
/// level is there.
fn compare_setup<M: MoveModel>(
    links: Query<(Entity, &Announced)>,
    pawns: Query<&SavedMoves<M>>,
    model: Option<Res<M::Config>>,
    world: StaticSystemParam<M::World>,
    mut mismatch: MessageWriter<SetupMismatch>,
    mut commands: Commands,
) {
    if !pawns.iter().any(|saved| saved.last_made().is_some()) {
        return;
    }
    for (entity, Announced(hello)) in &links {
        commands.entity(entity).remove::<Announced>();
        if model.as_ref().is_some_and(|model| M::config_hash(model, &world) != hello.config) {
            warn!("the server's movement configuration is another than this client's: expect corrections");
            mismatch.write(SetupMismatch(Mismatch::Configuration));
        }
        if M::level_hash(&world) != hello.level {
            warn!("the server's level is another than this client's: expect corrections");
            mismatch.write(SetupMismatch(Mismatch::Level));
        }
    }
}

/// Sending is throttled in a crowd.
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

fn deliver_verdicts(
    mut links: Query<&mut MessageReceiver<VerdictMessage>, With<Client>>,
    mut verdicts: MessageWriter<ShotVerdict>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut link in &mut links {
        let received = link.receive().inspect(|m| bandwidth.count(MessageClass::Verdicts, m.0.len(), 1));
        verdicts.write_batch(received.filter_map(|m| ShotVerdict::read(&mut BitReader::new(&m.0)).ok()));
    }
}

fn deliver_tracers(
    mut links: Query<&mut MessageReceiver<TracerMessage>, With<Client>>,
    mut tracers: MessageWriter<Tracer>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut link in &mut links {
        let received = link.receive().inspect(|m| bandwidth.count(MessageClass::Tracers, m.0.len(), 1));
        tracers.write_batch(received.filter_map(|m| Tracer::read(&mut BitReader::new(&m.0)).ok()));
    }
}

/// By itself: a link has no receiver of ends before the first end.
fn deliver_launches(
    mut links: Query<&mut MessageReceiver<LaunchMessage>, With<Client>>,
    mut launches: MessageWriter<ProjectileLaunch>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut link in &mut links {
        let received = link.receive().inspect(|m| bandwidth.count(MessageClass::Projectiles, m.0.len(), 1));
        launches.write_batch(received.filter_map(|m| ProjectileLaunch::read(&mut BitReader::new(&m.0)).ok()));
    }
}

fn deliver_ends(
    mut links: Query<&mut MessageReceiver<EndMessage>, With<Client>>,
    mut ends: MessageWriter<ProjectileEnd>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut link in &mut links {
        let received = link.receive().inspect(|m| bandwidth.count(MessageClass::Projectiles, m.0.len(), 1));
        ends.write_batch(received.filter_map(|m| ProjectileEnd::read(&mut BitReader::new(&m.0)).ok()));
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
                bandwidth.count(MessageClass::Moves, bytes.len(), 1);
                link.send::<MoveChannel>(MoveMessage(bytes));
            }
        }
    }
}

//! Handshake: checks that client and server agree on protocol version, registered types, configuration and
//! level.

use core::{fmt, time::Duration};

use bevy::{
    ecs::{message::Message, system::SystemParam},
    prelude::*,
};
use bevy_replicon::{
    client::ClientSystems, prelude::ClientState as ReplicationState, shared::protocol::ProtocolHash,
};
use bevy_unlag_core::{SetupDiagnostics, SimulationRate, Wire};
use lightyear::prelude::{server::ClientOf, *};
use lightyear_guard::{
    IngressRefusal, Kick, KickReason, PendingKick, SetupDifference, client_name, record_refusal,
};

use super::{
    SessionConfig,
    missing_hello::{self, HelloAccepted},
    rates::{JoinConfig, RateMismatch},
};
use crate::{
    bandwidth::Bandwidth,
    models::{NetModels, any_pawn_has_moved, current_setup},
    protocol::{Hello, HelloMessage, ProtocolVersion, Setup, SetupChannel, SetupMessage},
    session::match_epoch::{KnownEpoch, MatchEpoch},
};

/// Client and server have different protocols. Written once on the client, right after it has connected; the
/// connection is then closed. `Display` tells the player what to do.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ProtocolMismatch {
    /// The server's [`ProtocolVersion`](crate::ProtocolVersion).
    pub server: u32,
    /// This client's version. If both are equal, the two games have registered different messages, channels
    /// or components.
    pub client: u32,
}

impl fmt::Display for ProtocolMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, client } = self;
        if server == client {
            return write!(
                f,
                "the server runs another build of version {client}: install the same build on both"
            );
        }
        let older = if server > client { "this client" } else { "the server" };
        write!(f, "the server speaks protocol {server}, this client speaks {client}; update {older}")
    }
}

/// Client and server differ in a setting that moves depend on. Written on the client, once per match, after
/// its own pawn has moved and its level should be loaded. The server's [`SetupRule`] decides whether the
/// client may stay; if not, a [`KickedByServer`](lightyear_guard::KickedByServer) follows. `Display` says
/// what to do.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct SetupMismatch(pub SetupDifference);

impl fmt::Display for SetupMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reaction of a server to a client with a different movement configuration or level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum SetupRule {
    /// Both sides log a warning and the client stays: it is corrected where the two differ. For development.
    #[default]
    Warn,
    /// The client is kicked with the reason. The client reports its own hashes, so this helps players and is
    /// no defence against cheats: a client that lies is merely corrected.
    Refuse,
}

/// On the client's link: the server's setup, until it is compared.
#[derive(Component, Clone, Copy)]
pub(super) struct PendingSetup(pub Setup);

/// Registries of the game's messages, components and channels, for hashing.
#[derive(SystemParam)]
struct Registries<'w> {
    messages: Option<ResMut<'w, MessageRegistry>>,
    components: Option<ResMut<'w, ComponentRegistry>>,
    channels: Option<ResMut<'w, ChannelRegistry>>,
    game: Res<'w, crate::messages::GameMessageTypes>,
    models: Option<Res<'w, NetModels>>,
    #[cfg(feature = "smoothing")]
    states: (Res<'w, crate::pawn_state::PawnStateTypes>, Res<'w, crate::pawn_event_types::PawnEventTypes>),
    /// Hash of the replicated components and their rules, which lightyear's own check does not cover.
    replication: Option<Res<'w, ProtocolHash>>,
}

impl Registries<'_> {
    /// Returns a hash that is equal for apps with the same registrations.
    fn hash(&mut self) -> u32 {
        let parts = [
            self.messages.as_mut().map_or(0, |messages| messages.finish()),
            self.components.as_mut().map_or(0, |components| components.finish()),
            self.channels.as_mut().map_or(0, |channels| channels.finish()),
            self.game.hash(),
            self.models.as_deref().map_or(0, NetModels::hash),
            #[cfg(feature = "smoothing")]
            self.states.0.hash(&self.states.1),
            self.replication.as_deref().map_or(0, number),
        ];
        parts.into_iter().fold(0x811c_9dc5, |hash: u32, part| {
            let folded = (part ^ part >> 32) as u32;
            (hash ^ folded).wrapping_mul(0x0100_0193).rotate_left(7)
        })
    }
}

/// Returns a hash that is equal for apps with the same registrations.
#[cfg(feature = "record")]
pub(crate) fn registry_hash(world: &mut World) -> u32 {
    world.run_system_cached(|mut registries: Registries| registries.hash()).unwrap_or(0)
}

/// Extracts the number from `bevy_replicon`'s hash, which only implements `Debug`.
fn number(hash: &ProtocolHash) -> u64 {
    let digits = format!("{hash:?}");
    digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

pub(super) fn server_plugin(app: &mut App) {
    app.add_observer(send_hello)
        .add_systems(PreUpdate, receive_setups.pipe(compare_client_setups).after(MessageSystems::Receive));
}

pub(super) fn client_plugin(app: &mut App) {
    app.init_resource::<JoinConfig>()
        .add_message::<ProtocolMismatch>()
        .add_message::<RateMismatch>()
        .add_message::<SetupMismatch>()
        .add_observer(|connected: On<Add, Connected>, mut commands: Commands| {
            commands.entity(connected.entity).try_remove::<HelloAccepted>();
        })
        // Replication that arrives before the hello waits for it.
        .configure_sets(PreUpdate, ClientSystems::Receive.run_if(is_understood))
        .configure_sets(OnEnter(ReplicationState::Connected), ClientSystems::Receive.run_if(is_understood))
        .add_systems(
            PreUpdate,
            (receive_hello, compare_setup.run_if(any_with_component::<PendingSetup>))
                .chain()
                .after(MessageSystems::Receive)
                .after(ReplicationSystems::Receive),
        );
}

fn is_understood(links: Query<(), (With<Client>, With<HelloAccepted>)>) -> bool {
    !links.is_empty()
}

fn send_hello(
    connected: On<Add, Connected>,
    links: Query<(), (With<MessageSender<HelloMessage>>, With<ClientOf>)>,
    mut commands: Commands,
) {
    let entity = connected.entity;
    if links.contains(entity) {
        commands.queue(move |world: &mut World| {
            let epoch = world.resource::<MatchEpoch>().number;
            let setup = current_setup(world, epoch, None);
            // Fails only if the link has gone in the meantime.
            let _ = world.run_system_cached_with(write_hello, (entity, setup));
        });
    }
}

fn write_hello(
    In((entity, setup)): In<(Entity, Setup)>,
    version: Res<ProtocolVersion>,
    mut registries: Registries,
    (fixed, rate): (Res<Time<Fixed>>, Res<SimulationRate>),
    mut links: Query<&mut MessageSender<HelloMessage>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let Ok(mut link) = links.get_mut(entity) else { return };
    let tick = u32::try_from(fixed.timestep().as_nanos()).unwrap_or(u32::MAX);
    let snapshot_ticks = rate.snapshot_ticks.min(255) as u8;
    let hello = Hello { version: version.0, registry: registries.hash(), tick, snapshot_ticks, setup };
    bandwidth.send(&mut link, hello.to_bytes());
}

fn receive_hello(
    version: Res<ProtocolVersion>,
    mut registries: Registries,
    mut links: Query<(Entity, &mut MessageReceiver<HelloMessage>, Has<KnownEpoch>), With<Client>>,
    mut bandwidth: ResMut<Bandwidth>,
    (fixed, rate, join): (Res<Time<Fixed>>, Res<SimulationRate>, Res<JoinConfig>),
    (mut mismatch, mut rates): (MessageWriter<ProtocolMismatch>, MessageWriter<RateMismatch>),
    mut diagnostics: ResMut<SetupDiagnostics>,
    mut commands: Commands,
) {
    for (entity, mut link, overtaken) in &mut links {
        for hello in bandwidth.receive(&mut link) {
            // Servers of any version send at least their version.
            let server = u32::from_bytes(&hello.0).unwrap_or(0);
            match Hello::from_bytes(&hello.0) {
                Ok(hello) if hello.version == version.0 && hello.registry == registries.hash() => {
                    let server = SimulationRate {
                        tick: Duration::from_nanos(hello.tick.into()),
                        snapshot_ticks: hello.snapshot_ticks.into(),
                    };
                    let own = SimulationRate { tick: fixed.timestep(), ..*rate };
                    if let Some(found) = RateMismatch::between(server, own) {
                        warn!("{found}");
                        rates.write(found);
                        if !join.allow_other_rates {
                            commands.trigger(Disconnect { entity });
                            continue;
                        }
                    }
                    commands.entity(entity).insert(HelloAccepted);
                    // The announcement of a new match may arrive before the hello.
                    if !overtaken {
                        commands.entity(entity).insert(PendingSetup(hello.setup));
                    }
                }
                hello => {
                    // An unreadable message is most likely not a hello: see `missing_hello`.
                    if hello.is_err() || server == version.0 {
                        missing_hello::report(&mut diagnostics);
                    }
                    let found = ProtocolMismatch { server, client: version.0 };
                    warn!("{found}");
                    mismatch.write(found);
                    // Later data of that server would be misread.
                    commands.trigger(Disconnect { entity });
                }
            }
        }
    }
}

/// Compares the announced setup with this client's, once its own pawn has moved: by then the level is loaded.
/// Sends the client's setup to the server.
fn compare_setup(
    world: &mut World,
    links: &mut QueryState<(Entity, &PendingSetup), (With<Connected>, With<MessageSender<SetupMessage>>)>,
) {
    if !any_pawn_has_moved(world) {
        return;
    }
    let pending: Vec<_> = links.iter(world).map(|(entity, pending)| (entity, pending.0)).collect();
    for (entity, server) in pending {
        let own = current_setup(world, server.epoch, Some(&server));
        for found in differences(&server, &own) {
            warn!("{found}; in development, {}", advice(found));
            world.write_message(SetupMismatch(found));
        }
        let mut link = world.entity_mut(entity);
        link.remove::<PendingSetup>();
        if let Some(mut sender) = link.get_mut::<MessageSender<SetupMessage>>() {
            sender.send::<SetupChannel>(SetupMessage(own.to_bytes()));
        }
    }
}

fn differences(server: &Setup, client: &Setup) -> impl Iterator<Item = SetupDifference> {
    let configuration = (server.config != client.config).then_some(SetupDifference::Configuration);
    let level = (server.level != client.level).then_some(SetupDifference::Level);
    configuration.into_iter().chain(level)
}

/// Returns what a developer does about a difference. Its `Display` is for players.
fn advice(found: SetupDifference) -> &'static str {
    match found {
        SetupDifference::Configuration => "insert equal configurations of the movement models on both sides",
        SetupDifference::Level => "spawn the same colliders on both sides",
    }
}

/// The match for which a client's setup was compared.
#[derive(Component, Clone, Copy)]
struct ComparedIn(u8);

type SetupLink =
    (Entity, &'static RemoteId, &'static mut MessageReceiver<SetupMessage>, Option<&'static ComparedIn>);

/// Returns the setups that clients have sent, the first of each match and client: hashing a large level takes
/// time.
fn receive_setups(
    epoch: Res<MatchEpoch>,
    mut links: Query<SetupLink, (With<ClientOf>, Without<PendingKick>)>,
    mut commands: Commands,
) -> Vec<(Entity, PeerId, Setup)> {
    let mut received = Vec::new();
    for (entity, peer, mut link, checked) in &mut links {
        let mut checked = checked.map(|checked| checked.0);
        for message in link.receive() {
            let Ok(client) = Setup::from_bytes(&message.0) else {
                commands
                    .queue(move |world: &mut World| record_refusal(world, entity, IngressRefusal::Content));
                continue;
            };
            // Ignores setups of a previous match, and repetitions.
            if client.epoch != epoch.number || epoch.is_pending() || checked == Some(epoch.number) {
                continue;
            }
            checked = Some(epoch.number);
            commands.entity(entity).insert(ComparedIn(epoch.number));
            received.push((entity, peer.0, client));
        }
    }
    received
}

/// Compares clients' setups with the server's.
fn compare_client_setups(In(received): In<Vec<(Entity, PeerId, Setup)>>, world: &mut World) {
    for (entity, peer, client) in received {
        let server = current_setup(world, client.epoch, None);
        let Some(found) = differences(&server, &client).next() else { continue };
        warn!(
            target: "bevy_unlag::setup",
            client = %client_name(peer),
            difference = ?found,
            advice = advice(found),
            "a client's setup differs from the server's"
        );
        if world.resource::<SessionConfig>().setup == SetupRule::Refuse {
            world.trigger(Kick { entity, reason: KickReason::Setup(found) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_mismatch_tells_the_older_side_to_update() {
        let line = |server, client| ProtocolMismatch { server, client }.to_string();
        assert!(line(9, 8).ends_with("update this client"));
        assert!(line(7, 8).ends_with("update the server"));
        assert!(line(8, 8).contains("another build of version 8"));
    }

    #[test]
    fn setup_differences_are_named_and_a_setup_survives_a_round_trip() {
        let server = Setup { epoch: 200, config: 1, level: u32::MAX };
        assert_eq!(Setup::from_bytes(&server.to_bytes()), Ok(server));
        let found = |config, level| -> Vec<_> {
            differences(&server, &Setup { epoch: 200, config, level }).collect()
        };
        assert_eq!(found(1, u32::MAX), []);
        assert_eq!(found(2, u32::MAX), [SetupDifference::Configuration]);
        assert_eq!(found(2, 3), [SetupDifference::Configuration, SetupDifference::Level]);
    }
}

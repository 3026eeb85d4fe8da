//! Whether client and server fit together: version, what is registered, configuration, level.

use core::{fmt, time::Duration};

use bevy::{
    ecs::{message::Message, system::StaticSystemParam, system::SystemParam},
    prelude::*,
};
use bevy_replicon::{
    client::ClientSystems, prelude::ClientState as ReplicationState, shared::protocol::ProtocolHash,
};
use bevy_unlag_core::{BitReader, Findings, MoveModel, Wire};
use bevy_unlag_prediction::SavedMoves;
use lightyear::prelude::{server::ClientOf, *};

use super::{
    SessionConfig,
    restart::{KnownRound, Round},
};
use crate::{
    Bandwidth, Kick, KickReason, MessageClass, Refusal,
    diagnostics::compare_with_server,
    ingress::{Leaving, refuse},
    protocol::{
        Hello, HelloMessage, ProtocolVersion, Setup, SetupChannel, SetupMessage, VerdictChannel, bytes,
    },
};

/// The server speaks another protocol: one of the two builds is older. Written once, right after
/// the connection stands, and the connection is closed. Its text says what is to be done.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtocolMismatch {
    /// The server's [`ProtocolVersion`](crate::ProtocolVersion).
    pub server: u32,
    /// Our own. When both are the same, the two games have registered other messages, channels or components.
    pub client: u32,
}

impl fmt::Display for ProtocolMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, client } = self;
        if server == client {
            return write!(
                f,
                "the server's game is another build of version {client}: install the same one on both"
            );
        }
        let older = if server > client { "this client" } else { "the server" };
        write!(f, "the server speaks protocol {server}, this client {client}; update {older}")
    }
}

/// What of a client and its server is not the same, and will end in corrections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mismatch {
    /// How the pawn moves: [`MoveModel::config_hash`].
    Configuration,
    /// The fixed level: [`MoveModel::level_hash`].
    Level,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configuration => {
                "this game moves by other rules than the server: install the server's version and its mods"
            }
            Self::Level => "this game's level is not the server's: install the server's version of the map",
        })
    }
}

/// Client and server differ in something that moves depend on: written on the client, once for a match, when its
/// own pawn has moved and its level should be there. Whether it may stay is the server's
/// [`SetupRule`]; if not, a [`KickedByServer`](crate::KickedByServer) follows. Its text says what is to be done.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetupMismatch(pub Mismatch);

impl fmt::Display for SetupMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a server does with a client whose movement configuration or level is another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SetupRule {
    /// Both sides log it and the client stays: it is corrected where the two differ. For development.
    #[default]
    Warn,
    /// The client is thrown out, and hears why. It says itself what it has, so this is for players and no defence
    /// against cheats: who lies only gets the corrections.
    Refuse,
}

/// The server's setup, until it is compared. On the client's link.
#[derive(Component, Clone, Copy)]
pub(super) struct Announced(pub Setup);

/// On a client's link: the server's first word fits. Nothing is replicated before: replicon panics at a component that
/// is not registered here.
#[derive(Component)]
struct Understood;

/// What the game has registered, as lightyear counts it.
#[derive(SystemParam)]
struct Registries<'w> {
    messages: Option<ResMut<'w, MessageRegistry>>,
    components: Option<ResMut<'w, ComponentRegistry>>,
    channels: Option<ResMut<'w, ChannelRegistry>>,
    game: Res<'w, crate::messages::Kinds>,
    /// What is replicated, and how: lightyear's own check does not know of it.
    replication: Option<Res<'w, ProtocolHash>>,
}

impl Registries<'_> {
    /// The same for apps that understand each other.
    fn hash(&mut self) -> u32 {
        let parts = [
            self.messages.as_mut().map_or(0, |messages| messages.finish()),
            self.components.as_mut().map_or(0, |components| components.finish()),
            self.channels.as_mut().map_or(0, |channels| channels.finish()),
            self.game.hash(),
            self.replication.as_deref().map_or(0, number),
        ];
        parts.into_iter().fold(0x811c_9dc5, |hash: u32, part| {
            let folded = (part ^ part >> 32) as u32;
            (hash ^ folded).wrapping_mul(0x0100_0193).rotate_left(7)
        })
    }
}

/// replicon shows its hash only to people.
fn number(hash: &ProtocolHash) -> u64 {
    let digits = format!("{hash:?}");
    digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

pub(super) fn server_plugin<M: MoveModel>(app: &mut App) {
    app.add_observer(greet::<M>).add_systems(PreUpdate, judge_setups::<M>.after(MessageSystems::Receive));
}

pub(super) fn client_plugin<M: MoveModel>(app: &mut App) {
    app.add_message::<ProtocolMismatch>()
        .add_message::<SetupMismatch>()
        .add_observer(|connected: On<Add, Connected>, mut commands: Commands| {
            commands.entity(connected.entity).try_remove::<Understood>();
        })
        // What comes before the first word waits for it.
        .configure_sets(PreUpdate, ClientSystems::Receive.run_if(is_understood))
        .configure_sets(OnEnter(ReplicationState::Connected), ClientSystems::Receive.run_if(is_understood))
        .add_systems(
            PreUpdate,
            (take_hello, compare_setup::<M>)
                .chain()
                .after(MessageSystems::Receive)
                .after(ReplicationSystems::Receive),
        );
}

fn is_understood(links: Query<(), (With<Client>, With<Understood>)>) -> bool {
    !links.is_empty()
}

/// What the server has, now.
pub(super) fn setup_of<M: MoveModel>(
    round: u8,
    model: Option<&M::Config>,
    world: &bevy::ecs::system::SystemParamItem<M::World>,
) -> Setup {
    let config = model.map_or(0, |model| M::config_hash(model, world));
    Setup { round, config, level: M::level_hash(world) }
}

fn greet<M: MoveModel>(
    connected: On<Add, Connected>,
    (version, round): (Res<ProtocolVersion>, Res<Round>),
    mut registries: Registries,
    model: Option<Res<M::Config>>,
    world: StaticSystemParam<M::World>,
    fixed: Res<Time<Fixed>>,
    mut links: Query<&mut MessageSender<HelloMessage>, With<ClientOf>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    if let Ok(mut link) = links.get_mut(connected.entity) {
        let setup = setup_of::<M>(round.number, model.as_deref(), &world);
        let tick = u32::try_from(fixed.timestep().as_nanos()).unwrap_or(u32::MAX);
        let bytes = bytes(&Hello { version: version.0, registry: registries.hash(), tick, setup });
        bandwidth.count(MessageClass::Hello, bytes.len(), 1);
        link.send::<VerdictChannel>(HelloMessage(bytes));
    }
}

fn take_hello(
    version: Res<ProtocolVersion>,
    mut registries: Registries,
    mut links: Query<(Entity, &mut MessageReceiver<HelloMessage>, Has<KnownRound>), With<Client>>,
    mut bandwidth: ResMut<Bandwidth>,
    fixed: Res<Time<Fixed>>,
    mut findings: ResMut<Findings>,
    mut mismatch: MessageWriter<ProtocolMismatch>,
    mut commands: Commands,
) {
    for (entity, mut link, overtaken) in &mut links {
        for hello in link.receive() {
            bandwidth.count(MessageClass::Hello, hello.0.len(), 1);
            let mut r = BitReader::new(&hello.0);
            // Servers of other versions say at least their version.
            let server = r.clone().bits(32).unwrap_or(0);
            match Hello::read(&mut r) {
                Ok(hello) if hello.version == version.0 && hello.registry == registries.hash() => {
                    let tick = Duration::from_nanos(hello.tick.into());
                    compare_with_server(tick, fixed.timestep(), &mut findings);
                    commands.entity(entity).insert(Understood);
                    // Word of a new match may be here before the first word of all.
                    if !overtaken {
                        commands.entity(entity).insert(Announced(hello.setup));
                    }
                }
                _ => {
                    let found = ProtocolMismatch { server, client: version.0 };
                    warn!("{found}");
                    mismatch.write(found);
                    // What it sends from here on would be misread.
                    commands.trigger(Disconnect { entity });
                }
            }
        }
    }
}

/// Compares what the server announced with what is here, once the own pawn has moved: by then the
/// level is there. The server hears of it.
fn compare_setup<M: MoveModel>(
    mut links: Query<(Entity, &Announced, &mut MessageSender<SetupMessage>), With<Connected>>,
    pawns: Query<&SavedMoves<M>>,
    model: Option<Res<M::Config>>,
    world: StaticSystemParam<M::World>,
    mut mismatch: MessageWriter<SetupMismatch>,
    mut commands: Commands,
) {
    if !pawns.iter().any(|saved| saved.last_made().is_some()) {
        return;
    }
    for (entity, Announced(server), mut link) in &mut links {
        commands.entity(entity).remove::<Announced>();
        let mut own = setup_of::<M>(server.round, model.as_deref(), &world);
        if model.is_none() {
            own.config = server.config;
        }
        for found in differences(server, &own) {
            warn!("{found}");
            mismatch.write(SetupMismatch(found));
        }
        link.send::<SetupChannel>(SetupMessage(bytes(&own)));
    }
}

fn differences(server: &Setup, client: &Setup) -> impl Iterator<Item = Mismatch> {
    let configuration = (server.config != client.config).then_some(Mismatch::Configuration);
    let level = (server.level != client.level).then_some(Mismatch::Level);
    configuration.into_iter().chain(level)
}

/// The match in which a client has said what it has.
#[derive(Component, Clone, Copy)]
struct JudgedIn(u8);

type Speaker =
    (Entity, &'static RemoteId, &'static mut MessageReceiver<SetupMessage>, Option<&'static JudgedIn>);

/// Hears what clients have: once in a match. A level is large, and looking at it takes time.
fn judge_setups<M: MoveModel>(
    (config, round): (Res<SessionConfig>, Res<Round>),
    model: Option<Res<M::Config>>,
    world: StaticSystemParam<M::World>,
    mut links: Query<Speaker, (With<ClientOf>, Without<Leaving>)>,
    mut commands: Commands,
) {
    for (entity, peer, mut link, judged) in &mut links {
        let mut judged = judged.map(|judged| judged.0);
        for message in link.receive() {
            let Ok(client) = Setup::read(&mut BitReader::new(&message.0)) else {
                commands.queue(move |world: &mut World| refuse(world, entity, Refusal::Content));
                continue;
            };
            // What it has of a match that is over is nobody's concern.
            if client.round != round.number || round.is_pending() || judged == Some(round.number) {
                continue;
            }
            judged = Some(round.number);
            commands.entity(entity).insert(JudgedIn(round.number));
            let server = setup_of::<M>(round.number, model.as_deref(), &world);
            let Some(found) = differences(&server, &client).next() else { continue };
            warn!("client {:?} differs from this server in its {found:?}", peer.0);
            if config.setup == SetupRule::Refuse {
                commands.trigger(Kick { entity, reason: KickReason::Setup(found) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::BitWriter;

    use super::*;

    #[test]
    fn whoever_is_older_is_told_to_update() {
        let line = |server, client| ProtocolMismatch { server, client }.to_string();
        assert!(line(9, 8).ends_with("update this client"));
        assert!(line(7, 8).ends_with("update the server"));
        assert!(line(8, 8).contains("another build of version 8"));
    }

    #[test]
    fn what_differs_is_named_and_a_setup_survives_the_wire() {
        let server = Setup { round: 200, config: 1, level: u32::MAX };
        let mut w = BitWriter::default();
        server.write(&mut w);
        assert_eq!(Setup::read(&mut BitReader::new(&w.finish())), Ok(server));
        let found = |config, level| -> Vec<_> {
            differences(&server, &Setup { round: 200, config, level }).collect()
        };
        assert_eq!(found(1, u32::MAX), []);
        assert_eq!(found(2, u32::MAX), [Mismatch::Configuration]);
        assert_eq!(found(2, 3), [Mismatch::Configuration, Mismatch::Level]);
    }
}

//! Wire protocol: version, channels and messages. Most messages are opaque bytes that other crates of the
//! suite encode.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Wire, WireError};
use lightyear::prelude::*;
use lightyear_guard::BindMessage;
use lightyear_serde::{SerializationError, reader::Reader, registry::SerializeFns, writer::Writer};

use crate::{link::GameSpeed, message_class::MessageClass, model_index::ModelIndex};

/// Version of the wire protocol; changes with every change of the format. A client and a server with
/// different versions refuse each other with an error that names both.
pub const PROTOCOL_VERSION: u32 = 21;

/// The protocol version that this app announces. Default [`PROTOCOL_VERSION`]. A game whose own messages
/// change may set its own number; client and server must agree.
#[doc(alias = "FNetworkVersion")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ProtocolVersion(pub u32);

impl Default for ProtocolVersion {
    fn default() -> Self {
        Self(PROTOCOL_VERSION)
    }
}

/// Data that must be equal on client and server during a match.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setup {
    /// Match number on this server; wraps after 255.
    pub epoch: u8,
    /// [`MoveDiagnostics::config_hash`](bevy_unlag_core::MoveDiagnostics::config_hash).
    pub config: u32,
    /// [`MoveDiagnostics::level_hash`](bevy_unlag_core::MoveDiagnostics::level_hash).
    pub level: u32,
}

/// The first message of a server after a client connects.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hello {
    /// The [`ProtocolVersion`]. Always the first field, so that every version can read it.
    pub version: u32,
    /// Hash of the messages, channels and components that the game has registered.
    pub registry: u32,
    /// Tick duration in nanoseconds.
    pub tick: u32,
    /// Ticks between two snapshots, 1 to 64.
    pub snapshot_ticks: u8,
    pub setup: Setup,
}

/// The speed of the server's game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SpeedAnnouncement {
    /// Number of the announcement; wraps after 255.
    pub number: u8,
    /// Speed from 0 to [`GameSpeed::MAX`]; 1 is real time.
    pub speed: f32,
}

impl Wire for SpeedAnnouncement {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.number), 8);
        w.bits(self.speed.to_bits(), 32);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (number, speed) = (r.bits(8)? as u8, f32::from_bits(r.bits(32)?));
        if (0.0..=GameSpeed::MAX).contains(&speed) {
            Ok(Self { number, speed })
        } else {
            Err(WireError::Invalid)
        }
    }
}

/// Largest message of the suite, in bytes; larger ones are rejected.
pub(crate) const MAX_MESSAGE_BYTES: u16 = 1_100;

#[cfg(feature = "prediction")]
/// Moves: unordered, unreliable. The newest wins.
pub(crate) struct MoveChannel;
#[cfg(feature = "prediction")]
/// Move acknowledgements and corrections: unordered, unreliable. The newest wins.
pub(crate) struct MoveAckChannel;
#[cfg(feature = "smoothing")]
/// Pawn snapshots: unordered, unreliable. The newest wins.
pub(crate) struct SnapshotChannel;
#[cfg(feature = "smoothing")]
/// Clock synchronisation, both ways: unordered, unreliable.
pub(crate) struct ClockChannel;
/// Verdicts, projectiles and session messages from the server: unordered, reliable.
pub(crate) struct ServerEventChannel;
#[cfg(feature = "weapons")]
/// Cosmetic shot effects (tracers): unordered, unreliable.
pub(crate) struct EffectChannel;
/// A client's [`Setup`]: unordered, reliable.
pub(crate) struct SetupChannel;
/// A game's own reliable messages, both ways: ordered.
pub(crate) struct GameReliableChannel;
/// A game's own unreliable messages, both ways: unordered.
pub(crate) struct GameUnreliableChannel;
/// The stream of the recording for spectators: ordered, reliable.
pub(crate) struct SpectatorChannel;

/// A message whose bytes another module encodes and decodes.
pub(crate) trait OpaqueMessage: Send + Sync + 'static {
    fn bytes(&self) -> &[u8];
    fn from_bytes(bytes: Vec<u8>) -> Self;
}

/// An opaque message that always travels on one channel and counts as one class.
pub(crate) trait ClassifiedMessage: OpaqueMessage {
    type Channel: Channel;
    const CLASS: MessageClass;
}

/// Declares opaque messages with their direction and, where there is only one, with their class and channel.
/// `$register` registers them in this order.
macro_rules! opaque_messages {
    ($register:ident: $(
        $(#[$meta:meta])*
        $name:ident: $direction:ident $(, $class:ident on $channel:ident)?;
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug)]
            pub(crate) struct $name(pub Vec<u8>);

            impl OpaqueMessage for $name {
                fn bytes(&self) -> &[u8] {
                    &self.0
                }

                fn from_bytes(bytes: Vec<u8>) -> Self {
                    Self(bytes)
                }
            }

            $(
                impl ClassifiedMessage for $name {
                    type Channel = $channel;
                    const CLASS: MessageClass = MessageClass::$class;
                }
            )?
        )*

        fn $register(app: &mut App) {
            $(register::<$name>(app, NetworkDirection::$direction);)*
        }
    };
}

#[cfg(feature = "prediction")]
opaque_messages! { register_prediction:
    /// A [`MovePacket`](bevy_unlag_prediction::MovePacket).
    MoveMessage: ClientToServer, Moves on MoveChannel;
    /// A [`MoveAck`](bevy_unlag_prediction::MoveAck).
    MoveAckMessage: ServerToClient, MoveAcks on MoveAckChannel;
    /// The id of a pawn, and a [`ControlOffer`](bevy_unlag_prediction::ControlOffer) of it.
    ControlOfferMessage: ServerToClient, MoveAcks on MoveAckChannel;
    /// First tick of the client's moves that no pawn obeys, if the server knows it.
    ControlEndMessage: ServerToClient, MoveAcks on ServerEventChannel;
}

#[cfg(feature = "smoothing")]
opaque_messages! { register_smoothing:
    /// Changes of pawn states.
    PawnStateMessage: ServerToClient, PawnStates on ServerEventChannel;
    /// Pawns whose snapshots are withheld from now on.
    OutOfSightMessage: ServerToClient, PawnStates on ServerEventChannel;
    /// The [`ProxyUpdate`](bevy_unlag_core::ProxyUpdate)s of several pawns.
    SnapshotMessage: ServerToClient, Snapshots on SnapshotChannel;
    /// A [`ClockPing`](crate::clock::ClockPing).
    PingMessage: ClientToServer, Pings on ClockChannel;
    /// A [`ClockPong`](crate::clock::ClockPong).
    PongMessage: ServerToClient, Pongs on ClockChannel;
}

#[cfg(feature = "weapons")]
opaque_messages! { register_weapons:
    /// A [`ShotVerdict`](bevy_unlag_weapons::ShotVerdict).
    VerdictMessage: ServerToClient, Verdicts on ServerEventChannel;
    /// The [`Tracer`](bevy_unlag_weapons::Tracer)s of a frame.
    TracerMessage: ServerToClient, Tracers on EffectChannel;
    /// A [`ProjectileLaunch`](bevy_unlag_weapons::ProjectileLaunch).
    ProjectileLaunchMessage: ServerToClient, Projectiles on ServerEventChannel;
    /// A [`ProjectileEnd`](bevy_unlag_weapons::ProjectileEnd).
    ProjectileEndMessage: ServerToClient, Projectiles on ServerEventChannel;
    /// The [`ScreenRules`](bevy_unlag_weapons::ScreenRules) with the number of their change.
    ScreenRulesMessage: ServerToClient, Hello on ServerEventChannel;
}

opaque_messages! { register_common:
    /// The server's first message after connecting: its [`Hello`].
    HelloMessage: ServerToClient, Hello on ServerEventChannel;
    /// A client's own [`Setup`].
    SetupMessage: ClientToServer;
    /// Start of a new match: its [`Setup`] and its first tick.
    RestartMessage: ServerToClient, Hello on ServerEventChannel;
    /// Announcement that the server will stop: a [`ServerShutdown`](crate::ServerShutdown).
    ShutdownMessage: ServerToClient, Hello on ServerEventChannel;
    /// A new speed of the server's game: a [`SpeedAnnouncement`].
    GameSpeedMessage: ServerToClient, Hello on ServerEventChannel;
    /// The schedule of a movement base; see [`BaseScheduleMailbox`](bevy_unlag_core::BaseScheduleMailbox).
    BaseScheduleMessage: ServerToClient, Hello on ServerEventChannel;
    /// The next bytes of the stream of the recording.
    SpectatorMessage: ServerToClient, Spectators on SpectatorChannel;
    /// A game's own reliable message, in the envelope of [`messages`](crate::messages).
    GameReliableMessage: Bidirectional;
    /// A game's own unreliable message, in the same envelope.
    GameUnreliableMessage: Bidirectional;
}

fn serialize<R: OpaqueMessage>(message: &R, w: &mut Writer) -> Result<(), SerializationError> {
    w.extend_from_slice(message.bytes());
    Ok(())
}

fn deserialize<R: OpaqueMessage>(r: &mut Reader) -> Result<R, SerializationError> {
    let bytes = r.take_remaining();
    if bytes.len() > usize::from(MAX_MESSAGE_BYTES) {
        return Err(SerializationError::InvalidValue);
    }
    Ok(R::from_bytes(bytes.to_vec()))
}

/// Registers the channels, messages and replicated components of the suite. Both sides add it after
/// lightyear's plugins and before a game's own protocol, in the same order.
#[derive(Default)]
pub struct UnlagProtocolPlugin;

impl Plugin for UnlagProtocolPlugin {
    fn build(&self, app: &mut App) {
        let unreliable = |priority| ChannelSettings {
            mode: ChannelMode::UnorderedUnreliable,
            priority,
            retry_unsent_messages: false,
            ..default()
        };
        let resend = ReliableSettings {
            // Without a minimum, the round trip of 0 on a fresh link would resend every frame.
            rtt_resend_min_delay: core::time::Duration::from_millis(30),
            ..default()
        };
        let reliable =
            ChannelSettings { mode: ChannelMode::UnorderedReliable(resend), priority: 95.0, ..default() };
        app.init_resource::<ProtocolVersion>();
        // Priorities order a server's packets, see `packet_order`. Replicon's channels have 10 and 1; reliable messages
        // gain priority while they wait.
        #[cfg(feature = "prediction")]
        app.add_channel::<MoveChannel>(unreliable(100.0)).add_direction(NetworkDirection::ClientToServer);
        #[cfg(feature = "prediction")]
        app.add_channel::<MoveAckChannel>(unreliable(100.0)).add_direction(NetworkDirection::ServerToClient);
        #[cfg(feature = "smoothing")]
        // Below what a pawn's owner waits for, above everything else.
        app.add_channel::<SnapshotChannel>(unreliable(90.0)).add_direction(NetworkDirection::ServerToClient);
        #[cfg(feature = "smoothing")]
        app.add_channel::<ClockChannel>(unreliable(100.0)).add_direction(NetworkDirection::Bidirectional);
        app.add_channel::<ServerEventChannel>(reliable).add_direction(NetworkDirection::ServerToClient);
        #[cfg(feature = "weapons")]
        app.add_channel::<EffectChannel>(unreliable(20.0)).add_direction(NetworkDirection::ServerToClient);
        app.add_channel::<SetupChannel>(reliable).add_direction(NetworkDirection::ClientToServer);
        app.add_channel::<GameReliableChannel>(ChannelSettings {
            mode: ChannelMode::OrderedReliable(resend),
            // Below movement and fire.
            priority: 10.0,
            ..default()
        })
        .add_direction(NetworkDirection::Bidirectional);
        app.add_channel::<GameUnreliableChannel>(unreliable(5.0))
            .add_direction(NetworkDirection::Bidirectional);
        app.add_channel::<SpectatorChannel>(ChannelSettings {
            mode: ChannelMode::OrderedReliable(resend),
            priority: 5.0,
            ..default()
        })
        .add_direction(NetworkDirection::ServerToClient);

        #[cfg(feature = "prediction")]
        register_prediction(app);
        #[cfg(feature = "smoothing")]
        register_smoothing(app);
        #[cfg(feature = "weapons")]
        register_weapons(app);
        register_common(app);

        // Changes of predicted components share the channel of moves: it stays open.
        #[cfg(feature = "prediction")]
        app.bind_message::<MoveMessage, MoveChannel>(MAX_MESSAGE_BYTES);
        #[cfg(feature = "smoothing")]
        app.bind_message::<PingMessage, ClockChannel>(MAX_MESSAGE_BYTES).close_channel::<ClockChannel>();
        app.bind_message::<GameReliableMessage, GameReliableChannel>(MAX_MESSAGE_BYTES)
            .bind_message::<GameUnreliableMessage, GameUnreliableChannel>(MAX_MESSAGE_BYTES)
            .bind_message::<SetupMessage, SetupChannel>(MAX_MESSAGE_BYTES)
            .close_channel::<SetupChannel>()
            .close_channel::<GameReliableChannel>()
            .close_channel::<GameUnreliableChannel>();

        app.component::<NetId>().replicate_once();
        app.component::<ModelIndex>().replicate_once();
        #[cfg(feature = "smoothing")]
        crate::pawn_state::protocol(app);
    }
}

pub(crate) fn register<R: OpaqueMessage>(app: &mut App, direction: NetworkDirection) {
    app.register_message_custom_serde::<R>(SerializeFns {
        serialize: serialize::<R>,
        deserialize: deserialize::<R>,
    })
    .add_direction(direction);
}

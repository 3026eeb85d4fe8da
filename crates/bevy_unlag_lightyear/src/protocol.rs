//! What travels: four kinds of bytes that the crates below encode themselves, and two components.

use bevy::prelude::*;
use bevy_replicon::{
    bytes::Bytes,
    prelude::*,
    shared::replication::{
        deferred_entity::DeferredEntity,
        receive_markers::MarkerConfig,
        registry::{
            ctx::{RemoveCtx, SerializeCtx, WriteCtx},
            rule_fns::RuleFns,
        },
    },
};
use bevy_unlag_core::{BitReader, BitWriter, LocalControl, NetId, Snapshot, Wire, WireError};
use bevy_unlag_smoothing::SnapshotInbox;
use lightyear::prelude::*;
use lightyear_serde::{SerializationError, reader::Reader, registry::SerializeFns, writer::Writer};

/// Changes with anything on the wire. A client and a server with different numbers refuse each
/// other by name instead of misreading each other.
pub const PROTOCOL_VERSION: u32 = 3;

/// The protocol that this app speaks. Default: [`PROTOCOL_VERSION`]. A game whose own messages
/// change may put its number here; client and server must agree.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtocolVersion(pub u32);

impl Default for ProtocolVersion {
    fn default() -> Self {
        Self(PROTOCOL_VERSION)
    }
}

/// The server's first word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hello {
    /// [`ProtocolVersion`]; always first, so that every version can read it.
    pub version: u32,
    /// [`MoveModel::config_hash`](bevy_unlag_core::MoveModel::config_hash).
    pub config: u32,
    /// [`MoveModel::level_hash`](bevy_unlag_core::MoveModel::level_hash).
    pub level: u32,
}

impl Wire for Hello {
    fn write(&self, w: &mut BitWriter) {
        for word in [self.version, self.config, self.level] {
            w.bits(word, 32);
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { version: r.bits(32)?, config: r.bits(32)?, level: r.bits(32)? })
    }
}

/// No message of ours is larger; a larger one is not ours.
const MAX_MESSAGE: usize = 1_100;

/// Moves, newest wins: unreliable, out of order.
pub(crate) struct MoveChannel;
/// Answers to moves, newest wins: unreliable, out of order.
pub(crate) struct AnswerChannel;
/// What must arrive once.
pub(crate) struct VerdictChannel;
/// What may be lost.
pub(crate) struct EffectChannel;

macro_rules! raw_messages {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name(pub Vec<u8>);

        impl Raw for $name {
            fn bytes(&self) -> &[u8] {
                &self.0
            }

            fn from_bytes(bytes: Vec<u8>) -> Self {
                Self(bytes)
            }
        }
    )*};
}

raw_messages!(
    /// A [`MovePacket`](bevy_unlag_prediction::MovePacket).
    MoveMessage,
    /// A [`ServerAnswer`](bevy_unlag_prediction::ServerAnswer).
    AnswerMessage,
    /// A [`ShotVerdict`](bevy_unlag_weapons::ShotVerdict).
    VerdictMessage,
    /// A [`Tracer`](bevy_unlag_weapons::Tracer).
    TracerMessage,
    /// The server's first word: its [`Hello`].
    HelloMessage,
);

/// Bytes that another crate reads and writes.
pub(crate) trait Raw: Send + Sync + 'static {
    fn bytes(&self) -> &[u8];
    fn from_bytes(bytes: Vec<u8>) -> Self;
}

fn serialize<R: Raw>(message: &R, w: &mut Writer) -> Result<(), SerializationError> {
    w.extend_from_slice(message.bytes());
    Ok(())
}

fn deserialize<R: Raw>(r: &mut Reader) -> Result<R, SerializationError> {
    let bytes = r.take_remaining();
    if bytes.len() > MAX_MESSAGE {
        return Err(SerializationError::InvalidValue);
    }
    Ok(R::from_bytes(bytes.to_vec()))
}

/// Registers everything that travels. Both sides add it after lightyear's own plugins and before
/// a game's own protocol, in the same order.
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
        let reliable = ChannelSettings {
            mode: ChannelMode::UnorderedReliable(ReliableSettings {
                // A round trip of 0 on a fresh link would resend every frame.
                rtt_resend_min_delay: core::time::Duration::from_millis(30),
                ..default()
            }),
            priority: 50.0,
            ..default()
        };
        app.init_resource::<ProtocolVersion>();
        app.add_channel::<MoveChannel>(unreliable(100.0)).add_direction(NetworkDirection::ClientToServer);
        app.add_channel::<AnswerChannel>(unreliable(100.0)).add_direction(NetworkDirection::ServerToClient);
        app.add_channel::<VerdictChannel>(reliable).add_direction(NetworkDirection::ServerToClient);
        app.add_channel::<EffectChannel>(unreliable(1.0)).add_direction(NetworkDirection::ServerToClient);

        register::<MoveMessage>(app, NetworkDirection::ClientToServer);
        register::<AnswerMessage>(app, NetworkDirection::ServerToClient);
        register::<VerdictMessage>(app, NetworkDirection::ServerToClient);
        register::<TracerMessage>(app, NetworkDirection::ServerToClient);
        register::<HelloMessage>(app, NetworkDirection::ServerToClient);

        app.component::<NetId>().replicate_once();
        app.component::<Snapshot>().replicate_with(RuleFns::new(write_snapshot, read_snapshot));
        // replicon keeps only the newest value of a frame; a playout buffer wants every one. Its
        // marker must be replicated itself to act in the update that spawns the pawn.
        app.register_marker_with::<NetId>(MarkerConfig {
            priority: 50,
            need_history: true,
            affects_same_update: true,
        });
        app.set_marker_fns::<NetId, Snapshot>(collect_snapshot, forget_snapshots);
    }
}

fn register<R: Raw>(app: &mut App, direction: NetworkDirection) {
    app.register_message_custom_serde::<R>(SerializeFns {
        serialize: serialize::<R>,
        deserialize: deserialize::<R>,
    })
    .add_direction(direction);
}

fn write_snapshot(_: &mut SerializeCtx, snapshot: &Snapshot, message: &mut Vec<u8>) -> Result<()> {
    let mut w = BitWriter::default();
    snapshot.write(&mut w);
    message.extend(w.finish());
    Ok(())
}

fn read_snapshot(_: &mut WriteCtx, message: &mut Bytes) -> Result<Snapshot> {
    let mut r = BitReader::new(message);
    let snapshot = Snapshot::read(&mut r)?;
    let used = r.bytes_read();
    bevy_replicon::bytes::Buf::advance(message, used);
    Ok(snapshot)
}

fn collect_snapshot(
    ctx: &mut WriteCtx,
    rule: &RuleFns<Snapshot>,
    entity: &mut DeferredEntity,
    message: &mut Bytes,
) -> Result<()> {
    let snapshot = rule.deserialize(ctx, message)?;
    if entity.get::<LocalControl>().is_some() {
        // The own pawn is predicted, not smoothed.
        return Ok(());
    }
    match entity.get_mut::<SnapshotInbox>() {
        Some(mut inbox) => inbox.0.push(snapshot),
        None => {
            entity.insert(SnapshotInbox(vec![snapshot]));
        }
    }
    Ok(())
}

fn forget_snapshots(_: &mut RemoveCtx, entity: &mut DeferredEntity) {
    entity.remove::<SnapshotInbox>();
}

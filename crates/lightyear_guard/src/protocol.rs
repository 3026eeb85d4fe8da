//! The one message of the guard: why a server ends a connection.

use bevy::prelude::*;
use lightyear::prelude::*;
use lightyear_serde::{SerializationError, reader::Reader, registry::SerializeFns, writer::Writer};

use crate::ingress::KickReason;

/// Reliable channel from servers to clients.
pub(crate) struct KickChannel;

/// An encoded [`KickReason`](crate::KickReason).
#[derive(Clone, Debug)]
pub(crate) struct KickMessage(pub Vec<u8>);

fn serialize(message: &KickMessage, w: &mut Writer) -> Result<(), SerializationError> {
    w.extend_from_slice(&message.0);
    Ok(())
}

fn deserialize(r: &mut Reader) -> Result<KickMessage, SerializationError> {
    let bytes = r.take_remaining();
    if bytes.len() > KickReason::MAX_BYTES {
        return Err(SerializationError::InvalidValue);
    }
    Ok(KickMessage(bytes.to_vec()))
}

pub(crate) fn plugin(app: &mut App) {
    let resend = ReliableSettings {
        // A round trip of 0 on a fresh link would resend every frame.
        rtt_resend_min_delay: core::time::Duration::from_millis(30),
        ..default()
    };
    app.add_channel::<KickChannel>(ChannelSettings {
        mode: ChannelMode::UnorderedReliable(resend),
        priority: 50.0,
        ..default()
    })
    .add_direction(NetworkDirection::ServerToClient);
    app.register_message_custom_serde::<KickMessage>(SerializeFns { serialize, deserialize })
        .add_direction(NetworkDirection::ServerToClient);
}

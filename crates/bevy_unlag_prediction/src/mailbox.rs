//! Mailbox components with encoded messages, the interface to the transport.

use std::collections::VecDeque;

use bevy::prelude::*;

/// Maximum number of messages in a mailbox for received bytes. Beyond it the oldest are dropped, so that a
/// flood costs bounded memory. It holds four seconds of packets, as many as a server receives during a
/// stall.
pub const MAX_MAILBOX_MESSAGES: usize = 256;

macro_rules! outgoing {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Component, Clone, Debug, Default, Reflect)]
        #[reflect(Component, Debug, Default)]
        pub struct $name(pub Vec<Vec<u8>>);
    )*};
}

macro_rules! incoming {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Component, Clone, Debug, Default, Reflect)]
        #[reflect(Component, Debug, Default)]
        pub struct $name(VecDeque<Vec<u8>>);

        impl $name {
            /// Adds a message. Keeps the newest [`MAX_MAILBOX_MESSAGES`].
            pub fn deliver(&mut self, bytes: Vec<u8>) {
                if self.0.len() == MAX_MAILBOX_MESSAGES {
                    self.0.pop_front();
                }
                self.0.push_back(bytes);
            }

            /// Removes all messages and returns them, oldest first.
            pub fn drain(&mut self) -> impl Iterator<Item = Vec<u8>> + '_ {
                self.0.drain(..)
            }
        }
    )*};
}

outgoing! {
    /// Encoded [`MovePacket`](crate::MovePacket)s of the own pawn, to be sent to the server unreliably.
    OutgoingMoves;
    /// Encoded [`MoveAck`](crate::MoveAck)s, to be sent to the pawn's owner unreliably.
    OutgoingMoveAcks;
    /// Encoded [`ControlOffer`](crate::ControlOffer)s, to be sent to the pawn's new owner unreliably.
    OutgoingControlOffers;
}

incoming! {
    /// Received [`ControlOffer`](crate::ControlOffer)s for a pawn that this client does not control yet, encoded.
    /// The transport inserts it.
    IncomingControlOffers;
    /// Received [`MovePacket`](crate::MovePacket)s of the pawn's owner, encoded.
    IncomingMoves;
    /// Received [`MoveAck`](crate::MoveAck)s for the own pawn, encoded.
    IncomingMoveAcks;
}

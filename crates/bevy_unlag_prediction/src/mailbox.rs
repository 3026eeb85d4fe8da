//! The seam to the network: bytes in, bytes out, as components.

use std::collections::VecDeque;

use bevy::prelude::*;

/// How many messages a mailbox for bytes from the network keeps; more are dropped, the oldest
/// first, so that a flood costs bounded memory. Four seconds of packets: what a stalled server finds
/// waiting.
pub const MAX_MAILED: usize = 256;

macro_rules! outgoing {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Component, Clone, Debug, Default)]
        pub struct $name(pub Vec<Vec<u8>>);
    };
}

macro_rules! incoming {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Component, Clone, Debug, Default)]
        pub struct $name(VecDeque<Vec<u8>>);

        impl $name {
            /// Puts a message in. Keeps the newest [`MAX_MAILED`].
            pub fn deliver(&mut self, bytes: Vec<u8>) {
                if self.0.len() == MAX_MAILED {
                    self.0.pop_front();
                }
                self.0.push_back(bytes);
            }

            /// Takes all messages out, oldest first.
            pub fn drain(&mut self) -> impl Iterator<Item = Vec<u8>> + '_ {
                self.0.drain(..)
            }
        }
    };
}

outgoing!(
    /// Encoded [`MovePacket`](crate::MovePacket)s of the own pawn, to be carried to the server,
    /// unreliably.
    OutgoingMoves
);
outgoing!(
    /// Encoded [`ServerAnswer`](crate::ServerAnswer)s, to be carried to the pawn's owner,
    /// unreliably.
    OutgoingAnswers
);
incoming!(
    /// Encoded [`MovePacket`](crate::MovePacket)s from the pawn's owner.
    IncomingMoves
);
incoming!(
    /// Encoded [`ServerAnswer`](crate::ServerAnswer)s for the own pawn.
    IncomingAnswers
);

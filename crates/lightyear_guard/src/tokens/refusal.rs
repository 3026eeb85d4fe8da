//! Reasons for refusing a connect token.

use bevy::prelude::*;
use derive_more::Display;

use crate::named_enum::named_enum;

named_enum! {
    /// Why a server refuses a client. `Display` is a sentence for the player.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Display, Reflect)]
    pub enum JoinRefusal {
        /// The token was already used.
        #[display("the token was already used; request a new one")]
        Used => "used",
        /// The token has expired, by the server's clock.
        #[display("the token has expired; request a new one")]
        Expired => "expired",
        /// The token was issued before the server started.
        #[display("the server has restarted since the token was issued; request a new one")]
        BeforeStart => "before start",
        /// The token is for another server.
        #[display("the token is for another server")]
        OtherServer => "other server",
        /// The token is for another game, or for another version of this one.
        #[display("the token is for another game or version; update yours")]
        OtherGame => "other game",
        /// The token was issued with the server's key, but not by
        /// [`ConnectTokenRequest`](crate::ConnectTokenRequest).
        #[display("the server cannot read the token; request a new one")]
        Unreadable => "unreadable",
        /// The server is full.
        #[display("the server is full; try again later")]
        Full => "full",
        /// A reason that this version does not know.
        #[display("the server refuses the connection")]
        Other => "other",
    }
}

impl JoinRefusal {
    /// Encodes a denial: netcode's own number where there is one, for clients without this crate.
    pub(super) fn denial(self) -> Vec<u8> {
        match self {
            Self::Full => vec![0],
            Self::Used => vec![4],
            Self::Unreadable => vec![5],
            _ => {
                let text = self.name().as_bytes();
                [&[6, text.len() as u8], text].concat()
            }
        }
    }

    /// Decodes a denial; unknown content becomes [`Other`](Self::Other).
    pub(super) fn of_denial(body: &[u8]) -> Self {
        match body {
            [0, ..] => Self::Full,
            [4, ..] => Self::Used,
            [5, ..] => Self::Unreadable,
            [6, length, text @ ..] => Self::ALL
                .into_iter()
                .find(|refusal| text.len() == usize::from(*length) && refusal.name().as_bytes() == text)
                .unwrap_or(Self::Other),
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_join_refusal_survives_a_round_trip_and_junk_becomes_other() {
        for refusal in JoinRefusal::ALL {
            assert_eq!(JoinRefusal::of_denial(&refusal.denial()), refusal);
        }
        for body in [&[][..], &[1], &[6], &[6, 200], &[6, 1, b'x'], &[255; 300]] {
            assert_eq!(JoinRefusal::of_denial(body), JoinRefusal::Other);
        }
    }
}

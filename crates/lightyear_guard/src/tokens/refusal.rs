//! Reasons for refusing a connect token.

use bevy::prelude::*;
use derive_more::Display;

use crate::named_enum::named_enum;

named_enum! {
    /// Reason for which a server refuses a client. `Display` is a sentence for the player.
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
        /// The token is for another match.
        #[display("the token is for another match; request a new one")]
        OtherMatch => "other match",
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
        /// As many clients as [`IngressLimits::max_clients_per_host`](crate::IngressLimits::max_clients_per_host)
        /// have joined from the client's host.
        #[display("too many players have joined from your internet address; try again later")]
        HostLimit => "host limit",
        /// The player or its host is banned: [`BanList`](crate::BanList).
        #[display("you are banned from this server")]
        Banned => "banned",
        /// A reason that this version does not know.
        #[display("the server refuses the connection")]
        Other => "other",
    }
}

impl JoinRefusal {
    /// Encodes a denial: netcode's own number where there is one, for clients without this crate. A full server adds
    /// the number of its `places`.
    pub(super) fn denial(self, places: usize) -> Vec<u8> {
        match self {
            Self::Full => {
                let [low, high] = u16::try_from(places).unwrap_or(u16::MAX).to_le_bytes();
                vec![0, low, high]
            }
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

    /// Decodes the number of places of a full server.
    pub(super) fn places_of_denial(body: &[u8]) -> Option<u16> {
        match body {
            [0, low, high] => Some(u16::from_le_bytes([*low, *high])),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_join_refusal_survives_a_round_trip_and_junk_becomes_other() {
        for refusal in JoinRefusal::ALL {
            let body = refusal.denial(300);
            assert_eq!(JoinRefusal::of_denial(&body), refusal);
            let places = JoinRefusal::places_of_denial(&body);
            assert_eq!(places, (refusal == JoinRefusal::Full).then_some(300), "{refusal:?}");
        }
        assert_eq!(JoinRefusal::places_of_denial(&JoinRefusal::Full.denial(usize::MAX)), Some(u16::MAX));
        assert_eq!(
            (JoinRefusal::of_denial(&[0]), JoinRefusal::places_of_denial(&[0])),
            (JoinRefusal::Full, None)
        );
        for body in [&[][..], &[1], &[6], &[6, 200], &[6, 1, b'x'], &[255; 300]] {
            assert_eq!(JoinRefusal::of_denial(body), JoinRefusal::Other);
        }
    }
}

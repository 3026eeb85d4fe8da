//! Why nobody may join with a token, in words for a player.

use core::fmt;

/// Why a server does not let a client in. `Display` is a sentence for the player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JoinRefusal {
    /// Somebody has already joined with this token.
    Used,
    /// The token's time is over, by the server's clock.
    Expired,
    /// The token was made before the server started.
    BeforeStart,
    /// The token is for another server.
    OtherServer,
    /// The token is for another game, or for another version of this one.
    OtherGame,
    /// The server's key made it, but not by [`ConnectTokenRequest`](crate::ConnectTokenRequest).
    Unreadable,
    /// The server has no room.
    Full,
    /// Something that this version does not know.
    Other,
}

impl JoinRefusal {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Used,
        Self::Expired,
        Self::BeforeStart,
        Self::OtherServer,
        Self::OtherGame,
        Self::Unreadable,
        Self::Full,
        Self::Other,
    ];

    /// What it is called on the wire, in the text of one of netcode's denials.
    fn text(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Expired => "expired",
            Self::BeforeStart => "before start",
            Self::OtherServer => "other server",
            Self::OtherGame => "other game",
            Self::Unreadable => "unreadable",
            Self::Full => "full",
            Self::Other => "other",
        }
    }

    /// The body of a denial: netcode's own number where it has one, for clients without this crate.
    pub(super) fn denial(self) -> Vec<u8> {
        match self {
            Self::Full => vec![0],
            Self::Used => vec![4],
            Self::Unreadable => vec![5],
            _ => {
                let text = self.text().as_bytes();
                [&[6, text.len() as u8], text].concat()
            }
        }
    }

    /// What a denial says. Anything at all is understood as something.
    pub(super) fn of_denial(body: &[u8]) -> Self {
        match body {
            [0, ..] => Self::Full,
            [4, ..] => Self::Used,
            [5, ..] => Self::Unreadable,
            [6, length, text @ ..] => Self::ALL
                .into_iter()
                .find(|refusal| text.len() == usize::from(*length) && refusal.text().as_bytes() == text)
                .unwrap_or(Self::Other),
            _ => Self::Other,
        }
    }
}

impl fmt::Display for JoinRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Used => "somebody has already joined with this token; ask for a new one",
            Self::Expired => "the token's time is over; ask for a new one",
            Self::BeforeStart => "the server has started after the token was made; ask for a new one",
            Self::OtherServer => "the token is for another server",
            Self::OtherGame => "the token is for another game or version; update yours",
            Self::Unreadable => "the server cannot read the token; ask for a new one",
            Self::Full => "the server is full; try again later",
            Self::Other => "the server does not let you in",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_arrives_as_itself_and_junk_as_something() {
        for refusal in JoinRefusal::ALL {
            assert_eq!(JoinRefusal::of_denial(&refusal.denial()), refusal);
        }
        for body in [&[][..], &[1], &[6], &[6, 200], &[6, 1, b'x'], &[255; 300]] {
            assert_eq!(JoinRefusal::of_denial(body), JoinRefusal::Other);
        }
    }
}

//! Requests for a match: what a client and a matchmaker say to each other, as JSON over HTTP.

use core::time::Duration;

use bevy_unlag::prelude::TokenClient;
use lightyear::netcode::CONNECT_TOKEN_BYTES;
use serde::{Deserialize, Serialize};

use crate::{connection, http_client::HttpService};

/// Annotation of an Agones game server that gets the id of its match when it is allocated.
pub const MATCH_ANNOTATION: &str = "bevy-unlag.dev/match-id";
/// Time to wait for a match.
const PATIENCE: Duration = Duration::from_secs(120);

/// Client to matchmaker: `POST /match` with a party that wants to play together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchRequest {
    /// Number of players.
    pub players: usize,
}

/// Matchmaker to client: the places of the party in a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MatchPlaces {
    /// Name of the match.
    pub match_id: String,
    /// A place for each player.
    pub players: Vec<PlayerPlace>,
}

/// Place of a player: a permission to join once, within some seconds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerPlace {
    /// Address of the server, which the token also contains.
    pub address: String,
    /// The connect token, as hexadecimal digits.
    pub token: String,
}

impl core::fmt::Debug for PlayerPlace {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // A token suffices to join.
        write!(f, "PlayerPlace({})", self.address)
    }
}

impl PlayerPlace {
    /// Creates a place from the bytes of its token.
    #[must_use]
    pub fn new(address: String, token: &[u8]) -> Self {
        Self { address, token: token.iter().map(|byte| format!("{byte:02x}")).collect() }
    }

    /// Returns the bytes of the token.
    ///
    /// # Errors
    /// Returns one line when the text is none.
    pub fn token(&self) -> Result<Vec<u8>, String> {
        let bytes = connection::parse_hexadecimal(&self.token);
        bytes.filter(|bytes| bytes.len() == CONNECT_TOKEN_BYTES).ok_or_else(|| {
            "the matchmaker's token is no token: client and matchmaker differ in version".to_owned()
        })
    }
}

/// Asks a matchmaker for a match for one player, and waits until it has found one.
///
/// # Errors
/// Returns one line when the address is invalid, the matchmaker does not answer, or it has no match.
pub fn ask_alone(url: &str) -> Result<TokenClient, String> {
    let places = request(&HttpService::parse(url)?, 1)?;
    let place = places.players.first().ok_or_else(|| "the matchmaker has no place".to_owned())?;
    TokenClient::new(&place.token()?).map_err(|error| error.to_string())
}

/// Asks a matchmaker for a match, and waits until it has found one.
///
/// # Errors
/// Returns one line when the matchmaker does not answer, or has no match.
pub fn request(matchmaker: &HttpService, players: usize) -> Result<MatchPlaces, String> {
    let json = serde_json::to_string(&MatchRequest { players }).map_err(|error| error.to_string())?;
    let answer = matchmaker.post("/match", &json, PATIENCE)?;
    let places: MatchPlaces = serde_json::from_str(&answer)
        .map_err(|error| format!("the matchmaker's answer is not understood: {error}"))?;
    if places.players.len() == players {
        Ok(places)
    } else {
        Err(format!("the matchmaker has {} places for {players} players", places.players.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_survives_its_text_and_junk_is_an_error() {
        let token: Vec<u8> = (0..CONNECT_TOKEN_BYTES).map(|number| number as u8).collect();
        let place = PlayerPlace::new("127.0.0.1:5000".to_owned(), &token);
        assert_eq!(place.token(), Ok(token));
        assert_eq!(format!("{place:?}"), "PlayerPlace(127.0.0.1:5000)");
        let texts =
            [String::new(), "0".repeat(4_095), "0".repeat(4_097), "g".repeat(4_096), "é".repeat(2_048)];
        for text in texts {
            let place = PlayerPlace { token: text, ..place.clone() };
            assert!(place.token().is_err());
        }
    }
}

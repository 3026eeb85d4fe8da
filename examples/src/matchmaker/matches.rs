//! Matches that fill with players, and the tokens of those that are full.

use core::time::Duration;
use std::time::Instant;

use bevy_unlag::guard::{ConnectTokenRequest, ServerKeys};
use bevy_unlag_server::RequestId;

use super::allocator::{AllocationEvent, Allocator, GameServer};
use crate::{
    connection::{self, PROTOCOL_ID},
    matchmaking::{MatchPlaces, PlayerPlace},
};

/// Time for which a match is offered that nobody waits for. With the longest time to fill, 30 s, it begins well before
/// its server stops by itself, when nobody has joined for a minute.
const OFFER_TIME: Duration = Duration::from_secs(20);

/// Rules by which matches fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FillRules {
    /// Number of players of a match.
    pub players: usize,
    /// Time after the first player after which a match begins without the others.
    pub fill_time: Duration,
}

/// Answer to a party.
pub(super) type Answer = Result<MatchPlaces, String>;

/// Matches that still fill, or wait for their server.
pub(super) struct Matches {
    rules: FillRules,
    fleet: ServerKeys,
    /// Beginning of the ids of matches, other for each run.
    name: String,
    next: u64,
    open: Vec<OpenMatch>,
    begun: u64,
    placed: u64,
}

struct OpenMatch {
    id: String,
    opened: Instant,
    /// Arrival of the first party.
    first: Option<Instant>,
    parties: Vec<Party>,
    server: Option<GameServer>,
}

struct Party {
    request: RequestId,
    players: usize,
}

impl OpenMatch {
    fn players(&self) -> usize {
        self.parties.iter().map(|party| party.players).sum()
    }
}

impl Matches {
    pub fn new(rules: FillRules, fleet: ServerKeys) -> Self {
        let name = format!("m{:08x}", connection::random_client_id() as u32);
        Self { rules, fleet, name, next: 1, open: Vec::new(), begun: 0, placed: 0 }
    }

    /// Returns the numbers of matches that have begun, of players in them, and of players who wait.
    pub fn counts(&self) -> (u64, u64, usize) {
        (self.begun, self.placed, self.open.iter().map(OpenMatch::players).sum())
    }

    /// Puts a party into a match; a new one if none has room.
    ///
    /// # Errors
    /// Returns one line for the party when there is no server.
    pub fn join(
        &mut self,
        request: RequestId,
        players: usize,
        now: Instant,
        allocator: &mut dyn Allocator,
    ) -> Result<(), String> {
        let has_room = |open: &OpenMatch| open.players() + players <= self.rules.players;
        let at = match self.open.iter().position(has_room) {
            Some(at) => at,
            None => {
                let id = format!("{}-{}", self.name, self.next);
                allocator.allocate(&id)?;
                self.next += 1;
                self.open.push(OpenMatch { id, opened: now, first: None, parties: Vec::new(), server: None });
                self.open.len() - 1
            }
        };
        let joined = &mut self.open[at];
        joined.first.get_or_insert(now);
        joined.parties.push(Party { request, players });
        Ok(())
    }

    /// Removes the parties that have gone.
    pub fn retain(&mut self, is_waiting: impl Fn(RequestId) -> bool) {
        for open in &mut self.open {
            open.parties.retain(|party| is_waiting(party.request));
            if open.parties.is_empty() {
                open.first = None;
            }
        }
    }

    /// Ends all matches that have not begun. Returns the answers with this problem.
    pub fn refuse_all(&mut self, problem: &str) -> Vec<(RequestId, Answer)> {
        let parties = self.open.drain(..).flat_map(|open| open.parties);
        parties.map(|party| (party.request, Err(problem.to_owned()))).collect()
    }

    /// Applies an event of a match's server. Returns the answers that follow from it.
    pub fn apply(&mut self, match_id: &str, event: AllocationEvent) -> Vec<(RequestId, Answer)> {
        // Matches that have begun are none of this list.
        let Some(at) = self.open.iter().position(|open| open.id == match_id) else { return Vec::new() };
        let problem = match event {
            AllocationEvent::Ready(server) => {
                self.open[at].server = Some(server);
                return Vec::new();
            }
            AllocationEvent::Failed(problem) => problem,
            AllocationEvent::Ended => "the server of the match has stopped; try again".to_owned(),
        };
        let parties = self.open.remove(at).parties;
        parties.into_iter().map(|party| (party.request, Err(problem.clone()))).collect()
    }

    /// Begins the matches that are full, or have waited long enough. Returns the answers with the tokens.
    pub fn advance(&mut self, now: Instant) -> Vec<(RequestId, Answer)> {
        let rules = self.rules;
        self.open.retain(|open| open.first.is_some() || now.duration_since(open.opened) < OFFER_TIME);
        let begins = |open: &mut OpenMatch| {
            let is_full = open.players() >= rules.players;
            let has_waited = open.first.is_some_and(|first| now.duration_since(first) >= rules.fill_time);
            open.server.is_some() && (is_full || has_waited)
        };
        let mut answers = Vec::new();
        for begun in self.open.extract_if(.., begins) {
            let Some(server) = &begun.server else { continue };
            self.begun += 1;
            for party in &begun.parties {
                let places = places(&self.fleet, &begun.id, server, party.players);
                self.placed += places.as_ref().map_or(0, |places| places.players.len() as u64);
                answers.push((party.request, places));
            }
        }
        answers
    }
}

/// Issues the tokens of a party.
fn places(fleet: &ServerKeys, match_id: &str, server: &GameServer, players: usize) -> Answer {
    let key = fleet.newest().for_server(&server.server_id);
    let place = |_| -> Result<PlayerPlace, String> {
        // A matchmaker with accounts has the account's number here.
        let client_id = connection::random_client_id();
        let request = ConnectTokenRequest {
            server_id: Some(server.server_id.clone()),
            match_id: Some(match_id.to_owned()),
            ..ConnectTokenRequest::new(client_id, server.address, PROTOCOL_ID)
        };
        let token = request.issue(&key).map_err(|error| error.to_string())?;
        Ok(PlayerPlace::new(server.address.to_string(), &token))
    };
    let players = (0..players).map(place).collect::<Result<_, _>>()?;
    Ok(MatchPlaces { match_id: match_id.to_owned(), players })
}

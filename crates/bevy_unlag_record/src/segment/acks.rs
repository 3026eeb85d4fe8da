//! Packing of snapshot acknowledgements: most players send one packet a tick, whose move follows on the last one.

use bevy_unlag_core::{BitReader, BitWriter, SnapshotAck, Tick, WireError};

use crate::{
    entry::PlayerAck,
    packing::{read_optional_tick, read_tick, write_optional_tick, write_tick},
    roster::{PlayerNumber, Roster},
};

/// Most packets of one player in one tick, as in [`SnapshotAcks`](bevy_unlag_core::SnapshotAcks).
const MAX_PACKETS: usize = 64;

/// Last acknowledgement of each player in a segment, from which the next one is guessed.
#[derive(Clone, Debug, Default)]
pub(super) struct AckGuesses(Vec<(PlayerNumber, Guess)>);

#[derive(Clone, Copy, Debug)]
struct Guess {
    own: Tick,
    received: Option<Tick>,
}

impl AckGuesses {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn of(&mut self, player: PlayerNumber, now: Tick) -> &mut Guess {
        let at = match self.0.binary_search_by_key(&player, |(number, _)| *number) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (player, Guess { own: now, received: None }));
                at
            }
        };
        &mut self.0[at].1
    }

    /// Appends the acknowledgements of a tick, which are sorted by player and in order of arrival.
    pub fn write(&mut self, acks: &[PlayerAck], roster: &Roster, now: Tick, w: &mut BitWriter) {
        for player in roster.players() {
            let guess = self.of(player.number, now);
            let first = acks.partition_point(|ack| ack.player < player.number);
            let own = acks[first..].iter().take_while(|ack| ack.player == player.number).take(MAX_PACKETS);
            let is_usual = |ack: &PlayerAck| {
                ack.ack.own == guess.own.offset(1) && ack.ack.last_received_snapshot == guess.received
            };
            let usual = own.clone().count() == 1 && own.clone().all(is_usual);
            w.bool(usual);
            if usual {
                guess.own = guess.own.offset(1);
                continue;
            }
            w.golomb(own.clone().count() as u16, 0);
            for PlayerAck { ack, .. } in own {
                write_tick(ack.own, guess.own.offset(1), 0, w);
                let received = ack.last_received_snapshot;
                w.bool(received != guess.received);
                if received != guess.received {
                    write_optional_tick(received, guess.received.unwrap_or(now), 1, w);
                }
                *guess = Guess { own: ack.own, received };
            }
        }
    }

    /// Reads what [`write`](Self::write) has written.
    ///
    /// # Errors
    /// [`WireError`] for bits that are none of it.
    pub fn read(
        &mut self,
        roster: &Roster,
        now: Tick,
        r: &mut BitReader<'_>,
    ) -> Result<Vec<PlayerAck>, WireError> {
        let mut acks = Vec::new();
        for player in roster.players() {
            let guess = self.of(player.number, now);
            let mut push = |guess: &Guess| {
                let ack =
                    SnapshotAck { own: guess.own, arrived: now, last_received_snapshot: guess.received };
                acks.push(PlayerAck { player: player.number, ack });
            };
            if r.bool()? {
                guess.own = guess.own.offset(1);
                push(guess);
                continue;
            }
            let count = usize::from(r.golomb(0)?);
            if count > MAX_PACKETS {
                return Err(WireError::Invalid);
            }
            for _ in 0..count {
                guess.own = read_tick(guess.own.offset(1), 0, r)?;
                if r.bool()? {
                    guess.received = read_optional_tick(guess.received.unwrap_or(now), 1, r)?;
                }
                push(guess);
            }
        }
        Ok(acks)
    }
}

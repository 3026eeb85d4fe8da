//! Uplink bytes per move.

use super::tick_script::{self, TickScript};
use crate::prelude::*;

/// Traffic counters.
#[derive(Clone, Copy, Default)]
pub struct Sent {
    /// Number of packets.
    pub packets: u64,
    /// Payload bytes of all packets.
    pub bytes: u64,
}

impl Sent {
    /// Returns the average bytes per packet.
    pub fn mean(&self) -> f64 {
        self.bytes as f64 / self.packets as f64
    }
}

fn start(conditions: LinkConditions, seed: u64) -> Result<Match, String> {
    Match::start(&MatchOptions { players: 4, conditions, seed, ..default() })
}

fn totals(played: &mut Match) -> Sent {
    let mut sent = Sent::default();
    for client in &mut played.clients {
        let world = client.world_mut();
        for stats in world.query::<&PredictionStats>().iter(world) {
            sent.packets += stats.packets;
            sent.bytes += stats.move_bytes;
        }
    }
    sent
}

/// Measures the move packets of four players that run and turn in every tick.
///
/// # Errors
/// Returns a message if a client cannot join.
pub fn measure_moves(conditions: LinkConditions, seconds: f64, seed: u64) -> Result<Sent, String> {
    let mut played = start(conditions, seed)?;
    for (player, client) in (0..).zip(&mut played.clients) {
        tick_script::take_over(client, TickScript(player));
    }
    // Until the server's estimate of the loss has settled.
    played.run(Duration::from_secs(5));
    let before = totals(&mut played);
    played.run(Duration::from_secs_f64(seconds));
    let after = totals(&mut played);
    Ok(Sent { packets: after.packets - before.packets, bytes: after.bytes - before.bytes })
}

/// Bytes that fired rounds add to move packets.
#[derive(Resource, Clone, Copy, Default)]
pub struct RoundBytes {
    /// Number of moves that fire.
    pub rounds: u64,
    /// Bytes that the rounds added to all packets that carry them.
    pub extra: f64,
    /// Bytes that the rounds added to the packets that carry them first.
    pub first: f64,
}

impl RoundBytes {
    /// Returns the average bytes that one round adds to its move.
    pub fn bytes_of_one(&self) -> f64 {
        self.first / self.rounds as f64
    }
}

/// Measures the bytes that the rounds of four fighters add to their move packets.
///
/// # Errors
/// Returns a message if a client cannot join.
pub fn measure_rounds(conditions: LinkConditions, seconds: f64, seed: u64) -> Result<RoundBytes, String> {
    let mut played = start(conditions, seed)?;
    for client in &mut played.clients {
        client.init_resource::<RoundBytes>().add_systems(FixedPostUpdate, count_bytes);
        client.world_mut().resource_mut::<ScriptedPlayer>().may_fire = true;
    }
    played.run(Duration::from_secs_f64(seconds));
    let mut all = RoundBytes::default();
    for client in &played.clients {
        let of_one = client.world().resource::<RoundBytes>();
        all.rounds += of_one.rounds;
        all.extra += of_one.extra;
        all.first += of_one.first;
    }
    Ok(all)
}

fn count_bytes(pawns: Query<&OutgoingMoves>, mut rounds: ResMut<RoundBytes>) {
    for mailbox in &pawns {
        let Some(bytes) = mailbox.0.last() else { continue };
        let Ok(mut packet) = MovePacket::<<Soldier as MoveModel>::Input>::read(&mut BitReader::new(bytes))
        else {
            continue;
        };
        let fires = packet.runs.first().is_some_and(|run| run.input.extension.fire.is_some());
        rounds.rounds += u64::from(fires);
        let with = bits(&packet);
        if let Some(newest) = packet.runs.first_mut() {
            newest.input.extension.fire = None;
        }
        rounds.first += (with - bits(&packet)) as f64 / 8.0;
        packet.runs.iter_mut().for_each(|run| run.input.extension.fire = None);
        rounds.extra += (with - bits(&packet)) as f64 / 8.0;
    }
}

fn bits(packet: &MovePacket<<Soldier as MoveModel>::Input>) -> usize {
    let mut w = BitWriter::default();
    packet.write(&mut w);
    w.len_bits()
}

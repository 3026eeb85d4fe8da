//! Two cheaters: one corrupts and repeats its packets, the other speeds up its clock and alters its moves.

use lightyear::{connection::ConnectionSystems, link::Link, prelude::Client};
use lightyear_transport::plugin::TransportSystems;

use super::HONEST;
use crate::prelude::*;

#[derive(Resource)]
struct CheatRng(SmallRng);

/// Turns the last two players of a match into cheaters.
pub fn make_cheaters(game: &mut Match, seed: u64) {
    for player in HONEST..game.clients.len() {
        make_cheater(game, player, seed ^ player as u64);
    }
}

/// Turns a player into a cheater if it is one of the last two.
pub fn make_cheater(game: &mut Match, player: usize, seed: u64) {
    if player < HONEST {
        return;
    }
    let Some(client) = game.clients.get_mut(player) else { return };
    client.insert_resource(CheatRng(SmallRng::seed_from_u64(seed)));
    if player == HONEST {
        let breaks = break_packets.after(TransportSystems::Send).before(ConnectionSystems::Send);
        client.add_systems(PostUpdate, breaks);
    } else {
        client.add_systems(Last, flip_move_bits);
        game.set_clock(player, 1.5);
    }
}

/// Corrupts packets above netcode, so that the server decrypts them and has to survive the content. Most
/// packets stay valid; otherwise the client would never stay connected for long.
fn break_packets(mut malice: ResMut<CheatRng>, mut links: Query<&mut Link, With<Client>>) {
    let rng = &mut malice.0;
    for mut link in &mut links {
        let packets: Vec<_> = link.send.drain().collect();
        for packet in packets {
            if rng.random_bool(0.02) && !packet.is_empty() {
                let mut broken = packet.to_vec();
                for _ in 0..rng.random_range(1..8) {
                    let place = rng.random_range(0..broken.len());
                    broken[place] = rng.random();
                }
                if rng.random_bool(0.3) {
                    broken.truncate(rng.random_range(0..broken.len()));
                }
                link.send(broken.into());
            }
            for _ in 0..if rng.random_bool(0.005) { 200 } else { 0 } {
                link.send(packet.clone());
            }
            link.send(packet);
        }
    }
}

/// Flips bits in outgoing moves.
fn flip_move_bits(mut malice: ResMut<CheatRng>, mut pawns: Query<&mut OutgoingMoves>) {
    let rng = &mut malice.0;
    for mut moves in &mut pawns {
        for bytes in &mut moves.0 {
            if rng.random_bool(0.2) && !bytes.is_empty() {
                let place = rng.random_range(0..bytes.len());
                bytes[place] ^= 1 << rng.random_range(0..8);
            }
        }
    }
}

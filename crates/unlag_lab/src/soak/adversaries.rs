//! Two who cheat: one breaks its packets and sends too many, one lives faster and lies about its moves.

use bevy::prelude::*;
use bevy_unlag::prediction::OutgoingMoves;
use lightyear::{connection::ConnectionSystems, link::Link, prelude::Client};
use lightyear_transport::plugin::TransportSystems;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::stepped_match::Match;

use super::HONEST;

#[derive(Resource)]
struct Malice(SmallRng);

/// Makes the last two of a match cheat.
pub fn equip(game: &mut Match, seed: u64) {
    for player in HONEST..game.clients.len() {
        equip_one(game, player, seed ^ player as u64);
    }
}

/// Makes one player cheat, if it is one of the two.
pub fn equip_one(game: &mut Match, player: usize, seed: u64) {
    if player < HONEST {
        return;
    }
    let Some(client) = game.clients.get_mut(player) else { return };
    client.insert_resource(Malice(SmallRng::seed_from_u64(seed)));
    if player == HONEST {
        let breaks = break_packets.after(TransportSystems::Send).before(ConnectionSystems::Send);
        client.add_systems(PostUpdate, breaks);
    } else {
        client.add_systems(Last, lie);
        game.set_clock(player, 1.5);
    }
}

/// Below netcode, so that the server decrypts what it then has to survive. Most of the time it behaves, or it would
/// never be there for long.
fn break_packets(mut malice: ResMut<Malice>, mut links: Query<&mut Link, With<Client>>) {
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

/// Moves that nobody made.
fn lie(mut malice: ResMut<Malice>, mut pawns: Query<&mut OutgoingMoves>) {
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

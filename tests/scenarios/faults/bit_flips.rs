//! Row F10: packets with flipped bits.

use bevy::prelude::*;
use bevy_unlag::{
    guard::{IngressLimits, IngressRefusal, IngressStats},
    link_conditioner::LinkConditions,
};
use lightyear::{connection::ConnectionSystems, link::Link, prelude::LinkSystems};
use lightyear_transport::plugin::TransportSystems;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::stepped_match::MatchOptions;

use super::{preset, trial::Trial};

/// State of [`flip_bits`], which flips one bit in 1 % of the sent packets.
#[derive(Resource)]
struct BitFlipper {
    rng: SmallRng,
    flipped: u64,
}

fn flip_bits(mut noise: ResMut<BitFlipper>, mut links: Query<&mut Link>) {
    for mut link in &mut links {
        for _ in 0..link.send.len() {
            let Some(packet) = link.send.pop() else { break };
            if noise.rng.random_bool(0.99) || packet.is_empty() {
                link.send.push(packet);
                continue;
            }
            noise.flipped += 1;
            let mut bytes = packet.to_vec();
            let bit = noise.rng.random_range(0..bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            link.send.push(bytes.into());
        }
    }
}

fn flipped(app: &App) -> u64 {
    app.world().resource::<BitFlipper>().flipped
}

// Row F10.
#[test]
fn flipped_bit_on_the_wire_only_loses_its_packet() {
    let conditions = LinkConditions { loss: 0.0, ..preset("Average (UE)") };
    let options = MatchOptions { players: 3, conditions, seed: 4, ..default() };
    let mut trial = Trial::new("1 % of packets flipped on the wire", options);
    for (seed, app) in (9..).zip(trial.game.apps_mut()) {
        app.insert_resource(BitFlipper { rng: SmallRng::seed_from_u64(seed), flipped: 0 });
        app.add_systems(PostUpdate, flip_bits.after(ConnectionSystems::Send).before(LinkSystems::Send));
    }
    trial.game.fight(30.0);
    let up: u64 = trial.game.clients.iter().map(flipped).sum();
    let down = flipped(&trial.game.server);
    let refused = trial.game.server.world().resource::<IngressStats>().refused;
    println!("{up} up and {down} down; {} are not netcode datagrams", refused.of(IngressRefusal::NotNetcode));
    assert!(up > 30 && down > 30, "{up} up, {down} down");
    let carried = trial.extrapolated_share();
    assert!(carried < 0.001, "{carried} of the moves");
    // A flipped bit in the first byte leaves a datagram that is not netcode; no client gets a strike for it.
    trial.expected_refusal = Some(IngressRefusal::NotNetcode);
    trial.assert_invariants();
}

// Row F10.
#[test]
fn flipped_bit_before_encryption_corrects_only_its_own_client() {
    let conditions = LinkConditions { loss: 0.0, ..preset("Average (UE)") };
    let mut trial = Trial::tour("1 % of packets flipped before they are encrypted", 2, conditions, 5);
    // Otherwise a client that sends invalid packets now and then would be kicked.
    trial.game.server.world_mut().resource_mut::<IngressLimits>().strikes = f32::INFINITY;
    let before = trial.corrections();
    let client = &mut trial.game.clients[0];
    client.insert_resource(BitFlipper { rng: SmallRng::seed_from_u64(11), flipped: 0 });
    client.add_systems(PostUpdate, flip_bits.after(TransportSystems::Send).before(ConnectionSystems::Send));
    trial.run(60.0);
    let up = flipped(&trial.game.clients[0]);
    let after = trial.corrections();
    println!(
        "{up} flipped; corrections {before:?} to {after:?}, {:.3} % extrapolated",
        trial.extrapolated_share() * 100.0
    );
    assert!(up > 30, "{up}");
    assert_eq!(after[1], before[1], "the other client was corrected");
    // Every move arrives several times; a flipped bit in one copy makes a different move, which is corrected.
    assert!(after[0] - before[0] <= up, "{} corrections for {up} bits", after[0] - before[0]);
}

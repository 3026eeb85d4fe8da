//! Recorded traffic of a short fight, with the evidence of its shots.

use bevy::prelude::*;
use bevy_unlag_rewind::{EvidenceLog, ShotEvidence};
use lightyear::{
    connection::ConnectionSystems,
    link::Link,
    prelude::{Connected, LinkSystems},
    transport::plugin::TransportSystems,
};
use unlag_examples::stepped_match::{Match, MatchOptions};

/// Traffic received by a server: datagrams as they arrive, and packets decrypted by netcode.
#[derive(Resource, Default)]
pub struct RecordedTraffic {
    pub datagrams: Vec<Vec<u8>>,
    pub packets: Vec<Vec<u8>>,
}

/// Maximum number of seeds of each kind.
const MAX_SEEDS: usize = 8;

/// Stores packets of different lengths, as a simple measure of variety.
fn sample_packets(list: &mut Vec<Vec<u8>>, link: &mut Link) {
    for _ in 0..link.recv.len() {
        let Some(packet) = link.recv.pop() else { break };
        if list.len() < MAX_SEEDS && list.iter().all(|known| known.len() != packet.len()) {
            list.push(packet.to_vec());
        }
        link.recv.push_raw(packet);
    }
}

/// Records the traffic of a short fight, and the evidence of the shortest, the median and the longest shot.
pub fn fight() -> (RecordedTraffic, Vec<ShotEvidence>) {
    let listen = |server: &mut App| {
        server.init_resource::<RecordedTraffic>().add_systems(
            PreUpdate,
            (
                (|mut links: Query<&mut Link>, mut traffic: ResMut<RecordedTraffic>| {
                    links.iter_mut().for_each(|mut link| sample_packets(&mut traffic.datagrams, &mut link));
                })
                .after(LinkSystems::Receive)
                .before(ConnectionSystems::Receive),
                (|mut links: Query<&mut Link, With<Connected>>, mut traffic: ResMut<RecordedTraffic>| {
                    links.iter_mut().for_each(|mut link| sample_packets(&mut traffic.packets, &mut link));
                })
                .after(ConnectionSystems::Receive)
                .before(TransportSystems::Receive),
            ),
        );
        server.init_resource::<EvidenceLog>();
        server.world_mut().resource_mut::<EvidenceLog>().set_capacity(200);
    };
    let options = MatchOptions { players: 2, ..MatchOptions::default() };
    let mut game = Match::start_with(&options, listen).unwrap_or_else(|line| panic!("{line}"));
    game.fight(10.0);
    let world = game.server.world_mut();
    let mut shots: Vec<_> = world.resource_mut::<EvidenceLog>().drain().collect();
    shots.sort_by_key(|shot| shot.to_bytes().len());
    let some = [0, shots.len() / 2, shots.len() - 1].map(|at| shots[at].clone());
    (world.remove_resource::<RecordedTraffic>().unwrap_or_default(), some.to_vec())
}

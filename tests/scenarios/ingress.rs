//! Ingress filters against packets that a hostile client, or a host that never joined, can send. Codes such
//! as LY-3 and T8 name rows of `book/src/operations/link_protection.md`.

mod crash_packets;
mod encrypted;
mod game;
mod honest_clients;
mod kicks;
mod log_limit;
mod socket;
mod unknown_addresses;

use bevy::prelude::*;
use bevy_unlag::{
    guard::{IngressLimits, IngressRefusal, IngressStats, LinkTraffic},
    prelude::*,
};
use lightyear::{
    link::{Link, RecvPayload},
    prelude::{ChannelRegistry, Client, MessageRegistry, server::ClientOf},
};
use unlag_examples::stepped_match::Match;

/// A lightyear packet, as any joined client can write it.
fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    // Packet number, two acknowledgement fields and a tick, a little ahead of those that an honest client has
    // sent.
    let header = [kind, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
    [&header, body].concat()
}

/// A lightyear packet with one message.
pub fn message(channel: u16, id: Option<u16>, bytes: &[u8]) -> Vec<u8> {
    let id = id.map_or(vec![0], |id| [&[1][..], &id.to_be_bytes()].concat());
    packet(0, &[&varint(channel.into())[..], &[1], &id, &varint(bytes.len() as u32), bytes].concat())
}

fn varint(number: u32) -> Vec<u8> {
    match number {
        0..64 => vec![number as u8],
        64..16_384 => (number as u16 | 0x4000).to_be_bytes().to_vec(),
        _ => (number | 0x8000_0000).to_be_bytes().to_vec(),
    }
}

/// Sends a packet from a client; netcode encrypts it like its own.
pub fn send(client: &mut App, packet: &[u8]) {
    let world = client.world_mut();
    let mut links = world.query_filtered::<&mut Link, With<Client>>();
    links.single_mut(world).expect("a link").send(packet.to_vec().into());
}

/// The server's end of the link of the client with this index.
fn link(server: &mut App, client: u64) -> Option<Entity> {
    use lightyear::prelude::{PeerId, RemoteId};
    let world = server.world_mut();
    let mut links = world.query_filtered::<(Entity, &RemoteId), With<ClientOf>>();
    let is = |peer: &RemoteId| peer.0 == PeerId::Netcode(client + 1);
    links.iter(world).find(|(_, peer)| is(peer)).map(|(entity, _)| entity)
}

fn traffic(server: &mut App, client: u64) -> LinkTraffic {
    let link = link(server, client).expect("the client is connected");
    *server.world().get::<LinkTraffic>(link).expect("the link's traffic is counted")
}

/// Delivers a datagram to a link of the server.
fn datagram(server: &mut App, link: Entity, bytes: &[u8]) {
    let mut link = server.world_mut().get_mut::<Link>(link).expect("a link");
    link.recv.push_raw(RecvPayload::from(bytes));
}

pub fn channel(app: &App, name: &str) -> u16 {
    let channels = app.world().resource::<ChannelRegistry>();
    let is = |id: &u16| channels.get_name_from_net_id(*id).ends_with(&format!("::{name}"));
    (0..1_000).find(is).unwrap_or_else(|| panic!("no channel {name}"))
}

pub fn message_id(app: &App, name: &str) -> Vec<u8> {
    let kinds = &app.world().resource::<MessageRegistry>().kind_map;
    let is = |id: &u16| {
        kinds.kind(*id).and_then(|kind| kinds.name(kind)).is_some_and(|n| n.ends_with(&format!("::{name}")))
    };
    varint((0..1_000).find(is).unwrap_or_else(|| panic!("no message {name}")).into())
}

fn stats(server: &App) -> IngressStats {
    *server.world().resource::<IngressStats>()
}

fn set_limits(game: &mut Match, set: impl FnOnce(&mut IngressLimits)) {
    set(&mut game.server.world_mut().resource_mut::<IngressLimits>());
}

/// Nonzero refusal counts.
fn dropped(traffic: &LinkTraffic) -> Vec<(IngressRefusal, u64)> {
    let counts = IngressRefusal::ALL.map(|refusal| (refusal, traffic.refused.of(refusal)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// The number of moves that the server has run or extrapolated for a client's pawn.
fn moves(game: &mut Match, client: usize) -> u64 {
    let id = crate::own_id(&mut game.clients[client]);
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&NetId, &PredictionStats)>();
    pawns
        .iter(world)
        .find(|(other, _)| **other == id)
        .map_or(0, |(_, stats)| stats.moves + stats.extrapolated_moves)
}

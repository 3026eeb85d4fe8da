//! Pawns of an app by owner or name, and the bytes that they exchange with the network.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{
    core::{LocalControl, NetId, Tick},
    prediction::{IncomingMoveAcks, IncomingMoves, OutgoingMoveAcks, OutgoingMoves},
    prelude::NetSim,
};
use bevy_unlag_testkit::traces;

/// Returns a client's own pawn and its name.
///
/// # Errors
/// Returns a message if the client has no pawn.
pub fn own_pawn(client: &mut App) -> Result<(Entity, NetId), String> {
    let world = client.world_mut();
    let own = world.query_filtered::<(Entity, &NetId), With<LocalControl>>().single(world);
    own.map(|(pawn, id)| (pawn, *id)).map_err(|e| format!("a player has no pawn: {e}"))
}

/// Returns the pawn with a name.
///
/// # Errors
/// Returns a message if the app has no such pawn.
pub fn named_pawn(app: &mut App, id: NetId) -> Result<Entity, String> {
    let world = app.world_mut();
    let found = world.query::<(Entity, &NetId)>().iter(world).find(|(_, name)| **name == id);
    found.map(|(pawn, _)| pawn).ok_or_else(|| format!("an app has no pawn {id:?}"))
}

/// Takes the move packets that a client's pawn has written.
pub fn take_moves(client: &mut App, pawn: Entity) -> Vec<Vec<u8>> {
    let mailbox = client.world_mut().get_mut::<OutgoingMoves>(pawn);
    mailbox.map(|mut mailbox| core::mem::take(&mut mailbox.0)).unwrap_or_default()
}

/// Takes the acknowledgements that a server's pawn has written.
pub fn take_acks(server: &mut App, pawn: Entity) -> Vec<Vec<u8>> {
    let mailbox = server.world_mut().get_mut::<OutgoingMoveAcks>(pawn);
    mailbox.map(|mut mailbox| core::mem::take(&mut mailbox.0)).unwrap_or_default()
}

/// Delivers move packets to a server's pawn.
pub fn deliver_moves(server: &mut App, pawn: Entity, packets: impl IntoIterator<Item = Vec<u8>>) {
    if let Some(mut mailbox) = server.world_mut().get_mut::<IncomingMoves>(pawn) {
        packets.into_iter().for_each(|bytes| mailbox.deliver(bytes));
    }
}

/// Delivers acknowledgements to a client's pawn.
pub fn deliver_acks(client: &mut App, pawn: Entity, acks: impl IntoIterator<Item = Vec<u8>>) {
    if let Some(mut mailbox) = client.world_mut().get_mut::<IncomingMoveAcks>(pawn) {
        acks.into_iter().for_each(|bytes| mailbox.deliver(bytes));
    }
}

/// Returns the simulated link of a client.
pub fn net_sim(client: &mut App) -> Option<&NetSim> {
    let world = client.world_mut();
    world.query::<&NetSim>().iter(world).next()
}

/// Returns the bytes that a client has sent and received so far, with UDP and IP headers.
pub fn wire_bytes(client: &mut App) -> (u64, u64) {
    /// UDP and IP header bytes per datagram.
    const HEADERS: u64 = 28;
    net_sim(client).map_or((0, 0), |sim| {
        let (up, down) = sim.bytes();
        (up + HEADERS * sim.up_counters().sent, down + HEADERS * sim.down_counters().sent)
    })
}

/// Returns the distances in metres between the positions of a client's own pawn on the server and on the
/// client after the same moves, and the client's moves. Both apps must record
/// [`MoveTrace`](bevy_unlag::prediction::MoveTrace)s.
///
/// # Errors
/// Returns a message if the client has no pawn.
pub fn owner_errors(server: &mut App, client: &mut App) -> Result<(Vec<f32>, Vec<(Tick, Vec3)>), String> {
    let (_, id) = own_pawn(client)?;
    let [server, owner] = [server, client].map(|app| traces(app).remove(&id).unwrap_or_default());
    let server: HashMap<Tick, Vec3> = server.into_iter().collect();
    let errors = owner.iter().filter_map(|(tick, place)| Some(place.distance(*server.get(tick)?)));
    Ok((errors.collect(), owner))
}

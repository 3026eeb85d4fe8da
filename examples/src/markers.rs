//! Player-placed map markers, as an example of two game-defined messages.

use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    movement::HasCapsule,
    net::{MessageRules, MessageVerdict},
    prelude::*,
};

use crate::hero::HeroState;

/// Maximum distance of a marker from its player, in metres.
pub const MAX_MARKER_DISTANCE: f32 = 200.0;
/// Rate limit of requests, per second.
const REQUESTS_PER_SECOND: f32 = 2.0;

/// Client to server: request to place a marker.
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub struct PlaceMarker(pub Vec3);

/// Server to everyone: a marker placed by the player that the message is about.
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub struct MarkerPlaced(pub Vec3);

/// Registers the two messages and their rules; client and server both add it. The server validates and
/// relays.
pub fn plugin(app: &mut App) {
    app.add_game_message::<PlaceMarker>(MessageRules::to_server().per_second(REQUESTS_PER_SECOND))
        .add_game_message::<MarkerPlaced>(MessageRules::to_everyone())
        .validate_game_message::<PlaceMarker, _>(validate_marker)
        .add_systems(Update, relay_markers);
}

/// Accepts markers of living players within [`MAX_MARKER_DISTANCE`].
fn validate_marker(
    point: InRef<Received<PlaceMarker>>,
    players: Query<AnyOf<(&SoldierState, &HeroState)>>,
) -> MessageVerdict {
    let player = point.about.and_then(|pawn| players.get(pawn).ok());
    let body = player.and_then(|(soldier, hero)| {
        soldier.map(HasCapsule::capsule).or_else(|| hero.map(HasCapsule::capsule))
    });
    match body {
        Some(body) if body.alive && body.position.distance(point.message.0) <= MAX_MARKER_DISTANCE => {
            MessageVerdict::Accept
        }
        _ => MessageVerdict::Reject,
    }
}

fn relay_markers(mut points: MessageReader<Received<PlaceMarker>>, mut everyone: Outbox<MarkerPlaced>) {
    for point in points.read() {
        if let Some(player) = point.about {
            everyone.send_about(player, &MarkerPlaced(point.message.0));
        }
    }
}

//! Player-placed map markers, as an example of two game-defined messages.

use bevy::prelude::*;
use bevy_unlag::{
    core::{BitReader, BitWriter, Wire, WireError},
    prelude::*,
};

/// Maximum distance of a marker from its player, in metres.
pub const FARTHEST: f32 = 200.0;
/// Rate limit of requests, per second.
const OFTEN: f32 = 2.0;

/// Client to server: request to place a marker.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point(pub Vec3);

/// Server to everyone: a marker placed by the player that the message is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pointed(pub Vec3);

impl Wire for Point {
    fn write(&self, w: &mut BitWriter) {
        self.0.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Vec3::read(r).map(Self)
    }
}

impl Wire for Pointed {
    fn write(&self, w: &mut BitWriter) {
        self.0.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Vec3::read(r).map(Self)
    }
}

/// Registers the two messages and their rules; client and server both add it. The server validates and
/// relays.
#[derive(Debug)]
pub struct MarksPlugin;

impl Plugin for MarksPlugin {
    fn build(&self, app: &mut App) {
        app.add_game_message::<Point>(MessageRules::to_server().per_second(OFTEN))
            .add_game_message::<Pointed>(MessageRules::to_everyone())
            .judge_game_message::<Point, _>(judge)
            .add_systems(Update, pass_on);
    }
}

/// Accepts markers of living players within [`FARTHEST`].
fn judge(point: InRef<Received<Point>>, players: Query<&SoldierState>) -> Verdict {
    let body = point.about.and_then(|pawn| players.get(pawn).ok()).map(|state| state.body);
    match body {
        Some(body) if body.alive && body.position.distance(point.message.0) <= FARTHEST => Verdict::Accept,
        _ => Verdict::Reject,
    }
}

fn pass_on(mut points: MessageReader<Received<Point>>, mut everyone: Outbox<Pointed>) {
    for point in points.read() {
        if let Some(player) = point.about {
            everyone.send_about(player, &Pointed(point.message.0));
        }
    }
}

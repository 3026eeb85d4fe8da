//! A player points at a place, and whoever sees the player sees where: two messages of the game's own.

use bevy::prelude::*;
use bevy_unlag::{
    core::{BitReader, BitWriter, Wire, WireError},
    prelude::*,
};

/// How far away a player may point, in metres.
pub const FARTHEST: f32 = 200.0;
/// How often, a second.
const OFTEN: f32 = 2.0;

/// From a player: here!
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point(pub Vec3);

/// To everyone: there, says the player that it is about.
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

/// The two messages and their rules; client and server both add it. The server judges, and passes on.
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

/// The living point, and not at the moon.
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

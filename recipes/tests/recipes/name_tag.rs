//! A name tag over every remote player.

use unlag_recipes::{floor, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{Interpolate, InterpolationSpan, Visuals, Wire},
    net::{AddPawnState, OwnPawnState},
    prelude::*,
};

/// Name of a player: twelve bytes of UTF-8, filled up with zeros.
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct PlayerName([u8; 12]);

/// Nothing lies between two names: the older one holds until the moment of the newer one.
impl Interpolate for PlayerName {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// On both sides, after the suite's plugins: sends the name of every pawn to everybody who sees it, late
/// joiners included.
fn names(app: &mut App) {
    app.add_pawn_state::<PlayerName>(OwnPawnState::Follow);
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, names)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let name =
                PlayerName(if *players == 1 { *b"Alice\0\0\0\0\0\0\0" } else { *b"Bob\0\0\0\0\0\0\0\0\0" });
            let place = Transform::from_xyz(f32::from(*players) * 3.0, 0.1, 0.0);
            commands.spawn((
                SoldierPawn,
                NetId(*players),
                name,
                place,
                player_pawn(joined.link, joined.peer),
            ));
        },
    );
}

/// The tag. In a game a `Text2d` or a mesh; its `GlobalTransform` is the place for
/// `Camera::world_to_viewport`.
#[derive(Component)]
struct NameTag(String);

/// On a client: a visual follows the pawn as it is drawn, and the tag is a child above its head. A
/// rendered visual also has a `Visibility`.
fn add_tags(players: Query<(Entity, &PlayerName, &NetRole), Without<Visuals>>, mut commands: Commands) {
    for (pawn, name, role) in &players {
        if *role == NetRole::SimulatedProxy {
            let text = String::from_utf8_lossy(&name.0).trim_end_matches('\0').to_owned();
            let tag = (NameTag(text), Transform::from_xyz(0.0, 2.1, 0.0));
            commands.spawn((VisualOf(pawn), children![tag]));
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, names))
        .add_systems(Update, add_tags);
}
// ANCHOR_END: game

fn walker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}

#[test]
fn tag_of_the_other_player_follows_it_and_the_own_pawn_has_none() {
    play(server, &[client, walker], |game| {
        game.run(2.0);
        let watcher = &mut game.clients[0];
        let drawn = position(watcher, NetId(2));
        assert!(drawn.z < -10.0, "the other one has walked: {drawn}");
        let world = watcher.world_mut();
        let mut tags = world.query::<(&NameTag, &GlobalTransform)>();
        let tags: Vec<_> = tags.iter(world).map(|(tag, place)| (&*tag.0, place.translation())).collect();
        let [("Bob", place)] = tags[..] else { panic!("{tags:?}") };
        assert!(place.distance(drawn + Vec3::Y * 2.1) < 0.05, "{place} over {drawn}");
    });
}

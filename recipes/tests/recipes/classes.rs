//! Two classes of soldiers: one is chosen at spawn, another one at a respawn.

use unlag_recipes::{Game, component, corrections, floor, play, position};

// ANCHOR: game
use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_unlag::{core::PawnClass, prelude::*};

const SCOUT: PawnClass = PawnClass(0);
const HEAVY: PawnClass = PawnClass(1);

/// The same on both sides, before the suite's plugins. Class 0 is the configuration itself.
fn classes(app: &mut App) {
    let mut scout = CapsuleConfig { max_walk_speed: 8.0, ..default() };
    let heavy = CapsuleConfig { max_walk_speed: 4.0, half_height: 1.2, eye_height: 2.2, ..default() };
    scout.add_class(heavy).expect("there are two classes");
    app.insert_resource(scout);
}

fn server(app: &mut App) {
    app.add_plugins((classes, UnlagServerPlugins::default(), floor)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let class = if *players == 1 { HEAVY } else { SCOUT };
            let place = Transform::from_xyz(10.0 * f32::from(*players), 0.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), class, place, owner));
        },
    );
}

/// On the server: puts a pawn elsewhere, as a soldier of another class.
fn respawn(
    In((id, class)): In<(NetId, PawnClass)>,
    mut pawns: Query<(Entity, &NetId, &mut SoldierState)>,
    mut commands: Commands,
) {
    for (pawn, _, mut state) in pawns.iter_mut().filter(|(_, other, _)| **other == id) {
        state.body.teleport_to(Vec3::new(60.0, 0.1, 0.0));
        commands.entity(pawn).insert(class);
    }
}

/// A client whose player runs straight ahead.
fn client(app: &mut App) {
    app.add_plugins((classes, UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}
// ANCHOR_END: game

#[test]
fn class_decides_about_the_speed_and_everybody_knows_it() {
    play(server, &[client, client], |game| {
        let speeds = |game: &mut Game| {
            let places = |app: &mut App| [NetId(1), NetId(2)].map(|id| position(app, id));
            let before = places(&mut game.server);
            game.run(1.0);
            let after = places(&mut game.server);
            [0, 1].map(|player| before[player].distance(after[player]).round())
        };
        assert_eq!(speeds(game), [4.0, 8.0], "metres in a second");

        let change = (NetId(2), HEAVY);
        game.server.world_mut().run_system_once_with(respawn, change).expect("the system runs");
        game.run(1.0);
        assert_eq!(speeds(game), [4.0, 4.0]);
        for app in game.apps_mut() {
            assert_eq!(component::<PawnClass>(app, NetId(2)), Some(HEAVY));
        }
        assert_eq!(corrections(&mut game.clients[1]), 0, "a respawn is no error");
    });
}

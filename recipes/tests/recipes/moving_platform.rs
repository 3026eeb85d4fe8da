//! A ferry that carries players: its pose is a function of the tick, so nothing of it is sent.

use unlag_recipes::{component, corrections, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    movement::{BaseId, BaseTrack, MovementBase, Shuttle},
    prelude::*,
    rapier::prelude::Collider,
};

const FERRY: BaseId = BaseId(1);

/// On both sides: back and forth over 40 m, with a stop of a second at each end.
fn ferry(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let track = Shuttle { to: Vec3::NEG_Z * 40.0, travel_seconds: 8.0, pause_seconds: 1.0, ..default() };
        let ferry = MovementBase { id: FERRY, track: BaseTrack::Shuttle(track) };
        commands.spawn((ferry, Collider::cuboid(3.0, 0.2, 3.0)));
    });
}

/// There is no other floor: players spawn on the ferry, wherever it is.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), ferry)).add_observer(
        |joined: On<PlayerJoined>,
         ferry: Single<&Transform, With<MovementBase>>,
         mut players: Local<u16>,
         mut commands: Commands| {
            *players += 1;
            let place = ferry.translation + Vec3::new(1.5 * f32::from(*players) - 2.0, 0.3, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), Transform::from_translation(place), owner));
        },
    );
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), ferry));
}
// ANCHOR_END: game

/// Returns the place of a pawn on the ferry, both as an app draws them.
fn place_on_ferry(app: &mut App, id: NetId) -> Vec3 {
    let world = app.world_mut();
    let mut ferries = world.query_filtered::<&Transform, With<MovementBase>>();
    let ferry = ferries.single(world).expect("one ferry").translation;
    position(app, id) - ferry
}

#[test]
fn riders_stand_still_on_the_ferry_on_all_screens() {
    play(server, &[client, client], |game| {
        let from = position(&mut game.server, NetId(1));
        let before: Vec<_> = game.clients.iter_mut().map(|app| place_on_ferry(app, NetId(1))).collect();
        let corrected: Vec<_> = game.clients.iter_mut().map(corrections).collect();
        game.run(3.0);
        let way = position(&mut game.server, NetId(1)).distance(from);
        assert!(way > 5.0, "the ferry has carried its rider {way} m");
        for (client, before) in game.clients.iter_mut().zip(before) {
            let drift = place_on_ferry(client, NetId(1)).distance(before);
            assert!(drift < 0.2, "the rider has slid by {drift} m");
        }
        assert_eq!(game.clients.iter_mut().map(corrections).collect::<Vec<_>>(), corrected);
        let state = component::<SoldierState>(&mut game.server, NetId(1)).expect("a soldier");
        // On the fixed world it would be left behind, and fall.
        assert_eq!(state.body.base, FERRY);
    });
}

//! A crate that physics moves on the server, and that carries whoever stands on it.

use unlag_recipes::{component, floor, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    movement::{BaseId, MovementBase, RecordedBase},
    net::ReplicatedPawn,
    prelude::*,
    rapier::prelude::{Collider, RigidBody, Velocity},
    smoothing::RecordTransform,
};

const RIDER: NetId = NetId(1);
const CRATE: NetId = NetId(50_000);
const BASE: BaseId = BaseId(1);

/// Body that carries pawns, the same on both sides: 3 m wide, 1 m high.
fn crate_body() -> impl Bundle {
    (MovementBase::recorded(BASE), RecordedBase, Collider::cuboid(1.5, 0.5, 1.5))
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor))
        .add_systems(Startup, |mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.5, 0.0);
            let physics = (RigidBody::Dynamic, Velocity::default());
            // `RecordTransform` publishes where it is after each tick.
            commands.spawn((ReplicatedPawn, CRATE, RecordTransform::default(), place, crate_body(), physics));
        })
        .add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            // The first player stands on the crate, the second one beside it.
            let place = [Vec3::Y * 1.1, Vec3::X * 8.0][usize::from(*players).min(1)];
            *players += 1;
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), Transform::from_translation(place), owner));
        });
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_observer(give_body);
}

/// Gives the crate its shape when it appears. No physics moves it on a client: snapshots do.
fn give_body(named: On<Add, NetId>, names: Query<&NetId>, mut commands: Commands) {
    if names.get(named.entity).is_ok_and(|id| *id == CRATE) {
        commands.entity(named.entity).insert(crate_body());
    }
}
// ANCHOR_END: game

/// Returns the place of the rider on the crate, both as an app has them.
fn place_on_crate(app: &mut App) -> Vec3 {
    let world = app.world_mut();
    let mut crates = world.query_filtered::<&Transform, With<RecordedBase>>();
    let place = *crates.single(world).expect("one crate");
    place.rotation.inverse() * (position(app, RIDER) - place.translation)
}

#[test]
fn crate_that_is_pushed_carries_its_rider_on_all_screens() {
    play(server, &[client, client], |game| {
        game.run(1.0);
        let before: Vec<_> = game.apps_mut().map(place_on_crate).collect();
        let from = position(&mut game.server, RIDER);
        let world = game.server.world_mut();
        let mut crates = world.query_filtered::<&mut Velocity, With<RecordedBase>>();
        crates.single_mut(world).expect("one crate").linear = Vec3::X * 3.0;
        game.run(3.0);

        let way = position(&mut game.server, RIDER).distance(from);
        assert!(way > 0.3, "the crate has carried its rider {way} m");
        for (number, app) in game.apps_mut().enumerate() {
            let state = component::<SoldierState>(app, RIDER);
            assert!(state.is_none_or(|state| state.body.base == BASE), "app {number}");
            let slid = place_on_crate(app).distance(before[number]);
            assert!(slid < 0.1, "app {number}: the rider has slid by {slid} m");
        }
    });
}

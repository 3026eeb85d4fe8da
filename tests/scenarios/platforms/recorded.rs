//! Riding on things that physics or the game moves on the server.

use bevy_rapier3d::prelude::Velocity;
use bevy_unlag::{movement::RecordedBase, net::ReplicatedPawn, smoothing::RecordTransform};

use super::*;

const CRATE: BaseId = BaseId(9);
const CRATE_ID: NetId = NetId(40_000);

/// The game moves the crate from this tick on.
#[derive(Resource, Default)]
struct Departure(Option<Tick>);

/// The crate as both sides know it: 3 m wide, 1 m high.
fn crate_body() -> impl Bundle {
    (MovementBase::recorded(CRATE), RecordedBase, Collider::cuboid(1.5, 0.5, 1.5))
}

fn ground(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server_with_crate(is_dynamic: bool) -> App {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), TracePlugin))
        .init_resource::<Departure>()
        .add_systems(Startup, (ground, move |mut commands: Commands| spawn_crate(&mut commands, is_dynamic)))
        .add_systems(FixedUpdate, push)
        .add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let place = Transform::from_xyz(f32::from(*players - 1) * 8.0, 1.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), place, owner));
        });
    server
}

fn spawn_crate(commands: &mut Commands, is_dynamic: bool) {
    let place = Transform::from_xyz(0.0, 0.5, 0.0);
    let mut thing =
        commands.spawn((ReplicatedPawn, CRATE_ID, RecordTransform::default(), place, crate_body()));
    if is_dynamic {
        thing.insert((RigidBody::Dynamic, Velocity::default()));
    }
}

/// Moves the crate to and fro over 4 m, at up to 1.8 m/s.
fn push(
    tick: Res<CurrentTick>,
    departure: Res<Departure>,
    mut crates: Query<&mut Transform, With<RecordedBase>>,
) {
    let Some(departure) = departure.0 else { return };
    let seconds = tick.0.since(departure) as f32 / 64.0;
    for mut transform in &mut crates {
        transform.translation.x = 2.0 - 2.0 * (0.9 * seconds).cos();
    }
}

fn client_with_crate() -> App {
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), TracePlugin))
        .init_resource::<Screen>()
        .add_systems(Startup, ground)
        .add_systems(Last, look)
        .add_observer(|named: On<Add, NetId>, names: Query<&NetId>, mut commands: Commands| {
            if names.get(named.entity).is_ok_and(|id| *id == CRATE_ID) {
                commands.entity(named.entity).insert(crate_body());
            }
        });
    client
}

fn start_on_crate(is_dynamic: bool) -> SteppedApps {
    let mut game = SteppedApps::new(server_with_crate(is_dynamic));
    for _ in 0..2 {
        join(&mut game, client_with_crate(), link(150, 0.0));
    }
    game.run(seconds(4.0));
    for side in [&mut game.clients[0], &mut game.server] {
        let rider = state(side, RIDER).body;
        assert_eq!(rider.base, CRATE, "{rider:?}");
    }
    game.clients[1].world_mut().resource_mut::<Screen>().0.clear();
    game
}

/// Largest distance between the owner's and the server's result of a move within the last `ticks` of both, in
/// metres.
fn owner_error(game: &mut SteppedApps, ticks: i32) -> f32 {
    let server: HashMap<Tick, Vec3> = traces(&mut game.server)[&RIDER].iter().copied().collect();
    let now = game.server.world().resource::<CurrentTick>().0;
    let client = traces(&mut game.clients[0]);
    let recent = client[&RIDER].iter().filter(|(tick, _)| now.since(*tick) < ticks);
    let errors = recent.filter_map(|(tick, place)| Some(place.distance(*server.get(tick)?)));
    errors.fold(0.0, f32::max)
}

#[test]
fn rider_of_a_crate_that_the_game_pushes_is_predicted_and_drawn_on_it() {
    let mut game = start_on_crate(false);
    let before = corrections(&mut game);
    game.run(seconds(2.0));
    assert!(owner_error(&mut game, 100) < 0.001, "at rest");
    let now = game.server.world().resource::<CurrentTick>().0;
    game.server.world_mut().resource_mut::<Departure>().0 = Some(now);
    game.run(seconds(10.0));
    let error = owner_error(&mut game, 600);
    assert!(error < 0.0173, "{error} m");
    assert_eq!(corrections(&mut game), before, "the crate moves evenly");
    let [mine, theirs] = [&mut game.clients[0], &mut game.server].map(|app| state(app, RIDER).body);
    assert!(mine.base == CRATE && mine.base_position.distance(theirs.base_position) < 0.001, "{mine:?}");
    assert!(mine.world_velocity().length() > 0.01, "the crate carries the rider: {mine:?}");
    assert_drawn_in_place(&mut game, 1, 1_000);
}

#[test]
fn shots_at_the_rider_of_a_moving_crate_are_resolved_as_they_were_drawn() {
    let mut game = start_on_crate(false);
    add_shooting(&mut game.clients[1]);
    let now = game.server.world().resource::<CurrentTick>().0;
    game.server.world_mut().resource_mut::<Departure>().0 = Some(now);
    game.run(seconds(14.0));
    assert_resolved_as_drawn(&game, 1);
}

#[test]
fn crate_of_the_physics_engine_carries_its_rider() {
    let mut game = start_on_crate(true);
    let from = state(&mut game.server, RIDER).body.position;
    let before = corrections(&mut game);
    game.run(seconds(2.0));
    assert!(owner_error(&mut game, 100) < 0.003, "at rest");
    assert_eq!(corrections(&mut game), before);
    let world = game.server.world_mut();
    let mut crates = world.query_filtered::<&mut Velocity, With<RecordedBase>>();
    crates.single_mut(world).expect("one crate").linear = Vec3::new(3.0, 0.0, 0.0);
    game.run(seconds(3.0));
    let pushed = corrections(&mut game) - before;
    assert!(pushed <= 8, "{pushed} corrections by one push");
    let [mine, theirs] = [&mut game.clients[0], &mut game.server].map(|app| state(app, RIDER).body);
    let way = theirs.position.distance(from);
    assert!(way > 0.3 && theirs.base == CRATE && mine.base == CRATE, "it was carried {way} m: {theirs:?}");
    // It rests again.
    let rested = corrections(&mut game);
    game.run(seconds(2.0));
    assert!(owner_error(&mut game, 100) < 0.01, "{} m", owner_error(&mut game, 100));
    assert_eq!(corrections(&mut game), rested, "corrections at rest");
}

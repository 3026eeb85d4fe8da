//! Passengers of vehicles: seen in their seats, and hit there.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    Characters, ControlSystems, NpcControls, NpcPawn,
    core::{Passenger, Tick},
    link_conditioner::LinkPreset,
    movement::{KartModel, PawnCapsule, PawnCollision},
    net::ReplicatedPawn,
    prelude::*,
    smoothing::RecordTransform,
    weapons::ShotResult,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::captured_log::errors;

const SEAT: Vec3 = Vec3::new(0.0, 0.3, 0.2);
const KART: NetId = NetId(7);
const DRIVER: NetId = NetId(8);

fn characters() -> Characters {
    Characters::of::<Soldier>().with::<KartModel>()
}

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(400.0, 0.5, 400.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

/// A server with a kart that drives in a circle around the origin, with a soldier in it.
fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins { characters: characters(), ..default() })
        .add_systems(Startup, (level, spawn_kart))
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.1, 0.0);
            commands.spawn((SoldierPawn, NetId(1), place, player_pawn(joined.link, joined.peer)));
        });
    server
}

fn spawn_kart(mut commands: Commands) {
    let mut controls = NpcControls::default();
    controls.0.set_axes(Vec2::new(0.45, 0.5));
    let place = Transform::from_xyz(12.0, 0.1, 0.0);
    let vehicle = commands.spawn((NpcPawn::<KartModel>::default(), KART, controls, place)).id();
    let soldier = (NpcPawn::<Soldier>::default(), DRIVER, Passenger { vehicle, seat: SEAT });
    commands.spawn((soldier, place));
}

/// Largest distance between the drawn passenger and its seat in the drawn kart, and all verdicts.
#[derive(Resource, Default)]
struct PassengerRecord {
    worst: f32,
    frames: u32,
    shots: Vec<(Tick, bool)>,
    verdicts: Vec<ShotVerdict>,
}

fn client() -> App {
    let mut client = headless_app();
    client
        .add_plugins((
            UnlagClientPlugins { characters: characters(), ..default() },
            PlayerControlsPlugin::default(),
        ))
        .init_resource::<PassengerRecord>()
        .add_systems(Startup, level)
        .add_systems(RunFixedMainLoop, shoot_at_driver.in_set(ControlSystems::Accumulate))
        .add_systems(Last, watch);
    client
}

fn shoot_at_driver(
    time: Res<Time>,
    mut own: Query<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls)>,
    others: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
) {
    let Some((_, driver)) = others.iter().find(|(id, _)| **id == DRIVER) else { return };
    for (drawn, mut input, mut trigger) in &mut own {
        let head = driver.pose.position + Vec3::Y * 1.3;
        input.look_along(head - (drawn.pose.position + Vec3::Y * 1.64));
        trigger.set_fire((time.elapsed_secs() * 3.0).fract() < 0.2);
    }
}

fn watch(
    pawns: Query<(&NetId, &DrawnPose)>,
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut seen: ResMut<PassengerRecord>,
) {
    let drawn = |wanted| pawns.iter().find(|(id, _)| **id == wanted).map(|(_, drawn)| drawn.pose);
    if let (Some(kart), Some(driver)) = (drawn(KART), drawn(DRIVER)) {
        let seat = kart.position + kart.rotation * SEAT;
        seen.frames += 1;
        // The first frames: one of the two is not drawn yet.
        if seen.frames > 100 {
            seen.worst = seen.worst.max(seat.distance(driver.position));
        }
    }
    seen.shots.extend(fired.read().map(|shot| (shot.round.shot, shot.drawn().is_some())));
    seen.verdicts.extend(verdicts.read());
}

#[test]
fn passenger_is_drawn_in_its_seat_and_hit_there() {
    let mut game = SteppedApps::new(server());
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    game.join(client(), link).expect("the client joins");
    game.run(Duration::from_secs(12));
    let seen = game.clients[0].world().resource::<PassengerRecord>();
    assert!(seen.frames > 800 && seen.worst < 0.03, "{} m in {} frames", seen.worst, seen.frames);
    let mut confirmed = 0;
    for (shot, drawn) in seen.shots.iter().filter(|(_, drawn)| *drawn) {
        let verdict = seen.verdicts.iter().find(|verdict| verdict.shot == *shot);
        let hit = verdict.is_none_or(|verdict| matches!(verdict.result, ShotResult::Hit(_)));
        assert!(hit && *drawn, "{shot:?}: {verdict:?}");
        confirmed += u32::from(verdict.is_some());
    }
    assert!(confirmed > 10, "{confirmed} hits of {} shots", seen.shots.len());
}

/// Returns the entity of a pawn on an app.
fn pawn(app: &mut App, id: NetId) -> Entity {
    let world = app.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    pawns.iter(world).find(|(_, of)| **of == id).expect("the pawn is there").0
}

/// Returns the radius of a pawn's collision capsule on an app.
fn radius(app: &mut App, id: NetId) -> f32 {
    let pawn = pawn(app, id);
    app.world().get::<PawnCapsule>(pawn).expect("pawns have a capsule").radius
}

/// Starts a game in which capsules collide so, with one client.
fn collide(pawns: PawnCollision) -> SteppedApps {
    let config = CapsuleConfig { pawns, ..default() };
    let (mut server, mut client) = (server(), client());
    server.insert_resource(config.clone());
    client.insert_resource(config);
    let mut game = SteppedApps::new(server);
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    game.join(client, link).expect("the client joins");
    game
}

/// Returns the way of the kart within four seconds from the start, in metres.
fn way_of_the_kart(game: &mut SteppedApps) -> f32 {
    let mut places = Vec::new();
    for _ in 0..40 {
        game.run(Duration::from_millis(100));
        let kart = pawn(&mut game.server, KART);
        places.push(game.server.world().get::<Transform>(kart).expect("a kart has a place").translation);
    }
    places.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
}

#[test]
fn passenger_does_not_block_its_vehicle_where_pawns_block_each_other() {
    let control = way_of_the_kart(&mut collide(PawnCollision::Ignore));
    let mut game = collide(PawnCollision::Block);
    let way = way_of_the_kart(&mut game);
    assert!(control > 5.0 && (way - control).abs() < 0.01, "{way} m instead of {control} m");
    for app in [&mut game.server, &mut game.clients[0]] {
        assert_eq!(radius(app, DRIVER), 0.0);
        assert!(radius(app, KART) > 0.1);
    }
    let driver = pawn(&mut game.server, DRIVER);
    game.server.world_mut().entity_mut(driver).remove::<Passenger>();
    game.run(Duration::from_secs(1));
    for app in [&mut game.server, &mut game.clients[0]] {
        assert!(radius(app, DRIVER) > 0.1, "a pawn on foot is an obstacle again");
    }
}

#[test]
fn passenger_falls_to_the_ground_when_its_vehicle_is_gone() {
    let mut game = SteppedApps::new(server());
    game.run(Duration::from_secs(3));
    let (kart, driver) = (pawn(&mut game.server, KART), pawn(&mut game.server, DRIVER));
    let height = |game: &SteppedApps| {
        Soldier::position(game.server.world().get::<SoldierState>(driver).expect("a soldier")).y
    };
    assert!(height(&game) > 0.25, "the control: it sits at {} m", height(&game));
    game.server.world_mut().despawn(kart);
    game.run(Duration::from_secs(1));
    assert!(game.server.world().get::<Passenger>(driver).is_none());
    assert!(height(&game) < 0.1, "it hangs in the air at {} m", height(&game));
}

#[test]
fn pawn_that_cannot_sit_is_released_with_a_sentence() {
    let mut game = SteppedApps::new(server());
    game.run(Duration::from_secs(1));
    let kart = pawn(&mut game.server, KART);
    let world = game.server.world_mut();
    let place = Transform::from_xyz(-20.0, 0.1, 0.0);
    let thing = world.spawn((ReplicatedPawn, RecordTransform::default(), place)).id();
    let [in_kart, on_thing] = [kart, thing].map(|vehicle| Passenger { vehicle, seat: SEAT });
    let other_kart = world.spawn((NpcPawn::<KartModel>::default(), in_kart, place)).id();
    let soldier = world.spawn((NpcPawn::<Soldier>::default(), on_thing, place)).id();
    let lines = errors(|| game.run(Duration::from_millis(500)));
    let told = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
    assert_eq!(told("only capsule characters can"), 1, "{lines:?}");
    assert_eq!(told("which is not a pawn of any character"), 1, "{lines:?}");
    for pawn in [other_kart, soldier] {
        assert!(game.server.world().get::<Passenger>(pawn).is_none());
    }
}

#[test]
fn pawn_of_a_player_cannot_sit_while_the_player_controls_it() {
    let mut game = collide(PawnCollision::Ignore);
    game.run(Duration::from_secs(2));
    let (kart, own) = (pawn(&mut game.server, KART), pawn(&mut game.server, NetId(1)));
    let lines = errors(|| {
        game.server.world_mut().entity_mut(own).insert(Passenger { vehicle: kart, seat: SEAT });
        game.run(Duration::from_millis(500));
    });
    let told = lines.iter().filter(|line| line.contains("while a player controls it")).count();
    assert_eq!(told, 1, "{lines:?}");
    assert!(game.server.world().get::<Passenger>(own).is_none());
}

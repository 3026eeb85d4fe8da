//! Passengers of vehicles: seen in their seats, and hit there.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    Characters, ControlSystems, NpcControls, NpcPawn,
    core::{Passenger, Tick},
    link_conditioner::LinkPreset,
    movement::KartModel,
    prelude::*,
    weapons::ShotResult,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

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
struct Seen {
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
        .init_resource::<Seen>()
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
    mut seen: ResMut<Seen>,
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
    let seen = game.clients[0].world().resource::<Seen>();
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

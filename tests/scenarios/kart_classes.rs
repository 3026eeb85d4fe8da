//! Classes of karts: speed and hit boxes on every machine, at the spawn and after a respawn in another class.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    core::PawnClass,
    link_conditioner::LinkPreset,
    movement::{KartConfig, KartModel, KartState},
    prelude::*,
};
use bevy_unlag_testkit::{SteppedApps, TracePlugin, first_difference, headless_app, traces};

use crate::{seconds, stats};

const BUGGY: PawnClass = PawnClass(0);
const TRUCK: PawnClass = PawnClass(1);
const FIRST: NetId = NetId(1);
const SECOND: NetId = NetId(2);
/// Radii of the hit spheres of both classes, in metres.
const RADII: [f32; 2] = [0.7, 1.1];
/// Top speed of a truck: √((driving force - rolling resistance) / drag), in metres per second.
const TRUCK_SPEED: f32 = 13.4;

/// The same on both sides.
fn classes(app: &mut App) {
    let mut buggy = KartConfig { radius: RADII[0], ..default() };
    let truck = KartConfig { max_driving_force: 3_000.0, radius: RADII[1], half_height: 1.2, ..default() };
    buggy.add_class(truck).expect("there are two classes");
    app.insert_resource(buggy).add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(900.0, 0.5, 900.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

/// Starts a match of a buggy and a truck that drive straight ahead.
fn start() -> SteppedApps {
    let characters = Characters::of::<KartModel>;
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins { characters: characters(), ..default() }, TracePlugin, classes))
        .add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let class = if *players == 1 { BUGGY } else { TRUCK };
            let place = Transform::from_xyz(30.0 * f32::from(*players), 0.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<KartModel>::default(), NetId(*players), class, place, owner));
        });
    let mut game = SteppedApps::new(server);
    for _ in 0..2 {
        let mut client = headless_app();
        client
            .add_plugins((UnlagClientPlugins { characters: characters(), ..default() }, TracePlugin, classes))
            .add_plugins(PlayerControlsPlugin::default())
            .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
                own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
            });
        let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
        game.join(client, link).expect("the client joins");
        // The first player has the first id.
        game.run(seconds(1.0));
    }
    game.run(seconds(6.0));
    game
}

/// Speed of a kart on the server, in metres per second.
fn speed(game: &mut SteppedApps, id: NetId) -> f32 {
    let world = game.server.world_mut();
    let mut karts = world.query::<(&NetId, &KartState)>();
    karts.iter(world).find(|(other, _)| **other == id).expect("the kart is there").1.speed()
}

/// Checks the class of a kart and the size of its hit boxes on every machine.
fn assert_class(game: &mut SteppedApps, id: NetId, class: PawnClass) {
    for (number, app) in game.apps_mut().enumerate() {
        let world = app.world_mut();
        let mut karts = world.query::<(&NetId, &PawnClass, &HitBoxes)>();
        let kart = karts.iter(world).find(|(other, ..)| **other == id);
        let known = kart.map(|(_, class, boxes)| (*class, boxes.bounds().radius));
        let (known, radius) = known.unwrap_or_else(|| panic!("app {number} does not know {id:?}"));
        assert_eq!(known, class, "{id:?} on app {number}");
        let expected = RADII[usize::from(class.0)];
        assert!((radius - expected).abs() < 0.01, "{id:?} on app {number}: {radius} m");
    }
}

/// Against two mutations: without `set_class` in `crates/bevy_unlag/src/character/kart.rs`, and without the class in
/// `write` of `crates/bevy_unlag_movement/src/kart/state.rs`.
#[test]
fn class_of_a_kart_decides_about_speed_and_hit_boxes_on_every_machine_without_corrections() {
    let mut game = start();
    let [buggy, truck] = [FIRST, SECOND].map(|id| speed(&mut game, id));
    assert!(buggy > 20.0, "the buggy drives at {buggy} m/s");
    assert!((8.0..TRUCK_SPEED).contains(&truck), "the truck drives at {truck} m/s");
    assert_class(&mut game, FIRST, BUGGY);
    assert_class(&mut game, SECOND, TRUCK);
    let server = traces(&mut game.server);
    for (client, id) in game.clients.iter_mut().zip([FIRST, SECOND]) {
        assert_eq!(first_difference(&server[&id], &traces(client)[&id], 0.001), None, "{id:?}");
    }

    let world = game.server.world_mut();
    let mut karts = world.query::<(Entity, &NetId, &mut KartState)>();
    let kart = karts.iter_mut(world).find(|(_, id, _)| **id == FIRST).map(|(kart, _, mut state)| {
        state.teleport_to(Vec3::new(-60.0, 0.1, 0.0));
        kart
    });
    world.entity_mut(kart.expect("the kart is there")).insert(TRUCK);
    game.run(seconds(8.0));
    let changed = speed(&mut game, FIRST);
    assert!((8.0..TRUCK_SPEED).contains(&changed), "after its respawn the buggy is a truck: {changed} m/s");
    assert_class(&mut game, FIRST, TRUCK);
    for (client, id) in game.clients.iter_mut().zip([FIRST, SECOND]) {
        assert_eq!(stats(client).corrections, 0, "{id:?}: a respawn is no error");
    }
}

//! Karts of the shooter: one key enters and leaves them, and the driver is seen and hit in its seat.

use bevy::prelude::*;
use bevy_unlag::{
    ControlSystems, SoldierBody,
    core::{Passenger, ServerControl},
    link_conditioner::LinkPreset,
    movement::HasCapsule,
    prelude::*,
};
use unlag_examples::{
    app::ServerOptions,
    hero::HeroState,
    karts::{PLACES, SEAT, UseVehicle},
    stepped_match::{Match, MatchOptions},
};

use crate::{captured_log::errors, hold_still, own_id, seconds, start};

/// The kart at the first of the places.
const KART: NetId = NetId(60_000);

/// Action of a player.
#[derive(Resource, Default)]
struct Keys {
    /// Whether E is pressed in this frame.
    use_vehicle: bool,
    axes: Vec2,
    fire: bool,
}

fn press_e(mut keys: ResMut<Keys>, mut server: Outbox<UseVehicle>) {
    if core::mem::take(&mut keys.use_vehicle) {
        server.send(&UseVehicle);
    }
}

/// Walks, drives, and shoots at the chest of the other hero.
fn play(
    (time, keys): (Res<Time>, Res<Keys>),
    mut own: Query<(&DrawnPose, &mut InputAccumulator, Option<&mut WeaponControls>), With<LocalControl>>,
    others: Query<&DrawnPose, (With<SoldierBody>, Without<LocalControl>)>,
) {
    for (drawn, mut input, weapon) in &mut own {
        input.axes(keys.axes);
        let (Some(mut weapon), Some(other)) = (weapon, others.iter().next()) else { continue };
        if keys.fire {
            input.look_along(other.pose.position + Vec3::Y * 1.3 - (drawn.pose.position + Vec3::Y * 1.64));
        }
        weapon.set_fire(keys.fire && (time.elapsed_secs() * 3.0).fract() < 0.2);
    }
}

/// Largest distance of the drawn driver from its seat in the drawn kart, and the number of frames.
#[derive(Resource, Default)]
struct Screen {
    worst: f32,
    frames: u32,
}

fn watch(
    pawns: Query<(&NetId, &DrawnPose)>,
    heroes: Query<&DrawnPose, (With<SoldierBody>, Without<LocalControl>)>,
    mut screen: ResMut<Screen>,
) {
    let kart = pawns.iter().find(|(id, _)| **id == KART).map(|(_, drawn)| drawn.pose);
    if let (Some(kart), Some(driver)) = (kart, heroes.iter().next()) {
        let seat = kart.position + kart.rotation * SEAT;
        screen.worst = screen.worst.max(seat.distance(driver.pose.position));
        screen.frames += 1;
    }
}

/// Starts a match on the "Average (UE)" link. Its two heroes stand so far from the first kart.
fn two_heroes(apart: [Vec3; 2]) -> Match {
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    let server = ServerOptions { heroes: true, karts: true, ..default() };
    let conditions = link.conditions();
    let mut played = start(MatchOptions { players: 2, conditions, server, ..default() });
    for (client, apart) in apart.into_iter().enumerate() {
        let app = &mut played.clients[client];
        hold_still(app);
        app.init_resource::<Keys>()
            .init_resource::<Screen>()
            .add_systems(Update, press_e)
            .add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate))
            .add_systems(Last, watch);
        let hero = own_id(app);
        let world = played.server.world_mut();
        let mut heroes = world.query::<(&NetId, &mut HeroState)>();
        let (_, mut state) = heroes.iter_mut(world).find(|(id, _)| **id == hero).expect("a hero");
        state.capsule_mut().teleport_to(PLACES[0] + apart);
    }
    played.run(seconds(2.0));
    played
}

fn keys(played: &mut Match, client: usize) -> Mut<'_, Keys> {
    played.clients[client].world_mut().resource_mut::<Keys>()
}

/// Presses E and waits until the server's decision has taken effect everywhere.
fn use_vehicle(played: &mut Match, client: usize) {
    keys(played, client).use_vehicle = true;
    played.run(seconds(2.0));
}

/// Runs the match and returns how far from its seat the other screen shows the driver at most.
fn distance_from_seat(played: &mut Match, time: f64) -> f32 {
    *played.clients[1].world_mut().resource_mut::<Screen>() = Screen::default();
    played.run(seconds(time));
    let Screen { worst, frames } = *played.clients[1].world().resource::<Screen>();
    assert!(f64::from(frames) > time * 90.0, "the driver is drawn in {frames} frames only");
    worst
}

/// The entity of a pawn on the server.
fn pawn(played: &mut Match, id: NetId) -> Entity {
    let world = played.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    pawns.iter(world).find(|(_, of)| **of == id).expect("the pawn is there").0
}

/// The vehicle in which a pawn sits on the server.
fn vehicle(played: &mut Match, id: NetId) -> Option<Entity> {
    let pawn = pawn(played, id);
    played.server.world().get::<Passenger>(pawn).map(|seat| seat.vehicle)
}

/// The place of a pawn on the server.
fn place(played: &mut Match, id: NetId) -> Vec3 {
    let pawn = pawn(played, id);
    played.server.world().get::<Transform>(pawn).expect("a pawn has a place").translation
}

fn is_free(played: &mut Match, kart: Entity) -> bool {
    played.server.world().get::<ServerControl>(kart).is_some()
}

#[test]
fn e_enters_a_kart_whose_driver_is_drawn_in_its_seat_and_e_leaves_it() {
    let mut played = two_heroes([Vec3::X * -2.0, Vec3::Z * 7.0 + Vec3::X * 6.0]);
    let (hero, kart) = (own_id(&mut played.clients[0]), pawn(&mut played, KART));
    assert!(is_free(&mut played, kart));
    use_vehicle(&mut played, 0);
    assert_eq!(own_id(&mut played.clients[0]), KART);
    assert_eq!(vehicle(&mut played, hero), Some(kart));
    let at_rest = distance_from_seat(&mut played, 1.0);
    assert!(at_rest < 0.03, "{at_rest} m from the seat of a parked kart");

    let from = place(&mut played, KART);
    // Backwards, where nothing is in the way, and to a stop.
    keys(&mut played, 0).axes = Vec2::Y * -0.5;
    let starting = distance_from_seat(&mut played, 1.0);
    keys(&mut played, 0).axes = Vec2::Y * 0.5;
    let stopping = distance_from_seat(&mut played, 1.0);
    keys(&mut played, 0).axes = Vec2::ZERO;
    played.run(seconds(0.5));
    let way = place(&mut played, KART).distance(from);
    assert!(way > 3.0, "the kart has moved only {way} m");
    assert!(starting.max(stopping) < 0.03, "{starting} m and {stopping} m from the seat in motion");

    use_vehicle(&mut played, 0);
    assert_eq!(own_id(&mut played.clients[0]), hero);
    assert_eq!(vehicle(&mut played, hero), None);
    assert!(is_free(&mut played, kart), "the next player can take it");
    let beside = place(&mut played, hero).distance(place(&mut played, KART));
    assert!((0.5..3.0).contains(&beside), "the hero gets out {beside} m from the kart");
    let from = place(&mut played, hero);
    keys(&mut played, 0).axes = Vec2::Y;
    played.run(seconds(1.0));
    let way = place(&mut played, hero).distance(from);
    assert!(way > 2.0, "the hero walks only {way} m");
}

#[test]
fn driver_who_is_shot_dead_in_its_seat_has_left_the_kart() {
    let mut played = two_heroes([Vec3::X * -2.0, Vec3::Z * 7.0]);
    let (hero, kart) = (own_id(&mut played.clients[0]), pawn(&mut played, KART));
    use_vehicle(&mut played, 0);
    assert_eq!((own_id(&mut played.clients[0]), vehicle(&mut played, hero)), (KART, Some(kart)));
    let driver = pawn(&mut played, hero);
    keys(&mut played, 1).fire = true;
    let dead = played.run_until(seconds(20.0), |game| {
        !game.server.world().get::<HeroState>(driver).expect("a hero").capsule().alive
    });
    assert!(dead, "the driver survives in its seat");
    keys(&mut played, 1).fire = false;
    played.run(seconds(1.0));
    assert_eq!(vehicle(&mut played, hero), None, "the dead driver sits on");
    assert!(is_free(&mut played, kart));
    assert_eq!(own_id(&mut played.clients[0]), hero);
}

#[test]
fn two_players_who_want_the_same_kart_cause_no_error_and_one_gets_it() {
    let mut played = two_heroes([Vec3::X * -2.0, Vec3::Z * 2.0]);
    let kart = pawn(&mut played, KART);
    let lines = errors(|| {
        for client in [0, 1] {
            keys(&mut played, client).use_vehicle = true;
        }
        played.run(seconds(2.0));
    });
    assert_eq!(lines, [""; 0], "asking for a kart is no mistake");
    let drives = [0, 1].map(|client| own_id(&mut played.clients[client]) == KART);
    assert!(drives[0] != drives[1] && !is_free(&mut played, kart), "drivers: {drives:?}");
    let other = usize::from(drives[0]);
    let lines = errors(|| use_vehicle(&mut played, other));
    assert_eq!(lines, [""; 0], "nor is asking for one that is driven");
    assert_ne!(own_id(&mut played.clients[other]), KART);
}

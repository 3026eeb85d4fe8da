//! Shots and grenades on a planet: screens and the server agree, on its side and upside down.

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_rapier3d::prelude::{Collider, Sensor};
use bevy_unlag::{
    core::{DrawnViewTime, Up, ViewTime, WorldGravity},
    movement::{GravityField, MoveVolume, VolumeId},
    prelude::*,
    rewind::WorldTrace,
    weapons::{
        DrawnProjectile, FireMode, Projectile, ProjectileEndKind, ProjectileLaunch, Shot, ShotResult,
        Trajectory,
    },
};

use crate::{
    seconds,
    shooting_range::{ShootingRange, ShotLog},
};

const RADIUS: f32 = 40.0;
const TARGET: NetId = NetId(2);
const TICK: f32 = 1.0 / 64.0;

/// A planet at the origin.
fn planet(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::ball(RADIUS), Transform::default()));
        let gravity = Some(GravityField::Towards { centre: Vec3::ZERO, strength: 9.8 });
        let volume = MoveVolume { gravity, ..MoveVolume::trigger(VolumeId(1)) };
        commands.spawn((volume, Collider::ball(300.0), Sensor, Transform::default()));
    });
}

fn lob() -> Projectile {
    Projectile { speed: 16.0, radius: 0.05, gravity: 9.81, life: 8.0, bounce: None, splash: None }
}

fn planet_with_grenades(app: &mut App) {
    let shot = Shot::Projectile(lob());
    let grenade = Weapon { name: "grenade".to_owned(), shot, mode: FireMode::Semi, ..Weapon::rifle() };
    app.insert_resource(Arsenal::new(vec![grenade]).expect("a valid weapon"));
    planet(app);
}

/// Three places on the surface around a unit vector: the target is 8 m away from the shooter.
fn places(side: Vec3) -> [Vec3; 3] {
    let (ahead, aside) = side.any_orthonormal_pair();
    let on_surface = |direction: Vec3| direction.normalize() * (RADIUS + 0.05);
    [side, side + ahead * 0.2, side + aside * 0.3].map(on_surface)
}

/// Direction from the shooter's eye to the chest of the target on its screen, in the world.
fn towards_target(range: &mut ShootingRange) -> Vec3 {
    let eye = range.eye(0);
    let world = range.clients[0].world_mut();
    let mut pawns = world.query::<(&NetId, &DrawnPose)>();
    let drawn = pawns.iter(world).find(|(id, _)| **id == TARGET).expect("the target is drawn").1;
    drawn.pose.position + drawn.pose.rotation * (Vec3::Y * 1.2) - eye
}

#[test]
fn rifle_shot_at_a_drawn_target_is_confirmed_all_around_a_planet() {
    for side in [Vec3::X, Vec3::NEG_Y, Vec3::new(-0.5, -0.5, 0.7).normalize()] {
        let mut range = ShootingRange::start(planet, &places(side), 3);
        let body = range.own_state(0).body;
        assert!(body.is_grounded() && body.up.distance(side) < 1e-3, "{side}: {body:?}");

        let direction = towards_target(&mut range);
        let frame = Soldier::view_frame(&range.own_state(0));
        range.fire(0, frame.to_local(direction));
        let own = ShootingRange::take_log(&mut range.clients[0]);
        let server = ShootingRange::take_log(&mut range.server);
        let ([fired], [verdict]) = (&own.fired[..], &own.verdicts[..]) else {
            panic!("{side}: {:?}, {:?}", own.fired, own.verdicts)
        };
        assert_eq!(fired.drawn().map(|hit| hit.target), Some(TARGET), "{side}");
        let ShotResult::Hit(list) = verdict.result else { panic!("{side}: {verdict:?}") };
        assert_eq!(list.first().map(|hit| hit.target), Some(TARGET), "{side}");
        assert!(!verdict.clamped, "{side}: the server has the eye elsewhere");
        assert_eq!(server.damage.len(), 1, "{side}");

        // The formula for +Y takes the direction in the world for one in the pawn's frame.
        range.fire(0, direction);
        let own = ShootingRange::take_log(&mut range.clients[0]);
        assert_eq!(own.fired[0].drawn(), None, "{side}");
        assert_eq!(own.verdicts[0].result, ShotResult::Miss, "{side}");
    }
}

/// Path of the grenade on the shooter's screen.
#[derive(Resource, Default)]
struct DrawnArc(Vec<(ViewTime, Vec3)>);

fn record_arc(view: Res<DrawnViewTime>, flying: Query<&DrawnProjectile>, mut arc: ResMut<DrawnArc>) {
    if let (Some(view), Some(drawn)) = (view.0, flying.iter().next()) {
        arc.0.push((view, drawn.position));
    }
}

/// Returns the largest distance of a drawn arc from the server's path of this launch, in metres, with or without
/// the gravity of the level.
fn arc_error(
    server: &mut App,
    launch: ProjectileLaunch,
    drawn: Vec<(ViewTime, Vec3)>,
    in_gravity: bool,
) -> f32 {
    let measure = move |world: WorldTrace, gravity: Res<WorldGravity>| {
        let mut path = Trajectory::new(&launch, &lob(), TICK);
        if in_gravity {
            path = path.in_gravity(&gravity);
        }
        let (mut last, mut worst) = (0.0, 0.0_f32);
        for (view, position) in &drawn {
            let age = (view.since(launch.time) as f64 / 256.0).max(last);
            let touch = |a: Vec3, way: Vec3, max: f32, radius: f32| world.cast_contact(a, way, max, radius);
            path.for_each_segment(last, age, touch, |_| true);
            worst = worst.max(path.at(age).0.distance(*position));
            last = age;
        }
        worst
    };
    server.world_mut().run_system_once(measure).expect("the resources of the level")
}

#[test]
fn drawn_arc_of_a_grenade_is_the_servers_all_around_a_planet() {
    for side in [Vec3::X, Vec3::NEG_Y] {
        let mut range = ShootingRange::start(planet_with_grenades, &places(side), 3);
        range.clients[0].init_resource::<DrawnArc>().add_systems(Last, record_arc);
        // Upwards and away from the others, in the frame of the shooter.
        let up_and_away = Vec3::new(0.0, 0.5, -1.0);
        range.fire(0, up_and_away);
        range.run(seconds(3.0));
        let server = ShootingRange::take_log(&mut range.server);
        let ([launch], [end]) = (&server.launches[..], &server.ends[..]) else {
            panic!("{side}: {:?}, {:?}", server.launches, server.ends)
        };
        assert_eq!(end.kind, ProjectileEndKind::Wall, "{side}");
        let height = end.point.length() - RADIUS;
        assert!((0.0..0.15).contains(&height), "{side}: it ends {height} m above the surface");

        for (number, client) in range.clients.iter_mut().enumerate() {
            let ShotLog { shown_ends, .. } = ShootingRange::take_log(client);
            let [shown] = shown_ends[..] else { panic!("{side}, client {number}: {shown_ends:?}") };
            let apart = shown.point.distance(end.point);
            assert!(apart < 0.05, "{side}, client {number}: {apart} m from the server's end");
            let off = shown.normal.angle_between(shown.point.normalize()).to_degrees();
            assert!(off < 1.0, "{side}, client {number}: the surface is off by {off} degrees");
        }

        let drawn = range.clients[0].world_mut().resource_mut::<DrawnArc>().0.clone();
        assert!(drawn.len() > 80, "{side}: drawn in {} frames", drawn.len());
        let error = arc_error(&mut range.server, *launch, drawn.clone(), true);
        assert!(error < 0.02, "{side}: {error} m off the server's path");
        let upright = ProjectileLaunch { up: Up::Y, ..*launch };
        let error = arc_error(&mut range.server, upright, drawn, false);
        assert!(error > 2.0, "{side}: the formula for +Y must miss, and is {error} m off");
    }
}

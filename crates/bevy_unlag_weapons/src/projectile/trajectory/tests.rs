use bevy_unlag_core::{NetId, Tick, Up, ViewTime};

use super::*;
use crate::{aim::Aim, weapon::WeaponId};

const DT: f32 = 1.0 / 64.0;

fn launch(from: Vec3, velocity: Vec3) -> ProjectileLaunch {
    ProjectileLaunch {
        shooter: NetId(1),
        shot: Tick(100),
        weapon: WeaponId(0),
        time: ViewTime::at(Tick(90)),
        from,
        aim: Aim::from_direction(velocity),
        up: Up::Y,
        speed: velocity.length(),
        bounces: 0,
        flown: 0,
    }
}

fn shell() -> Projectile {
    Projectile { speed: 20.0, radius: 0.1, gravity: 9.81, life: 3.0, bounce: None, splash: None }
}

/// A floor at height 0 and a wall at x = 10.
fn room(a: Vec3, way: Vec3, max: f32, radius: f32) -> Option<WallContact> {
    let floor = (way.y < 0.0).then(|| WallContact { distance: (a.y - radius) / -way.y, normal: Vec3::Y });
    let wall =
        (way.x > 0.0).then(|| WallContact { distance: (10.0 - radius - a.x) / way.x, normal: Vec3::NEG_X });
    let both = [floor, wall].into_iter().flatten().filter(|touch| (-1e-3..=max).contains(&touch.distance));
    both.min_by(|a, b| a.distance.total_cmp(&b.distance))
}

fn nothing(_: Vec3, _: Vec3, _: f32, _: f32) -> Option<WallContact> {
    None
}

fn whole(path: &mut Trajectory) -> Vec<PathSegment> {
    let mut segments = Vec::new();
    path.for_each_segment(0.0, 1e6, room, |piece| {
        segments.push(*piece);
        true
    });
    segments
}

#[test]
fn path_follows_gravity_and_ends_with_its_lifetime() {
    let start = launch(Vec3::new(0.0, 100.0, 0.0), Vec3::new(8.0, 10.0, 0.0));
    let mut path = Trajectory::new(&start, &shell(), DT);
    let mut ticks = 0;
    path.for_each_segment(0.0, 500.0, nothing, |piece| {
        ticks += 1;
        let seconds = piece.to as f32 * DT;
        let truth = start.velocity() * seconds + Vec3::NEG_Y * (0.5 * 9.81 * seconds * seconds);
        assert!((start.from + truth).distance(piece.b) < 1e-2, "{piece:?}");
        true
    });
    let end = path.end().expect("the lifetime is over");
    assert_eq!((ticks, end.age, end.normal), (192, 192.0, None));
}

#[test]
fn projectile_bounces_the_configured_number_of_times_then_ends_or_rests() {
    let bounce = |times, keep| Some(Bounce { times, keep, off_pawns: false });
    let start = launch(Vec3::new(0.0, 2.0, 0.0), Vec3::new(18.0, 4.0, 3.0));
    for times in [0, 1, 4] {
        let spec = Projectile { bounce: bounce(times, 0.7), life: 10.0, ..shell() };
        let mut path = Trajectory::new(&start, &spec, DT);
        let segments = whole(&mut path);
        assert_eq!(path.bounces(), times);
        let end = path.end().expect("it ends at a wall");
        assert!(end.normal.is_some() && end.age < 640.0, "{end:?}");
        assert!(
            segments.iter().all(|p| p.b.x <= 9.901 && p.b.y >= 0.099),
            "all segments are inside the room"
        );
        assert!(segments.windows(2).all(|p| (p[0].to - p[1].from).abs() < 1e-9));
        assert!(segments.windows(2).all(|p| p[0].b.distance(p[1].a) < 2.0 * SKIN), "segments are contiguous");
    }
    // Without an effective bounce limit it comes to rest on the floor until its lifetime is over, with
    // bounded work.
    let spec = Projectile { bounce: bounce(255, 0.5), ..shell() };
    let mut path = Trajectory::new(&start, &spec, DT);
    let segments = whole(&mut path);
    let end = path.end().expect("the lifetime is over");
    assert!(end.normal.is_none() && (end.age - 192.0).abs() < 1e-9);
    assert!((end.point.y - 0.1).abs() < 0.01 && path.bounces() < 40, "{end:?} {}", path.bounces());
    assert!(segments.len() < 192 + 60 && segments.last().is_some_and(|p| p.velocity == Vec3::ZERO));
}

#[test]
fn bounce_keeps_the_configured_fraction_of_the_speed() {
    let spec = Projectile {
        bounce: Some(Bounce { times: 1, keep: 0.5, off_pawns: false }),
        gravity: 0.0,
        ..shell()
    };
    let mut path = Trajectory::new(&launch(Vec3::new(0.0, 5.0, 0.0), Vec3::X * 20.0), &spec, DT);
    path.for_each_segment(0.0, 60.0, room, |_| true);
    let (at, velocity) = path.at(60.0);
    assert!((velocity - Vec3::NEG_X * 10.0).length() < 0.01, "{velocity}");
    // 9.9 m at 20 m/s, the rest of 60 ticks at 10 m/s.
    let back = (60.0 * DT - 9.9 / 20.0) * 10.0;
    assert!((at.x - (9.9 - back)).abs() < 0.01, "{at}");
}

#[test]
fn path_is_bitwise_equal_however_often_it_is_evaluated() {
    let spec = Projectile { bounce: Some(Bounce { times: 6, keep: 0.8, off_pawns: false }), ..shell() };
    let start = launch(Vec3::new(1.3, 2.7, -0.4), Vec3::new(17.1, 3.3, 9.2));
    let mut once = Trajectory::new(&start, &spec, DT);
    let mut bits = Vec::new();
    for tick in 1..=160 {
        once.for_each_segment(f64::from(tick) - 1.0, f64::from(tick), room, |_| true);
        bits.push(once.at(f64::from(tick)).0.to_array().map(f32::to_bits));
    }
    // A screen with irregular frames that occasionally evaluates earlier ages.
    let mut other = Trajectory::new(&start, &spec, DT);
    let (mut age, mut frame) = (0.0, 0);
    while age < 160.0 {
        let next = (age + 0.37 + f64::from(frame % 7) * 0.55).min(160.0);
        other.for_each_segment(age, next, room, |_| true);
        if frame % 11 == 10 {
            other.for_each_segment((next - 9.0).max(0.0), next, room, |_| true);
        }
        (age, frame) = (next, frame + 1);
        let tick = next.floor();
        if next == tick && tick > 0.0 {
            let at = other.at(tick).0.to_array().map(f32::to_bits);
            assert_eq!(at, bits[tick as usize - 1], "tick {tick}");
        }
    }
    for tick in [160.0, 90.0, 31.0, 3.0] {
        other.for_each_segment(tick - 0.5, tick, room, |_| true);
        assert_eq!(other.at(tick).0.to_array().map(f32::to_bits), bits[tick as usize - 1]);
    }
}

#[test]
fn path_with_non_finite_parameters_ends_immediately() {
    for odd in [f32::NAN, f32::INFINITY, f32::MAX] {
        for (from, speed, gravity) in [(odd, 10.0, 0.0), (0.0, odd, 0.0), (0.0, 10.0, odd)] {
            let mut start = launch(Vec3::ZERO, Vec3::X);
            (start.from.x, start.speed) = (from, speed);
            let mut path = Trajectory::new(&start, &Projectile { gravity, ..shell() }, DT);
            let mut segments = 0;
            path.for_each_segment(0.0, f64::INFINITY, nothing, |_| {
                segments += 1;
                true
            });
            assert!(path.end().is_some() && segments <= 200);
        }
    }
    let mut path = Trajectory::new(&launch(Vec3::ZERO, Vec3::X), &shell(), f32::NAN);
    path.for_each_segment(0.0, 1e9, nothing, |_| true);
    assert!(path.end().is_some());
}

/// The path of a launch turned by `turn`, turned back.
fn turned_back(turn: Quat, gravity: Option<LocalGravity>) -> Vec<Vec3> {
    let velocity = Vec3::new(9.0, 12.0, -4.0);
    let start = ProjectileLaunch { up: Up::new(turn * Vec3::Y), ..launch(Vec3::ZERO, turn * velocity) };
    let mut path = Trajectory::new(&start, &shell(), DT);
    if let Some(gravity) = gravity {
        path = path.in_gravity(&WorldGravity::new(move |_| gravity));
    }
    let mut points = Vec::new();
    path.for_each_segment(0.0, 192.0, nothing, |piece| {
        points.push(turn.inverse() * piece.b);
        true
    });
    points
}

#[test]
fn path_turns_with_gravity_and_without_a_field_with_the_shooter() {
    let upright = turned_back(Quat::IDENTITY, None);
    let half_turn = core::f32::consts::PI;
    for turn in [Quat::from_rotation_z(-half_turn / 2.0), Quat::from_rotation_x(half_turn)] {
        let gravity = LocalGravity { up: turn * Vec3::Y, scale: 1.0 };
        for points in [turned_back(turn, None), turned_back(turn, Some(gravity))] {
            assert_eq!(points.len(), upright.len());
            for (point, expected) in points.iter().zip(&upright) {
                // The aim is rounded to 1/65,536 of a turn.
                assert!(point.distance(*expected) < 0.02, "{point} instead of {expected}");
            }
        }
        let world_up = turned_back(turn, Some(LocalGravity::default()));
        let off = world_up[191].distance(upright[191]);
        assert!(off > 20.0, "the formula for +Y must miss: {off} m");
    }
}

#[test]
fn path_around_a_planet_follows_the_gravity_of_each_place_on_every_evaluation() {
    // As fast as a satellite at this distance.
    let (distance, strength) = (50.0_f32, 8.0_f32);
    let planet = WorldGravity::new(move |point| LocalGravity { up: point.normalize(), scale: 1.0 });
    let spec = Projectile { gravity: strength, life: 30.0, ..shell() };
    let start = launch(Vec3::X * distance, Vec3::NEG_Z * (distance * strength).sqrt());
    let mut path = Trajectory::new(&start, &spec, DT).in_gravity(&planet);
    let mut bits = Vec::new();
    for tick in 1..=600 {
        path.for_each_segment(f64::from(tick) - 1.0, f64::from(tick), nothing, |_| true);
        let (at, velocity) = path.at(f64::from(tick));
        assert!((at.length() - distance).abs() < 1.5, "tick {tick}: {} m from the centre", at.length());
        assert!(velocity.dot(path.up()).abs() < 2.0, "tick {tick}: {velocity}");
        bits.push(at.to_array().map(f32::to_bits));
    }
    let mut again = Trajectory::new(&start, &spec, DT).in_gravity(&planet);
    for tick in [600.0, 77.0, 300.0] {
        again.for_each_segment(tick - 0.5, tick, nothing, |_| true);
        assert_eq!(again.at(tick).0.to_array().map(f32::to_bits), bits[tick as usize - 1]);
    }
}

/// Fails if the direction without a velocity is zero.
#[test]
fn direction_without_a_velocity_is_down() {
    for up in [Vec3::Y, Vec3::NEG_X] {
        assert_eq!(direction_or_down(Vec3::ZERO, up), -up);
        assert_eq!(direction_or_down(Vec3::Z * 2.0, up), Vec3::Z);
    }
}

#[test]
fn weightless_place_lets_a_projectile_fly_straight() {
    let nowhere = WorldGravity::new(|_| LocalGravity { up: Vec3::Y, scale: 0.0 });
    let start = launch(Vec3::ZERO, Vec3::X * 16.0);
    let mut path = Trajectory::new(&start, &shell(), DT).in_gravity(&nowhere);
    path.for_each_segment(0.0, 64.0, nothing, |_| true);
    assert!(path.at(64.0).0.distance(start.velocity()) < 1e-3, "{:?}", path.at(64.0));
}

#[test]
fn grenade_comes_to_rest_on_a_floor_that_is_down_for_gravity() {
    // The floor is the plane x = 0, and up is +X.
    let floor = |a: Vec3, way: Vec3, max: f32, radius: f32| {
        let distance = (a.x - radius) / -way.x;
        (way.x < 0.0 && (-1e-3..=max).contains(&distance))
            .then_some(WallContact { distance, normal: Vec3::X })
    };
    let bounce = Some(Bounce { times: 255, keep: 0.5, off_pawns: false });
    let side = WorldGravity::new(|_| LocalGravity { up: Vec3::X, scale: 1.0 });
    let start = launch(Vec3::X * 2.0, Vec3::new(3.0, 0.0, -6.0));
    let mut path = Trajectory::new(&start, &Projectile { bounce, ..shell() }, DT).in_gravity(&side);
    path.for_each_segment(0.0, 1e6, floor, |_| true);
    let end = path.end().expect("the lifetime is over");
    assert!((end.point.x - 0.1).abs() < 0.01 && end.normal.is_none(), "{end:?}");
    assert_eq!(path.at(end.age).1, Vec3::ZERO, "it lies");
    assert_eq!(path.up(), Vec3::X);
}

use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

fn launch() -> ProjectileLaunch {
    let launch = ProjectileLaunch {
        shooter: NetId(900),
        shot: Tick(1_000),
        weapon: WeaponId(3),
        time: ViewTime { tick: Tick(990), fraction: 77 },
        from: Vec3::new(12.3, -4.5, 6_000.7),
        aim: Aim::new(2.0, -0.3),
        up: Up::Y,
        speed: 33.34,
        bounces: 0,
        flown: 0,
    };
    launch.rounded()
}

fn assert_round_trip(launch: &ProjectileLaunch) -> usize {
    let mut w = BitWriter::default();
    launch.write(&mut w);
    let bytes = w.finish();
    assert_eq!(ProjectileLaunch::read(&mut BitReader::new(&bytes)), Ok(*launch));
    bytes.len()
}

#[test]
fn rounded_launches_survive_the_wire_exactly_within_28_bytes() {
    assert!(assert_round_trip(&launch()) <= 24);
    let bounced = launch().off(33.3, Vec3::new(1.0, 2.0, 3.0), Vec3::new(-5.0, 1.0, 0.2), 2);
    assert!(assert_round_trip(&bounced) <= 28);
    assert!((bounced.velocity() - Vec3::new(-5.0, 1.0, 0.2)).length() < 0.02);
    assert_eq!(bounced.time.since(launch().time), i64::from(bounced.flown));
    let sideways = ProjectileLaunch { up: Up::new(Vec3::X), ..launch() };
    assert!(assert_round_trip(&sideways) <= 26);
    // A client whose tick count is far from the server's.
    assert!(assert_round_trip(&ProjectileLaunch { shot: Tick(9_000_000), ..launch() }) <= 27);
    let mut rng = SmallRng::seed_from_u64(5);
    for _ in 0..10_000 {
        let mut float = |scale: f32| (rng.random::<f32>() - 0.5) * scale;
        let (from, to) =
            (Vec3::new(float(2e4), float(2e4), float(2e4)), Vec3::new(float(9.0), float(9.0), 1.0));
        let speed = float(4e4);
        assert_round_trip(
            &ProjectileLaunch { from, aim: Aim::from_direction(to), speed, ..launch() }.rounded(),
        );
    }
}

#[test]
fn non_finite_values_are_never_decoded() {
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        let odd = ProjectileLaunch { from: Vec3::splat(odd), speed: odd, ..launch() };
        assert_round_trip(&odd.rounded());
        let mut w = BitWriter::default();
        odd.write(&mut w);
        let end = ProjectileEnd {
            shooter: NetId(1),
            shot: Tick(2),
            flown: u32::MAX,
            point: odd.from,
            kind: ProjectileEndKind::Wall,
        };
        end.write(&mut w);
        let bytes = w.finish();
        let mut r = BitReader::new(&bytes);
        let launch = ProjectileLaunch::read(&mut r).expect("a launch");
        assert!(launch.from.is_finite() && launch.velocity().is_finite());
        assert!(ProjectileEnd::read(&mut r).expect("an end").point.is_finite());
    }
}

#[test]
fn end_takes_at_most_16_bytes_and_a_hit_19() {
    let hit = ProjectileEndKind::Hit { target: NetId(65_000), group: HitGroup::Limb };
    for kind in [ProjectileEndKind::Gone, ProjectileEndKind::Wall, ProjectileEndKind::Fuse, hit] {
        let point = Vec3::new(1.5, -2.25, 900.0);
        let end = ProjectileEnd { shooter: NetId(7), shot: Tick(u32::MAX), flown: 491_520, point, kind };
        let mut w = BitWriter::default();
        end.write(&mut w);
        let bytes = w.finish();
        assert!(bytes.len() <= if kind == hit { 19 } else { 16 }, "{} bytes", bytes.len());
        assert_eq!(ProjectileEnd::read(&mut BitReader::new(&bytes)), Ok(end));
    }
}

#[test]
fn random_bytes_decode_to_finite_values_or_errors() {
    let mut rng = SmallRng::seed_from_u64(77);
    let (mut launches, mut ends) = (0, 0);
    for round in 0..100_000 {
        let bytes: Vec<u8> = (0..round % 40).map(|_| rng.random()).collect();
        if let Ok(launch) = ProjectileLaunch::read(&mut BitReader::new(&bytes)) {
            assert!(launch.from.is_finite() && launch.velocity().is_finite());
            assert_round_trip(&launch);
            launches += 1;
        }
        if let Ok(end) = ProjectileEnd::read(&mut BitReader::new(&bytes)) {
            assert!(end.point.is_finite());
            let mut w = BitWriter::default();
            end.write(&mut w);
            assert_eq!(ProjectileEnd::read(&mut BitReader::new(&w.finish())), Ok(end));
            ends += 1;
        }
    }
    assert!(launches > 10_000 && ends > 10_000, "{launches} {ends}");
}

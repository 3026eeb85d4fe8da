//! Invalid queries are rejected, and all queries test the past.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};
use bevy_unlag_rewind::{
    Ballistic, BeamCache, BlastHit, ClaimedTarget, Flight, MeleeArc, MeleeHit, Miss, Pellets, PosedTargets,
    QueryView, RewindLimits, RewindMode, RewindTime, Rewound, TargetHit, WallPenetration, humanoid_hit_boxes,
};

use crate::shapes::range::{CircularMotion, Range};

/// Runs all queries at a place and returns which of them hit.
fn run_all_queries(then: &Rewound, at: Vec3, from: Vec3) -> Vec<(&'static str, bool)> {
    let way = at - from;
    let far = way.length() + 1.0;
    let (mut hits, mut swung, mut blown) = (Vec::<TargetHit>::new(), Vec::<MeleeHit>::new(), Vec::new());
    let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
    then.cast_pellets(from, &[way], far, &mut posed, &mut pellets);
    let near = Transform::from_translation(at - way.normalize()).looking_at(at, Vec3::Y).to_isometry();
    let claimed = ClaimedTarget { target: NetId(1), padding: 0.1 };
    let arc = MeleeArc { reach: 2.0, half_angle: 0.5, half_height: 0.2 };
    let round = Ballistic { position: from, velocity: way.normalize() * 200.0, gravity: Vec3::ZERO };
    let flight = then.catch_up(0.0, 1.0, |seconds| round.after(seconds).position);
    vec![
        ("ray", then.cast_ray(from, way, far).is_ok()),
        ("claimed", then.cast_ray_claimed(from, way, far, claimed).is_ok()),
        ("all", then.cast_ray_all(from, way, far, WallPenetration::Stop, &mut hits).is_ok()),
        ("ball", then.cast_ball(from, way, far, 0.05).is_ok()),
        ("capsule", then.cast_capsule((from, from + Vec3::Y * 0.1), 0.05, way, far).is_ok()),
        ("overlap ball", then.overlap_ball(at, 0.3, |_| ()).is_ok()),
        ("overlap box", then.overlap_box(Isometry3d::from_translation(at), Vec3::splat(0.2), |_| ()).is_ok()),
        ("closest", then.closest_point(at, 0.3).is_ok()),
        ("contains", then.contains_point(at).is_ok()),
        ("pellets", pellets.results()[0].is_ok()),
        ("beam", then.cast_beam(from, way, far, &mut BeamCache::default()).is_ok()),
        ("arc", then.melee_arc(near, &arc, &mut swung).is_ok()),
        ("hull", then.melee_box(near, Vec3::splat(0.1), 2.0, &mut Vec::new()).is_ok()),
        ("blast", then.blast(at, 0.5, &mut blown).is_ok()),
        ("flight", matches!(flight, Ok(Flight::Hit { .. }))),
    ]
}

#[test]
fn all_queries_test_the_past_with_rewind_and_the_present_without() {
    for mode in [RewindMode::On, RewindMode::Off] {
        let mut range = Range::new(0, true);
        let runner = CircularMotion { middle: Vec3::NEG_Z * 10.0, radius: 6.0, speed: 0.03, start: 0.0 };
        range.add(1, runner, humanoid_hit_boxes());
        range.run(80);
        range.app.world_mut().resource_mut::<RewindLimits>().mode = mode;
        let age = 15.0;
        let then = range.now().0 as f32 - age;
        let chest = runner.place(then).translation + Vec3::Y * 1.33;
        let time = ViewTime::after(range.now(), -f64::from(age));
        let found = range.query(|query, _| {
            let then =
                query.at(RewindTime::View(QueryView::from(time))).expect("the view must be recent enough");
            run_all_queries(&then, chest, chest + Vec3::new(3.0, 0.5, 4.0))
        });
        for (question, hit) in found {
            assert_eq!(hit, mode == RewindMode::On, "{question} with rewind {mode:?}");
        }
    }
}

#[test]
fn non_finite_and_degenerate_queries_are_rejected_as_invalid() {
    let mut range = Range::new(12, false);
    range.run(60);
    range.with_rewound(10.5, |then, _, _| {
        let (ok, far) = (Vec3::new(0.0, 1.0, 0.0), 20.0);
        let (nan, inf) = (Vec3::NAN, Vec3::splat(f32::INFINITY));
        let huge = Vec3::splat(1e30);
        let assert_invalid = |answer: Option<Miss>| assert_eq!(answer, Some(Miss::InvalidQuery));
        let claimed = ClaimedTarget { target: NetId(1), padding: f32::INFINITY };
        let mut hits = Vec::new();
        let mut all =
            |from, way, max| then.cast_ray_all(from, way, max, WallPenetration::Pass, &mut hits).err();
        let mut beams = BeamCache::default();
        beams.margin = f32::NAN;
        let mut beam = |from, way, max| then.cast_beam(from, way, max, &mut beams).err();
        let capsule = |from: Vec3, way, max| then.cast_capsule((from, from + Vec3::X), 0.1, way, max).err();
        for (from, way, max) in [
            (nan, Vec3::X, far),
            (inf, Vec3::X, far),
            (ok, nan, far),
            (ok, Vec3::ZERO, far),
            (ok, inf, far),
            (ok, Vec3::X, -1.0),
            (ok, Vec3::X, f32::NAN),
        ] {
            assert_invalid(all(from, way, max));
            assert_invalid(then.cast_ball(from, way, max, 0.1).err());
            assert_invalid(capsule(from, way, max));
            assert_invalid(beam(from, way, max));
            assert_invalid(then.cast_ray_claimed(from, way, max, claimed).err());
            let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
            then.cast_pellets(from, &[way, Vec3::X], max, &mut posed, &mut pellets);
            assert_invalid(pellets.results()[0].err());
            assert_invalid(then.pose_along(from, way, max, 0.1, &mut posed).err());
        }
        for radius in [-0.1, f32::NAN, f32::INFINITY] {
            assert_invalid(then.cast_ball(ok, Vec3::X, far, radius).err());
            assert_invalid(then.cast_capsule((ok, ok + Vec3::X), radius, Vec3::X, far).err());
            assert_invalid(then.overlap_ball(ok, radius, |_| ()).err());
            assert_invalid(
                then.overlap_box(Isometry3d::from_translation(ok), Vec3::splat(radius), |_| ()).err(),
            );
            assert_invalid(then.blast(ok, radius, &mut Vec::new()).err());
            assert_invalid(then.catch_up(radius, 1.0, |_| ok).err());
            let arc = MeleeArc { reach: radius, half_angle: 1.0, half_height: 0.1 };
            assert_invalid(then.melee_arc(Isometry3d::IDENTITY, &arc, &mut Vec::new()).err());
            assert_invalid(
                then.melee_box(Isometry3d::IDENTITY, Vec3::splat(radius), 1.0, &mut Vec::new()).err(),
            );
        }
        let arc = MeleeArc { reach: 2.0, half_angle: 1.0, half_height: 0.1 };
        for place in [nan, inf, huge] {
            let pose = Isometry3d::from_translation(place);
            assert_invalid(then.cast_ball(place, Vec3::X, far, 0.1).err());
            assert_invalid(then.overlap_ball(place, 1.0, |_| ()).err());
            assert_invalid(then.overlap_box(pose, Vec3::ONE, |_| ()).err());
            assert_invalid(then.closest_point(place, 1.0).err());
            assert_invalid(then.contains_point(place).err());
            assert_invalid(then.blast(place, 1.0, &mut Vec::<BlastHit>::new()).err());
            assert_invalid(then.melee_arc(pose, &arc, &mut Vec::new()).err());
            assert_invalid(then.melee_box(pose, Vec3::ONE, 1.0, &mut Vec::new()).err());
            assert_invalid(then.catch_up(0.0, 1.0, |_| place).err());
            assert_invalid(then.catch_up(0.0, 1.0, |seconds| if seconds > 0.05 { place } else { ok }).err());
            assert_eq!(then.first_obstacle_ball(place, Vec3::X, far, 0.1), None);
        }
        assert_invalid(then.closest_point(ok, f32::NAN).err());
        let flat = Isometry3d { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..default() };
        assert_invalid(then.melee_arc(flat, &arc, &mut Vec::new()).err());
        let broken = Isometry3d { rotation: Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0), ..default() };
        assert_invalid(then.melee_box(broken, Vec3::ONE, 1.0, &mut Vec::new()).err());
        let thin = Vec3::new(0.1, 0.0, 0.1);
        assert_invalid(then.melee_box(Isometry3d::IDENTITY, thin, 1.0, &mut Vec::new()).err());
        let nothing = MeleeArc { half_angle: f32::NAN, ..arc };
        assert_invalid(then.melee_arc(Isometry3d::IDENTITY, &nothing, &mut Vec::new()).err());
        // Zero size is odd, but valid.
        let point = MeleeArc { reach: 0.0, half_angle: 0.0, half_height: 0.0 };
        let odd = then.melee_arc(Isometry3d::IDENTITY, &point, &mut Vec::new());
        assert_ne!(odd, Err(Miss::InvalidQuery));
        let mut posed = PosedTargets::default();
        then.cast_pellets(ok, &[], far, &mut posed, &mut Pellets::default());
        let endless = then.cast_ball(ok, Vec3::X, f32::INFINITY, 0.1);
        assert_ne!(endless, Err(Miss::InvalidQuery));
    });
}

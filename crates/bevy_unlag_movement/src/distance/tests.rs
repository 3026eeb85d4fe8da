//! Tests of the closed forms against parry and against sampling.

use bevy_rapier3d::parry::{
    query::distance as parry_distance,
    shape::{SharedShape, Triangle},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;
use crate::{base::BaseId, part::triangle_normal};

fn part(shape: PartShape, aabb: Aabb) -> Part {
    Part { aabb, shape, order: 0, index: 0, base: BaseId::NONE, one_way: None, pawn: false }
}

fn anywhere() -> Aabb {
    Aabb::new(Vec3::splat(-9.0), Vec3::splat(9.0))
}

fn vector(rng: &mut SmallRng, size: f32) -> Vec3 {
    Vec3::new(rng.random_range(-size..size), rng.random_range(-size..size), rng.random_range(-size..size))
}

/// Compares the distance with parry's and checks that the nearest points are consistent.
fn assert_agrees_with_parry(
    part: &Part,
    reference: &dyn Shape,
    pose: &Pose,
    low: Vec3,
    core: f32,
    name: &str,
) {
    let Some(found) = separation(part, low, core, 100.0) else { panic!("{name}: nothing within 100 m") };
    let segment = Segment::new(low, low + Vec3::Y * core);
    let expected = parry_distance(pose, reference, &Pose::identity(), &segment).unwrap_or(f32::NAN);
    let near = 2e-3 * (1.0 + expected);
    assert!(
        (found.distance.max(0.0) - expected).abs() < near,
        "{name}: {found:?} instead of {expected} from {low} + {core}"
    );
    assert!((found.normal.length() - 1.0).abs() < 1e-4, "{name}: {found:?}");
    if found.distance > 0.01 {
        let on_core = found.point + found.normal * found.distance;
        let along = (on_core.y - low.y).clamp(0.0, core);
        assert!(
            (low + Vec3::Y * along).distance(on_core) < 1e-3,
            "{name}: the points do not meet: {found:?}"
        );
    }
}

#[test]
fn closed_forms_agree_with_parry() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..20_000 {
        let (low, core) = (vector(&mut rng, 3.0), rng.random_range(0.0..1.5f32));
        let half = vector(&mut rng, 1.5).abs() + Vec3::splat(0.05);
        let centre = vector(&mut rng, 1.0);
        let cuboid = Cuboid::new(half);

        let upright = part(PartShape::Box, Aabb::new(centre - half, centre + half));
        assert_agrees_with_parry(&upright, &cuboid, &Pose::from_translation(centre), low, core, "box");

        let yaw = Pose::from_parts(centre, Quat::from_rotation_y(rng.random_range(-3.0..3.0)));
        assert_agrees_with_parry(
            &part(PartShape::TurnedBox { pose: yaw, half }, anywhere()),
            &cuboid,
            &yaw,
            low,
            core,
            "yaw",
        );

        let turn = Quat::from_scaled_axis(vector(&mut rng, 2.0));
        let pose = Pose::from_parts(centre, turn);
        assert_agrees_with_parry(
            &part(PartShape::TurnedBox { pose, half }, anywhere()),
            &cuboid,
            &pose,
            low,
            core,
            "turned",
        );

        let corners = [vector(&mut rng, 2.0), vector(&mut rng, 2.0), vector(&mut rng, 2.0)];
        if let Some(normal) = triangle_normal(&corners)
            && (corners[1] - corners[0]).cross(corners[2] - corners[0]).length() > 0.05
        {
            let triangle = Triangle::new(corners[0], corners[1], corners[2]);
            let part = part(PartShape::Triangle { corners, normal }, anywhere());
            assert_agrees_with_parry(&part, &triangle, &Pose::identity(), low, core, "triangle");
        }

        let (a, b) = (vector(&mut rng, 1.0), vector(&mut rng, 1.0));
        let round = part(PartShape::Capsule { a, b, radius: 0.3 }, anywhere());
        // Parry's own distance between two round shapes is off by up to four millimetres.
        let nearest = (0..=1_000)
            .map(|i| low + Vec3::Y * (core * i as f32 / 1_000.0))
            .map(|p| {
                let along = (p - a).dot(b - a) / (b - a).length_squared();
                p.distance(a + (b - a) * along.clamp(0.0, 1.0)) - 0.3
            })
            .fold(f32::INFINITY, f32::min);
        let found = separation(&round, low, core, 100.0).map_or(f32::NAN, |found| found.distance);
        assert!((found - nearest).abs() < 1e-3, "capsule: {found} instead of {nearest}");

        let hull = part(PartShape::Convex { pose, shape: SharedShape::new(cuboid) }, anywhere());
        assert_agrees_with_parry(&hull, &cuboid, &pose, low, core, "convex");
    }
}

#[test]
fn core_inside_a_box_gets_the_shortest_way_out() {
    let part = part(PartShape::Box, Aabb::new(Vec3::splat(-1.0), Vec3::splat(1.0)));
    let out = |low: Vec3| separation(&part, low, 0.5, 1.0).map(|s| (s.distance, s.normal));
    assert_eq!(out(Vec3::new(0.0, 0.75, 0.0)), Some((-0.25, Vec3::Y)));
    assert_eq!(out(Vec3::new(-0.75, 0.0, 0.0)), Some((-0.25, Vec3::NEG_X)));
    assert_eq!(out(Vec3::new(0.0, -1.25, 0.5)), Some((-0.25, Vec3::NEG_Y)));
}

#[test]
fn core_that_crosses_a_triangle_leaves_on_the_nearer_side() {
    let corners = [Vec3::new(-5.0, 0.0, -5.0), Vec3::new(0.0, 0.0, 5.0), Vec3::new(5.0, 0.0, -5.0)];
    let normal = triangle_normal(&corners).unwrap_or(Vec3::Y);
    let part = part(PartShape::Triangle { corners, normal }, anywhere());
    let out = |low: f32| separation(&part, Vec3::Y * low, 1.0, 1.0).map(|s| (s.distance, s.normal.y.round()));
    assert_eq!(out(-0.25), Some((-0.25, 1.0)));
    assert_eq!(out(-0.75), Some((-0.25, -1.0)));
}

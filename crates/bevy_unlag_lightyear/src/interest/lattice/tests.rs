//! Two rooms of 6 × 12 m with a wall between them, in which there is an opening.

use super::*;
use crate::interest::region::{Motion, Region, Root, Search, collect};

/// Begin of the opening in the wall at x = 0.
const OPENING: f32 = 2.0;

fn is_clear(a: Vec3, b: Vec3) -> bool {
    let is_inside = |p: Vec3| p.x.abs() < 6.0 && p.z.abs() < 6.0 && p.y > 0.0 && p.y < 3.0;
    let crossing = a.z + (b.z - a.z) * (a.x / (a.x - b.x));
    let passes = (a.x < 0.0) == (b.x < 0.0) || crossing > OPENING;
    is_inside(a) && is_inside(b) && passes
}

fn rays(left: u32) -> Rays<'static> {
    Rays { is_clear: &is_clear, left, cast: 0 }
}

fn prepared() -> SightLattice {
    let mut lattice = SightLattice::new(Vec2::new(1.0, 1.5), 1_000);
    lattice.prepare_by(&is_clear, &[Vec3::new(-3.0, 1.0, 0.0)]);
    lattice
}

/// Points of the eyes and the body of a pawn at rest.
fn pawn(lattice: &mut SightLattice, x: f32, z: f32, left: u32) -> Option<(Vec<u32>, Vec<u32>)> {
    let root = Root { position: Vec3::new(x, 0.01, z), up: Vec3::Y, velocity: Vec3::ZERO, middle: 0.95 };
    let motion = Motion { speed: Vec2::new(6.0, 5.0), jump: 1.2, response: 0.1 };
    let eyes = Region::new(&root, (0.0, 0.6, 1.7), &motion, 0.3, lattice.spacing());
    let body = Region::new(&root, (0.5, 0.0, 1.9), &motion, 0.1, lattice.spacing());
    let (mut search, mut points) = (Search::default(), (Vec::new(), Vec::new()));
    let into = (&mut points.0, &mut points.1);
    collect(lattice, &root, [&eyes, &body], &mut rays(left), &mut search, into).then_some(points)
}

fn sight(lattice: &mut SightLattice, eye: (f32, f32), body: (f32, f32)) -> Sight {
    let (eyes, _) = pawn(lattice, eye.0, eye.1, 0).expect("known surroundings");
    let (_, body) = pawn(lattice, body.0, body.1, 0).expect("known surroundings");
    let mut view = View::default();
    lattice.look(&eyes, &mut view);
    let searched = lattice.search(&eyes, &body, &mut rays(0));
    assert_eq!(view.of(&body), searched, "two ways to the same answer");
    searched
}

#[test]
fn prepared_level_is_known_without_further_rays() {
    let mut lattice = prepared();
    assert_eq!(lattice.len(), 12 * 12 * 2);
    assert_eq!(sight(&mut lattice, (-4.0, -4.0), (4.0, -4.0)), Sight::Blocked, "behind the wall");
    assert_eq!(sight(&mut lattice, (-4.0, -4.0), (-4.0, 4.0)), Sight::Clear, "in the same room");
    assert_eq!(sight(&mut lattice, (-1.0, 1.5), (1.0, 1.5)), Sight::Clear, "soon, beside the opening");
}

#[test]
fn opening_that_no_line_between_points_crosses_is_found_by_lines_aside() {
    // The points beside the wall look through the opening at z = 0.41 + a whole number only.
    let narrow = |a: Vec3, b: Vec3| {
        let crossing = a.z + (b.z - a.z) * (a.x / (a.x - b.x));
        (a.x < 0.0) == (b.x < 0.0) || (crossing - 0.75).abs() < 0.1
    };
    let mut rays = Rays { is_clear: &narrow, left: 1_000, cast: 0 };
    let mut lattice = SightLattice::new(Vec2::new(1.0, 1.5), 10);
    let [a, b, c] = [IVec3::new(-1, 0, 0), IVec3::ZERO, IVec3::new(0, 0, 3)]
        .map(|cell| lattice.point(cell).expect("a place"));
    assert!(!narrow(lattice.position(a), lattice.position(b)), "control");
    assert!(lattice.find(a, b, &mut rays));
    assert!(!lattice.find(a, c, &mut rays), "behind the wall");
}

#[test]
fn eyes_do_not_reach_through_walls() {
    let mut lattice = prepared();
    let (eyes, body) = pawn(&mut lattice, -0.4, -4.0, 0).expect("known surroundings");
    assert!(eyes.len() > body.len() / 2 && eyes.iter().all(|point| lattice.position(*point).x < 0.0));
    // Control: through the opening they do.
    let (eyes, _) = pawn(&mut lattice, -0.4, 4.0, 0).expect("known surroundings");
    assert!(eyes.iter().any(|point| lattice.position(*point).x > 0.0));
}

#[test]
fn sight_that_was_not_tested_is_unknown_until_rays_are_left() {
    let mut lattice = SightLattice::new(Vec2::new(1.0, 1.5), 1_000);
    assert!(pawn(&mut lattice, -4.0, -4.0, 0).is_none(), "surroundings without rays");
    let (eyes, _) = pawn(&mut lattice, -4.0, -4.0, 10_000).expect("enough rays");
    let (_, body) = pawn(&mut lattice, 4.0, -4.0, 10_000).expect("enough rays");
    let mut view = View::default();
    lattice.look(&eyes, &mut view);
    assert_eq!(view.of(&body), Sight::Unknown);
    let mut few = rays(3);
    assert_eq!(lattice.search(&eyes, &body, &mut few), Sight::Unknown);
    assert!(few.left == 0 && few.cast < 30, "{} rays", few.cast);
    assert_eq!(lattice.search(&eyes, &body, &mut rays(10_000)), Sight::Blocked);
    // What was found is remembered.
    assert_eq!(lattice.search(&eyes, &body, &mut rays(0)), Sight::Blocked);
    lattice.clear();
    assert!(lattice.is_empty());
}

#[test]
fn full_lattice_says_so_and_keeps_its_bounds() {
    let mut lattice = SightLattice::new(Vec2::new(1.0, 1.5), 20);
    lattice.prepare_by(&is_clear, &[Vec3::new(-3.0, 1.0, 0.0)]);
    assert!(lattice.is_full() && lattice.len() == 20);
    assert!(pawn(&mut lattice, -4.0, -4.0, 10_000).is_none());
    lattice.clear();
    assert!(!lattice.is_full());
}

#[test]
fn places_outside_of_any_number_have_no_surroundings() {
    let mut lattice = SightLattice::new(Vec2::ZERO, 1_000);
    for place in [Vec3::NAN, Vec3::splat(f32::MAX), Vec3::INFINITY] {
        lattice.for_each_corner(place, &mut rays(10), |_, _| panic!("{place} has a point"));
    }
}

//! A player and a pawn behind a wall.

use super::*;
use crate::interest::{
    reach::{Body, Root, fans},
    test_level::Boxes,
};

const CONFIG: fn() -> InterestConfig = InterestConfig::default;

fn place(level: &Boxes, x: f32, z: f32, velocity: Vec3) -> Place {
    let root = Root { position: Vec3::new(x, 0.01, z), up: Vec3::Y, velocity };
    let body = Body { radius: 0.35, low: 0.0, high: 1.9, floor: 0.0 };
    let world: (&dyn Level, _, _) = (level, &mut Walls::default(), &mut Effort::default());
    let [near, far] = fans(&CONFIG(), &root, &body, (0.2, 0.1), world);
    Place::for_test(root, body, near, far)
}

struct Asked {
    level: Boxes,
    walls: Walls,
    pair: Pair,
    now: u32,
    rays: u32,
}

impl Asked {
    fn new() -> Self {
        let pair = Pair::for_test();
        Self {
            level: Boxes::wall_with_opening(2.0..3.2),
            walls: Walls::default(),
            pair,
            now: 300,
            rays: 1_000,
        }
    }

    fn ask(&mut self, viewer: &Place, target: &Place) -> (Sight, State, i32) {
        let times = Times { now: Tick(self.now), tick_seconds: 1.0 / 64.0, interval: 3, snapshot_ticks: 3 };
        let mut effort = Effort::of_rays(self.rays);
        let world = (&self.level as &dyn Level, &mut self.walls, &mut effort);
        let sight = answer((viewer, target), &mut self.pair, 0, (&CONFIG(), &times), world);
        (sight, self.pair.state, self.pair.due.since(times.now))
    }
}

#[test]
fn pawn_that_is_out_of_sight_for_longer_is_asked_for_later() {
    let mut asked = Asked::new();
    let viewer = place(&asked.level, -4.0, -4.0, Vec3::ZERO);
    let far = place(&asked.level, 4.0, -6.0, Vec3::ZERO);
    assert_eq!(asked.ask(&viewer, &far), (Sight::Blocked, State::Far, 9));
    let seen = place(&asked.level, -6.0, -4.0, Vec3::ZERO);
    let hold = (CONFIG().hold_seconds * 64.0).round() as i32;
    assert_eq!(asked.ask(&viewer, &seen), (Sight::Clear, State::Clear, hold));
}

#[test]
fn pawn_that_is_about_to_come_into_sight_is_shown_and_one_that_may_soon_is_asked_for_at_every_turn() {
    let mut asked = Asked::new();
    let states: Vec<State> = (0..60)
        .map(|step| {
            let viewer = place(&asked.level, -1.0, -4.0 + step as f32 * 0.1, Vec3::Z * 6.4);
            let target = place(&asked.level, 3.0, 2.6, Vec3::ZERO);
            asked.now += 1;
            asked.ask(&viewer, &target).1
        })
        .collect();
    let first = |state| states.iter().position(|one| *one == state).expect("it happens");
    assert!(
        first(State::Far) < first(State::Close) && first(State::Close) < first(State::Clear),
        "{states:?}"
    );
}

#[test]
fn question_without_effort_counts_as_in_sight_and_is_asked_again() {
    let mut asked = Asked { rays: 0, ..Asked::new() };
    let viewer = place(&asked.level, -4.0, -4.0, Vec3::ZERO);
    let target = place(&asked.level, 4.0, -6.0, Vec3::ZERO);
    assert_eq!(asked.ask(&viewer, &target), (Sight::Unknown, State::Far, 0));
    assert_eq!(asked.pair.unanswered, 1);
    asked.rays = 1_000;
    assert_eq!(asked.ask(&viewer, &target).0, Sight::Blocked);
    assert_eq!(asked.pair.unanswered, 0);
}

#[test]
fn pawn_with_rare_snapshots_is_concealed_more_carefully_or_not_at_all() {
    let mut asked = Asked::new();
    let viewer = place(&asked.level, -4.0, -4.0, Vec3::ZERO);
    let mut target = place(&asked.level, 4.0, -6.0, Vec3::ZERO);
    target.update_ticks = 6;
    assert_eq!(asked.ask(&viewer, &target).0, Sight::Blocked);
    target.update_ticks = 64;
    assert_eq!(asked.ask(&viewer, &target).0, Sight::Clear);
}

//! Speed lost over a kilometre on a flat floor.

use super::{levels::DT, rapier_controller::RapierController, unlag_mover::UnlagMover};
use crate::prelude::*;

/// Start of the run in metres, such that a kilometre fits on the floor.
const START: f32 = -510.0;
/// Length of the run in metres.
const RUN: f32 = 1_000.0;

/// Returns the number of moves of the run at `speed` metres per second, and the metres that they should
/// cover.
fn run(speed: f32) -> (u32, f64) {
    let moves = (RUN / (speed * DT)).ceil();
    (moves as u32, f64::from(speed) * f64::from(DT) * f64::from(moves))
}

fn percent(wanted: f64, from: Vec3, to: Vec3) -> f64 {
    (1.0 - f64::from((to - from).with_y(0.0).length()) / wanted) * 100.0
}

/// Returns the loss of our step in percent. The first second, in which the pawn accelerates, does not count.
pub fn ours(floor: &UnlagMover<'_, '_, '_>) -> f64 {
    let mut events = Vec::new();
    let input = CapsuleInput { right: 127, ..default() };
    let (mut state, Tick(first)) = floor.dropped(Vec3::new(START, 0.1, 0.0));
    let mut from = state.position;
    let (moves, wanted) = run(floor.config.max_walk_speed);
    for i in 0..64 + moves {
        if i == 64 {
            from = state.position;
        }
        state = floor.step(&state, &input, Tick(first + i), &mut events);
    }
    percent(wanted, from, state.position)
}

/// Returns the loss of rapier's controller in percent; each move starts where the previous one ended.
pub fn theirs(floor: &RapierController<'_>, speed: f32) -> f64 {
    let (moves, wanted) = run(speed);
    let motion = Vec3::X * (speed * DT) + floor.fall();
    let start = floor.on_floor(Vec3::new(START, 0.1, 0.0), motion);
    let end = (0..moves).fold(start, |wish, _| RapierController::after(&wish, floor.step(&wish)));
    percent(wanted, start.place(), end.place())
}

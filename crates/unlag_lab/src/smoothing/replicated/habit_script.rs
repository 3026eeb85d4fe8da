//! Scripted input with a fixed habit.

use core::f64::consts::{PI, TAU};

use unlag_examples::arena::HALF_SIZE;

use crate::prelude::*;

/// Movement pattern of a scripted player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Habit {
    /// Strafes left and right, reversing every 0.25 to 0.7 s.
    Strafing,
    /// Runs for up to a second, then stands for up to a second.
    StopStart,
    /// Runs and jumps continuously.
    Jumping,
    /// All of these, plus crouching and running straight ahead, across the whole arena. Each of its stair
    /// steps is 25 cm, climbed within one move.
    Mixed,
    /// The same on the part of the arena without obstacles.
    MixedFlat,
}

impl Habit {
    /// All habits with their names in JSON keys.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Strafing, "strafing"),
        (Self::StopStart, "stopstart"),
        (Self::Jumping, "jumping"),
        (Self::Mixed, "mixed"),
        (Self::MixedFlat, "mixed_flat"),
    ];
}

/// Seeded scripted input that changes after a random number of ticks.
#[derive(Resource)]
pub struct HabitScript {
    habit: Habit,
    rng: SmallRng,
    axes: Vec2,
    /// Ticks until the next decision.
    next: u32,
    jump: u32,
    crouch: bool,
    heading: f64,
    turn: f64,
}

impl HabitScript {
    /// Creates the input; equal seeds play alike.
    pub fn new(habit: Habit, seed: u64) -> Self {
        let rng = SmallRng::seed_from_u64(seed ^ 0xACE);
        Self { habit, rng, axes: Vec2::X, next: 0, jump: 0, crouch: false, heading: 0.0, turn: 0.0 }
    }

    /// Replaces the script of a client's pawn.
    pub fn take_over(self, client: &mut App) {
        client.insert_resource(self).insert_resource(ScriptedPlayer::idle());
        client.add_systems(FixedUpdate, play.after(MoveSystems::Sample).before(MoveSystems::Extend));
    }

    fn decide(&mut self) {
        let rng = &mut self.rng;
        let side = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
        let ways = [Vec2::Y, Vec2::new(side, 0.0), Vec2::new(side, 1.0), Vec2::new(side, -1.0)];
        let way = ways[rng.random_range(0..ways.len())];
        self.turn = rng.random_range(-2.0..2.0);
        let is_mixed = matches!(self.habit, Habit::Mixed | Habit::MixedFlat);
        self.crouch = is_mixed && rng.random_bool(0.1);
        (self.axes, self.next) = match self.habit {
            Habit::Strafing => (Vec2::new(-self.axes.x.signum(), 0.0), rng.random_range(16..45)),
            Habit::StopStart if self.axes == Vec2::ZERO => (way, rng.random_range(16..64)),
            Habit::StopStart => (Vec2::ZERO, rng.random_range(16..64)),
            Habit::Jumping => (way, rng.random_range(26..64)),
            Habit::Mixed | Habit::MixedFlat => {
                (if rng.random_bool(0.2) { Vec2::ZERO } else { way }, rng.random_range(13..64))
            }
        };
        if self.habit == Habit::Jumping || is_mixed && rng.random_bool(0.3) {
            self.jump = 6;
        }
    }

    /// Returns the centre of the field and its half extent.
    fn field(&self) -> (Vec3, f32) {
        match self.habit {
            Habit::Mixed => (Vec3::ZERO, HALF_SIZE - 3.0),
            // A part of the arena without obstacles.
            _ => (Vec3::new(-13.0, 0.0, 12.0), 4.0),
        }
    }

    /// Returns the next input. Outside the field the pawn runs back to the middle.
    fn next(&mut self, place: Vec3) -> CapsuleInput {
        self.next = self.next.saturating_sub(1);
        self.jump = self.jump.saturating_sub(1);
        if self.next == 0 {
            self.decide();
        }
        let (mut axes, mut turn) = (self.axes, self.turn);
        let (middle, far) = self.field();
        let away = place - middle;
        if away.x.abs().max(away.z.abs()) > far {
            axes = Vec2::Y;
            // A yaw of 0 looks along -Z, a quarter turn along -X.
            let home = f64::from(away.x).atan2(f64::from(away.z));
            turn = ((home - self.heading + PI).rem_euclid(TAU) - PI).clamp(-1.0, 1.0) * 6.0;
        }
        self.heading += turn / 64.0;
        let mut input = CapsuleInput { jump: self.jump > 0, crouch: self.crouch, ..default() };
        input.set_axes(axes);
        input.set_look(self.heading, 0.0);
        input
    }
}

fn play(
    mut hands: ResMut<HabitScript>,
    mut pawns: Query<(&SoldierState, &mut MoveInput<Soldier>), With<LocalControl>>,
) {
    for (state, mut input) in &mut pawns {
        input.0.body = hands.next(state.body.position);
    }
}

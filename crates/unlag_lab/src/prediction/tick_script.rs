//! Scripted input as a function of the tick: identical in every run, whatever the link does.

use crate::prelude::*;

/// Scripted player; the number varies the script.
#[derive(Resource, Clone, Copy)]
pub struct TickScript(pub u32);

/// Replaces a client's script by `hands`.
pub fn take_over(client: &mut App, hands: TickScript) {
    client.insert_resource(hands).insert_resource(ScriptedPlayer::idle());
    client.add_systems(FixedUpdate, play.after(MoveSystems::Sample).before(MoveSystems::Extend));
}

fn play(
    hands: Res<TickScript>,
    tick: Res<CurrentTick>,
    mut pawns: Query<&mut MoveInput<Soldier>, With<LocalControl>>,
) {
    for mut input in &mut pawns {
        input.0.body = hands.input(tick.0.0);
    }
}

impl TickScript {
    /// Returns the input of a tick: always running, a new direction about every 0.4 s, an occasional jump.
    /// The view turns in every tick, by 90° per second on average and at most 200°.
    pub fn input(self, tick: u32) -> CapsuleInput {
        let t = f64::from(tick) / 64.0 + f64::from(self.0) * 17.3;
        let yaw = 0.8 * (1.95 * t).sin() + 0.25 * (5.2 * t).sin() + 0.05 * (14.4 * t).sin() + 0.11 * t;
        let pitch = 0.15 * (1.3 * t).sin() + 0.05 * (4.1 * t).sin();
        // A pseudo-random number per span of 25 ticks.
        let dice = (tick / 25).wrapping_add(self.0 * 1_013).wrapping_mul(0x9e37_79b1) >> 16;
        let axes = match dice % 8 {
            0 | 1 => Vec2::new(1.0, 0.0),
            2 | 3 => Vec2::new(-1.0, 0.0),
            4 => Vec2::new(1.0, 1.0),
            5 => Vec2::new(-1.0, 1.0),
            6 => Vec2::new(0.0, -1.0),
            _ => Vec2::Y,
        };
        let mut input = CapsuleInput { jump: dice % 29 < 5 && tick % 25 < 4, ..default() };
        input.set_axes(axes);
        input.set_look(yaw, pitch);
        input
    }
}

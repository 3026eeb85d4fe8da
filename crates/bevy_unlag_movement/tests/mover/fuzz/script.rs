//! Random scripts of moves that proptest can print and shrink.

use bevy::prelude::*;
use bevy_unlag_movement::{CapsuleInput, CapsuleState, MovementMode};
use proptest::prelude::*;
use rand::{Rng as _, SeedableRng, rngs::SmallRng};

use super::levels::Level;

/// Several ticks of nearly the same input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    ticks: u8,
    input: CapsuleInput,
    /// View rotation per tick, in 1/65,536 of a turn.
    turning: i16,
    /// Selects an external event at the start, usually none.
    event: u8,
    /// Direction of that event.
    throw: [i8; 3],
}

pub(crate) fn chunk() -> impl Strategy<Value = Chunk> {
    let raw = any::<(u8, i8, i8, u16, i16, u8, u8, [i8; 3])>();
    (raw, -600i16..600).prop_map(|(raw, turning)| {
        let (ticks, forward, right, yaw, pitch, buttons, event, throw) = raw;
        chunk_from(ticks, forward, right, yaw, pitch, buttons, turning, event, throw)
    })
}

fn chunk_from(
    ticks: u8,
    forward: i8,
    right: i8,
    yaw: u16,
    pitch: i16,
    buttons: u8,
    turning: i16,
    event: u8,
    throw: [i8; 3],
) -> Chunk {
    // Full tilt half of the time and neutral for a quarter of it.
    let axes = match buttons >> 6 {
        0 => [0, 0],
        1 | 2 => [forward, right].map(|axis| axis.signum() * 127),
        _ => [forward, right],
    };
    let input = CapsuleInput {
        forward: axes[0],
        right: axes[1],
        yaw,
        pitch: pitch / 3,
        jump: buttons & 3 == 3,
        crouch: buttons & 12 == 12,
        sprint: buttons & 16 != 0,
        walk: buttons & 32 != 0 && forward > 90,
    };
    Chunk { ticks: ticks % 48 + 1, input, turning, event, throw }
}

/// An external event before a move.
#[derive(Clone, Copy, PartialEq, Debug)]
enum ExternalEvent {
    Nothing,
    Fly,
    Fall,
    Launch(Vec3),
    Teleport(Vec3),
}

/// A move to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedMove {
    pub(crate) input: CapsuleInput,
    external_event: ExternalEvent,
}

impl PlannedMove {
    pub(crate) fn plain(input: CapsuleInput) -> Self {
        Self { input, external_event: ExternalEvent::Nothing }
    }

    /// Returns the same move, made from `spot`.
    pub(crate) fn at_spot(&self, spot: Vec3) -> Self {
        Self { external_event: ExternalEvent::Teleport(spot), ..*self }
    }

    /// Applies the external event before the move to `state`. Teleports only to places that are `free`.
    pub(crate) fn apply(&self, state: &mut CapsuleState, free: impl FnOnce(&CapsuleState) -> bool) {
        match self.external_event {
            ExternalEvent::Fly => {
                state.launch(Vec3::ZERO);
                state.mode = MovementMode::Flying;
            }
            ExternalEvent::Fall if state.mode == MovementMode::Flying => state.mode = MovementMode::Falling,
            ExternalEvent::Nothing | ExternalEvent::Fall => {}
            ExternalEvent::Launch(velocity) => state.launch(velocity),
            ExternalEvent::Teleport(spot) => {
                let mut there = *state;
                there.teleport_to(spot);
                if free(&there) {
                    *state = there;
                }
            }
        }
    }
}

/// Returns `count` moves of a script, which repeats when it ends.
pub(crate) fn planned(chunks: &[Chunk], level: &Level, count: usize) -> Vec<PlannedMove> {
    let ticks = chunks.iter().cycle().flat_map(|chunk| {
        let thrown = Vec3::from(chunk.throw.map(|axis| f32::from(axis) / 127.0));
        let external_event = match chunk.event % 24 {
            0..=2 => ExternalEvent::Fly,
            3..=9 => ExternalEvent::Fall,
            10 => ExternalEvent::Launch(level.turn * (thrown * 14.0 + Vec3::Y * 4.0)),
            11 | 12 if !level.spots.is_empty() => {
                let spot = usize::from(chunk.throw[0].unsigned_abs()) % level.spots.len();
                ExternalEvent::Teleport(level.spots[spot])
            }
            _ => ExternalEvent::Nothing,
        };
        (0..chunk.ticks).map(move |tick| {
            let turned = chunk.turning.wrapping_mul(i16::from(tick));
            let input = CapsuleInput { yaw: chunk.input.yaw.wrapping_add_signed(turned), ..chunk.input };
            PlannedMove {
                input,
                external_event: if tick == 0 { external_event } else { ExternalEvent::Nothing },
            }
        })
    });
    ticks.take(count).collect()
}

/// Returns the moves of a random script for tests without proptest.
pub(crate) fn random_moves(seed: u64, level: &Level, count: usize) -> Vec<PlannedMove> {
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x005c_2197);
    let chunks: Vec<Chunk> = (0..120)
        .map(|_| {
            let throw = [rng.random(), rng.random(), rng.random()];
            chunk_from(
                rng.random(),
                rng.random(),
                rng.random(),
                rng.random(),
                rng.random(),
                rng.random(),
                rng.random_range(-600..600),
                rng.random(),
                throw,
            )
        })
        .collect();
    planned(&chunks, level, count)
}

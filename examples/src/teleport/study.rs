//! One press of the teleport key and its result.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{core::Tick, prediction::CorrectionCause};

use super::{
    ClientServerPair, CorrectionEntry, Jump, Observations, Slide, TeleportOptions, TeleportReport, Wall,
};
use crate::app::TICK;

/// Time before the key press, in which the loss and the jitter of the link are measured.
const WARM_UP: Duration = Duration::from_secs(3);
/// Duration of a key press.
const TAP: Duration = Duration::from_millis(100);
/// Time after the last round trip until everything has come to rest.
const REST: Duration = Duration::from_secs(2);
/// Distance of a forced correction across the direction of the teleport, in metres.
const ASIDE: f32 = 0.3;

/// Presses the key once and returns the report. Equal options give equal reports.
#[must_use]
pub fn study(options: &TeleportOptions) -> TeleportReport {
    let mut pair = ClientServerPair::start(options);
    pair.run(WARM_UP);
    if options.force_correction {
        pair.write_on_client(|state| state.position.x += ASIDE);
        pair.run(options.rtt / 2 + TICK);
    }
    let place = |pair: &ClientServerPair| {
        [pair.owner_state(), pair.server_state()]
            .map(|state| state.map_or(0.0, |state| state.body.position.z))
    };
    let (start, replayed) = (place(&pair), pair.stats().replayed);
    let (frame, tick) = (pair.seen().frame + 1, pair.owner_tick().offset(1));
    let on_server = pair.server.world().resource::<Observations>().frame + 1;

    pair.hold_key(true);
    pair.run(TAP);
    pair.hold_key(false);
    pair.run(3 * options.rtt + REST);

    let end = place(&pair);
    let seen = pair.seen();
    let mut slides = seen.slides.iter().copied().filter(|at| *at >= frame);
    let slide = slides.next().map(|first| Slide {
        from_ms: ms(first, frame),
        ms: (1 + slides.count()) as f64 * TICK.as_secs_f64() * 1e3,
    });
    TeleportReport {
        variant: options.variant,
        refused: options.wall != Wall::Nowhere,
        effects: after(&seen.effects, frame),
        effects_on_server: after(&pair.server.world().resource::<Observations>().effects, on_server),
        jumps: seen.jumps.iter().map(|(at, metres)| Jump { ms: ms(*at, frame), metres: *metres }).collect(),
        slide,
        corrections: corrections(seen, frame, tick),
        outcomes: seen.outcomes.iter().map(|(at, succeeded)| (ms(*at, frame), *succeeded)).collect(),
        ahead: [start[0] - end[0], start[1] - end[1]],
        replayed: pair.stats().replayed - replayed,
    }
}

/// Returns the time from the key press to a frame, in milliseconds; 0 is the frame of the press.
fn ms(frame: u32, key: u32) -> f64 {
    f64::from(frame.wrapping_sub(key).cast_signed()) * TICK.as_secs_f64() * 1e3
}

fn after(frames: &[u32], key: u32) -> Vec<f64> {
    frames.iter().map(|frame| ms(*frame, key)).collect()
}

fn corrections(seen: &Observations, key: u32, tick: Tick) -> Vec<CorrectionEntry> {
    let adjusted = seen.corrections.iter().map(|(at, correction)| CorrectionEntry {
        ms: ms(*at, key),
        cause: correction.cause,
        metres: correction.error,
        // A change by the server happens between two moves and does not concern the move before it.
        is_from_earlier_move: tick.is_newer_than(correction.tick)
            && correction.cause != CorrectionCause::ServerChange,
    });
    adjusted.collect()
}

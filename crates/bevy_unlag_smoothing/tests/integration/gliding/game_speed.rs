//! Slow motion and pauses of the whole game.

use bevy_unlag_core::GameClock;

use super::harness::*;

const LATENCY: f64 = 0.05;
/// Real time and server time in seconds at which a new speed begins, and that speed.
const PHASES: [(f64, f64, f64); 4] = [(0.0, 0.0, 1.0), (8.0, 8.0, 0.3), (10.0, 8.6, 0.0), (11.0, 8.6, 1.0)];

/// Returns the real time at which the server sends the update of this time of its own.
fn sent_at(server: f64) -> f64 {
    let running = PHASES.into_iter().filter(|(_, _, speed)| *speed > 0.0);
    let phase = running.rev().find(|(_, began, _)| *began <= server);
    phase.map_or(server, |(real, began, speed)| real + (server - began) / speed)
}

/// Plays a circle. With `follows`, the clock of the screen follows the server's speed.
fn play(follows: bool) -> Harness {
    let mut stage = Harness::new();
    stage.pawn(None, 15.0, circle, |_| 3, |sent| Some(sent_at(sent) - sent + LATENCY));
    let now = |stage: &Harness| stage.pawns[0].seen.last().map_or(0.0, |sight| sight.now + FRAME);
    for (real, _, speed) in PHASES {
        // The announcement arrives with the snapshots.
        let rest = real + LATENCY - now(&stage);
        stage.run(rest);
        if follows {
            stage.app.world_mut().resource_mut::<GameClock>().set_speed(speed);
        }
    }
    let rest = 15.0 - now(&stage);
    stage.run(rest);
    stage
}

fn speed_at(now: f64) -> f64 {
    PHASES.into_iter().rev().find(|(real, ..)| *real + LATENCY <= now).map_or(1.0, |(.., speed)| speed)
}

#[test]
fn proxy_slows_down_and_stands_with_the_game() {
    let stage = play(true);
    let seen = stage.pawns[0].after(6.0);
    for pair in seen.windows(2) {
        let went = (pair[1].view - pair[0].view) / (pair[1].now - pair[0].now);
        let [before, after] = [pair[0].now - FRAME, pair[1].now + FRAME].map(speed_at);
        let (least, most) = (before.min(after) * 0.92 - 0.01, before.max(after) * 1.03 + 0.01);
        assert!((least..=most).contains(&went), "speed {went} at {}", pair[1].now);
    }
    assert!(largest_step(seen) < 6.0 * FRAME as f32 * 1.1, "{} m", largest_step(seen));
    assert!(distance_from_circle(seen) < 0.02, "{} m", distance_from_circle(seen));
    let stats = stage.stats();
    assert_eq!((stats.snaps, stats.resyncs), (0, 0), "{stats:?}");
    let delay = |from: f64, to: f64| {
        let frames = seen.iter().filter(|sight| (from..to).contains(&sight.now));
        frames.map(|sight| sight.now - sight.view).fold(0.0, f64::max)
    };
    // The game has lost 2.4 s.
    let grown = delay(14.0, 15.0) - 2.4 - delay(7.0, 8.0);
    assert!(grown.abs() < 0.03, "the delay has changed by {grown} s");
}

#[test]
fn proxy_on_a_clock_that_does_not_follow_runs_ahead_and_stands() {
    let stage = play(false);
    let stats = stage.stats();
    assert!(stats.extrapolated > 60, "the test sees nothing: {stats:?}");
}

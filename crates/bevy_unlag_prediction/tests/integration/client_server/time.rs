//! Detection of speed hacks without false positives.

use bevy_unlag_core::CurrentTick;
use bevy_unlag_prediction::{CorrectionCause, TimeDiscrepancyConfig};

use crate::client_server::common::*;

/// Returns a cheat whose clock runs at `speed` and ignores the steering.
fn cheating(speed: f64, time: TimeDiscrepancyConfig) -> Pair {
    let mut pair = Pair::new(1, LinkProfile::late(0.05)).tuned(|config| config.time = time);
    pair.steers = false;
    pair.play(|_| WalkerInput::EAST);
    pair.run(5.0);
    pair.client.clock = speed;
    pair
}

/// Returns the seconds until the cheat is detected, if that takes at most `seconds`.
fn detected_after(pair: &mut Pair, seconds: f64) -> Option<f64> {
    let began = pair.seconds();
    while pair.seconds() < began + seconds {
        pair.run(0.25);
        if pair.account().detected > 0 {
            return Some(pair.seconds() - began);
        }
    }
    None
}

/// Returns the most time in seconds by which the pawn was ahead of the server in these seconds.
fn most_gained(pair: &mut Pair, seconds: f64) -> f64 {
    let (began, end) = (pair.server.tick(), pair.seconds() + seconds);
    let steps = pair.theirs().steps;
    let mut most = 0.0_f64;
    while pair.seconds() < end {
        pair.run_server_frame();
        let gained = i64::from(pair.theirs().steps - steps) - i64::from(pair.server.tick().since(began));
        most = most.max(gained as f64 * DT);
    }
    most
}

const DEFAULT: fn() -> TimeDiscrepancyConfig = TimeDiscrepancyConfig::default;

#[test]
fn clock_4_percent_fast_is_flagged_within_a_minute() {
    let mut pair = cheating(1.04, DEFAULT());
    let after = detected_after(&mut pair, 60.0);
    assert!(after.is_some_and(|after| after > 5.0), "{after:?}");
    // One event, a bounded counter and a lifetime figure.
    assert_eq!(pair.server.res::<MessageLog<Walker>>().detected, 1);
    assert!(pair.account().lifetime > 0.25, "{:?}", pair.account());
}

#[test]
fn lifetime_figure_is_unbounded_and_granted_time_is_bounded() {
    let mut pair = cheating(2.0, DEFAULT());
    let mut before = 0.0;
    for _ in 0..4 {
        pair.run(15.0);
        let account = pair.account();
        assert!(account.lifetime > before + 5.0, "{account:?}");
        assert!(account.granted.abs() <= 0.25, "{account:?}");
        before = account.lifetime;
    }
    assert_eq!(usize::from(pair.account().detected), pair.server.res::<MessageLog<Walker>>().detected);
}

#[test]
fn clock_at_double_speed_gains_less_than_250_ms_in_two_minutes() {
    for speed in [1.1, 2.0, 8.0] {
        let mut pair = cheating(speed, DEFAULT());
        let gained = most_gained(&mut pair, if speed == 2.0 { 120.0 } else { 40.0 });
        assert!(gained < 0.25, "a clock at speed {speed} gains {gained} s");
    }
}

#[test]
fn corrections_of_a_fast_clock_have_the_cause_clock() {
    for speed in [1.1, 2.0] {
        let mut pair = cheating(speed, DEFAULT());
        pair.run(30.0);
        pair.assert_only_cause(CorrectionCause::ClientClock);
    }
}

#[test]
fn pawn_of_a_fast_clock_keeps_moving_and_converges_after_slowing_down() {
    let mut pair = cheating(2.0, DEFAULT());
    let steps = pair.theirs().steps;
    pair.run(10.0);
    let walked = pair.theirs().steps - steps;
    assert!((560..656).contains(&walked), "{walked} steps in 640 ticks");
    pair.client.clock = 1.0;
    pair.steers = true;
    pair.run(2.0);
    let from = pair.seconds();
    pair.run(5.0);
    assert_eq!(pair.log.seconds_to_convergence(from), 0.0);
    assert!(!pair.account().resolving);
}

#[test]
fn clock_that_leaps_further_than_moves_are_accepted_is_detected() {
    for leap in [100, 1_000] {
        let mut pair = cheating(1.0, DEFAULT());
        assert_eq!(pair.account().detected, 0);
        let there = pair.client.tick().offset(leap);
        pair.client.app.insert_resource(CurrentTick(there));
        pair.run(0.2);
        assert!(pair.account().detected > 0, "{leap} ticks: {:?}", pair.account());
    }
}

#[test]
fn detection_without_resolution_takes_nothing_away() {
    let time = TimeDiscrepancyConfig { resolution: false, ..DEFAULT() };
    let mut pair = cheating(1.2, time);
    let gained = most_gained(&mut pair, 5.0);
    assert!(gained > 0.7, "{gained} s");
    assert!(pair.account().detected > 1 && !pair.account().resolving, "{:?}", pair.account());
    assert_eq!((pair.corrections(), pair.server.stats().withheld), (0, 0));
}

#[test]
fn unreal_defaults_detect_nothing() {
    let mut pair = cheating(1.2, TimeDiscrepancyConfig::UNREAL);
    let gained = most_gained(&mut pair, 5.0);
    assert!(gained > 0.7, "{gained} s");
    assert_eq!((pair.account().detected, pair.corrections()), (0, 0));
}

#[test]
fn clock_is_detected_beyond_max_time_margin() {
    let after = |margin: f32| {
        let time = TimeDiscrepancyConfig { max_time_margin: margin, drift_allowance: 0.0, ..DEFAULT() };
        detected_after(&mut cheating(1.1, time), 20.0).expect("the cheat is detected")
    };
    let (small, large) = (after(0.1), after(0.5));
    assert!((small - 1.0).abs() < 0.6 && (large - 5.0).abs() < 0.6, "{small} s and {large} s");
}

#[test]
fn unused_time_is_credited_up_to_min_time_margin() {
    for floor in [-0.1_f32, -0.25, -1.0] {
        let time = TimeDiscrepancyConfig { min_time_margin: floor, ..DEFAULT() };
        let mut pair = Pair::new(1, LinkProfile::late(0.05)).tuned(|config| {
            config.time = time;
            config.missing_move_timeout = 2.0;
        });
        pair.play(zigzag);
        pair.run(3.0);
        pair.up.cut = true;
        pair.run(1.5);
        let granted = pair.account().granted;
        assert!((granted - f64::from(floor)).abs() < 1e-6, "{granted}");
    }
}

#[test]
fn resolution_rate_is_the_share_of_moves_lost_while_paying_back() {
    let moving = |rate: f32| {
        let time = TimeDiscrepancyConfig { resolution_rate: rate, ..DEFAULT() };
        let mut pair = cheating(1.1, time);
        let (mut ran, mut paying) = (0, 0);
        for _ in 0..1_920 {
            let (before, resolving) = (pair.theirs().steps, pair.account().resolving);
            pair.run_server_frame();
            if resolving && pair.account().resolving {
                paying += 1;
                ran += pair.theirs().steps - before;
            }
        }
        assert!(paying > 30, "{paying}");
        f64::from(ran) / f64::from(paying)
    };
    assert!(moving(1.0) < 0.05, "a client that pays back with all moves stands still");
    let half = moving(0.5);
    assert!((half - 0.55).abs() < 0.15, "{half} moves a tick");
}

#[test]
fn drift_within_the_allowance_is_not_flagged() {
    let allowed = |drift_allowance: f32, speed: f64| {
        let time = TimeDiscrepancyConfig { drift_allowance, ..DEFAULT() };
        detected_after(&mut cheating(speed, time), 90.0).is_none()
    };
    assert!(allowed(0.01, 1.008));
    assert!(!allowed(0.0, 1.008));
    assert!(!allowed(0.01, 1.025));
}

#[test]
fn corrections_are_forced_during_resolution_if_configured() {
    let corrected = |force_corrections: bool| {
        // A tolerance so large that the client's results always agree.
        let time = TimeDiscrepancyConfig { force_corrections, resolution_rate: 0.25, ..DEFAULT() };
        let mut pair = cheating(1.3, time).tuned(|config| config.tolerance = 1_000.0);
        pair.run(20.0);
        assert!(pair.account().detected > 0);
        pair.server.stats().corrections_of(CorrectionCause::ClientClock)
    };
    let (free, forced) = (corrected(false), corrected(true));
    assert!(forced > free + 50, "{forced} forced, {free} without");
}

#[test]
fn slow_motion_is_not_flagged_and_fast_motion_is() {
    let flagged = |speed: f64| {
        let mut pair = cheating(speed, DEFAULT());
        pair.run(20.0);
        pair.account().detected > 0
    };
    assert!(!flagged(0.5) && !flagged(0.9) && !flagged(1.0));
    assert!(flagged(1.5));
}

#[test]
fn honest_clients_on_bad_links_are_never_flagged() {
    let burst = LinkProfile { loss: 0.03, burst: 8.0, ..LinkProfile::AVERAGE };
    let links = [
        LinkProfile::FIBRE,
        LinkProfile::AVERAGE,
        LinkProfile::BAD,
        burst,
        LinkProfile { loss: 0.2, ..LinkProfile::AVERAGE },
    ];
    for (seed, profile) in links.into_iter().enumerate() {
        for clock in [1.0 - 2e-4, 1.0 + 2e-4] {
            let mut pair = Pair::new(seed as u64, profile);
            pair.client.clock = clock;
            pair.play(zigzag);
            pair.run(60.0);
            let account = pair.account();
            assert_eq!((account.detected, pair.server.stats().withheld), (0, 0), "{profile:?}: {account:?}");
        }
    }
}

#[test]
fn latency_spikes_outages_and_hitches_are_not_flagged() {
    let mut pair = Pair::new(9, LinkProfile::AVERAGE);
    pair.play(zigzag);
    pair.run(5.0);
    for round in 0..6 {
        // Slower by a quarter of a second, and then as fast as before.
        for delay in [0.3, 0.045] {
            (pair.up.profile.delay, pair.down.profile.delay) = (delay, delay);
            pair.run(4.0);
        }
        pair.up.cut = true;
        pair.run(0.4 * f64::from(round));
        pair.up.cut = false;
        pair.run(3.0);
        pair.client.hitch(0.2 * f64::from(round));
        pair.run(3.0);
        pair.server.hitch(0.3 * f64::from(round));
        pair.run(3.0);
        assert_eq!(pair.account().detected, 0, "round {round}: {:?}", pair.account());
        assert_eq!(pair.server.stats().withheld, 0, "round {round}");
    }
}

/// Changes the speed of the game on the server, and `late` seconds later on the client.
fn change_game_speed(pair: &mut Pair, speed: f64, late: f64) {
    pair.server.set_game_speed(speed);
    pair.run(late);
    pair.client.set_game_speed(speed);
    pair.run(3.0);
}

#[test]
fn slow_motion_and_pauses_are_neither_flagged_nor_corrected_even_if_learned_late() {
    for (speed, late) in [(0.3, 0.0), (0.3, 0.05), (0.0, 0.0), (0.0, 0.05), (0.0, 0.4)] {
        let mut pair = Pair::new(9, LinkProfile::AVERAGE);
        pair.play(zigzag);
        pair.run(5.0);
        let before = pair.server.stats().moves;
        for speed in [speed, 1.0, speed, 1.0] {
            change_game_speed(&mut pair, speed, late);
        }
        let what = format!("speed {speed}, {late} s late: {:?}", pair.account());
        assert!(pair.server.stats().moves > before + 300, "the pawn moves: {what}");
        assert_eq!(pair.account().detected, 0, "{what}");
        assert_eq!((pair.server.stats().withheld, pair.corrections()), (0, 0), "{what}");
    }
}

#[test]
fn client_that_ignores_slow_motion_is_flagged() {
    let mut pair = Pair::new(9, LinkProfile::AVERAGE);
    pair.play(zigzag);
    pair.run(5.0);
    pair.server.set_game_speed(0.3);
    pair.run(8.0);
    assert!(pair.account().detected > 0, "{:?}", pair.account());
}

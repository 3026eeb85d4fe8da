//! Pawns with different or changing update rates.

use super::harness::*;
use bevy_unlag_smoothing::{PlayoutClocks, ProxyTime};

fn age(seen: &[DrawnFrame]) -> f64 {
    seen.iter().map(|sight| sight.now - sight.view).sum::<f64>() / seen.len() as f64
}

#[test]
fn slowly_updated_pawn_moves_smoothly_without_delaying_others() {
    let mut stage = Harness::new();
    let fast = stage.pawn(None, 30.0, circle, |_| 3, |_| Some(0.05));
    let slow = stage.pawn(None, 30.0, circle, |_| 64, |_| Some(0.05));
    stage.run(29.0);
    let [fast, slow] = [fast, slow].map(|pawn| stage.pawns[pawn].after(12.0));
    assert!(age(fast) < 0.05 + 3.0 * TICK + FRAME + 0.005, "{}", age(fast));
    assert!(age(slow) < 0.05 + 64.0 * TICK + FRAME + 0.005, "{}", age(slow));
    assert_time_flows(slow, 0.92, 1.03);
    assert!(distance_from_circle(slow) < 0.02, "{} m", distance_from_circle(slow));
    assert!(largest_step(slow) < 0.11, "{} m", largest_step(slow));
    let clocks: Vec<u16> = stage.app.world().resource::<PlayoutClocks>().intervals().collect();
    assert_eq!(clocks, [3, 64]);
}

#[test]
fn pawns_that_miss_every_second_update_get_a_clock_of_their_own() {
    // As with a full downlink: distant pawns are sent less often, out of step with each other.
    let mut stage = Harness::new();
    let near = stage.pawn(None, 20.0, circle, |_| 3, |_| Some(0.05));
    let far: Vec<usize> = (0..2)
        .map(|phase| {
            let sent = move |sent: f64| {
                let slot = (sent / TICK / 3.0).round() as u32;
                (slot % 2 == phase).then_some(0.05)
            };
            stage.pawn(None, 20.0, circle, |_| 3, sent)
        })
        .collect();
    stage.run(19.0);
    assert!(age(stage.pawns[near].after(6.0)) < 0.13);
    for pawn in far {
        let seen = stage.pawns[pawn].after(6.0);
        assert!(
            distance_from_circle(seen) < 0.01 && largest_step(seen) < 0.11,
            "{}",
            distance_from_circle(seen)
        );
        assert!(age(seen) < 0.05 + 6.0 * TICK + FRAME + 0.005, "{}", age(seen));
    }
}

#[test]
fn view_time_adapts_gradually_to_a_changed_update_rate() {
    let mut stage = Harness::new();
    let slider = |tick: u32| if (640..1_600).contains(&tick) { 12 } else { 3 };
    let pawn = stage.pawn(None, 40.0, circle, slider, |_| Some(0.05));
    stage.run(39.0);
    let seen = stage.pawns[pawn].after(3.0);
    // The change is not announced: the pawn is extrapolated, stands for a moment and is blended.
    assert!(largest_step(seen) < 0.2, "{} m", largest_step(seen));
    for pair in seen.windows(2) {
        assert!(pair[1].view >= pair[0].view, "backward at {}", pair[1].now);
    }
    let middle = &stage.pawns[pawn].seen;
    let slow: Vec<DrawnFrame> = middle.iter().filter(|s| (20.0..24.0).contains(&s.now)).copied().collect();
    assert!((age(&slow) - 0.05 - 12.0 * TICK).abs() < 0.03, "{}", age(&slow));
    assert!(age(stage.pawns[pawn].after(36.0)) < 0.13, "{}", age(stage.pawns[pawn].after(36.0)));
    let time = stage.app.world().get::<ProxyTime>(stage.pawns[pawn].entity).expect("a time");
    assert_eq!(time.interval(), 3);
}

/// Asserts that the view time of most pawns never jumps, and returns its largest distance from that of any of `pawns`.
fn largest_shift(stage: &Harness, pawns: &[usize]) -> f64 {
    let mut apart = 0.0f64;
    for pawn in pawns {
        let seen = stage.pawns[*pawn].after(3.0);
        assert!(seen.iter().any(|frame| frame.now - frame.view > 0.2), "the rate never changed");
        for pair in seen.windows(2) {
            let speed = (pair[1].main_view - pair[0].main_view) / (pair[1].now - pair[0].now);
            // Playout runs at most 3 % faster.
            assert!((0.0..1.04).contains(&speed), "{speed} at {}", pair[1].now);
            apart = apart.max((pair[0].main_view - pair[0].view).abs());
        }
    }
    apart
}

#[test]
fn view_time_of_most_pawns_is_theirs_while_they_change_over_to_another_clock() {
    let mut stage = Harness::new();
    let slider = |tick: u32| if (640..1_600).contains(&tick) { 12 } else { 3 };
    let pawns = [(); 3].map(|()| stage.pawn(None, 40.0, circle, slider, |_| Some(0.05)));
    // One with a rate of its own is not among them.
    stage.pawn(None, 40.0, circle, |_| 24, |_| Some(0.05));
    stage.run(39.0);
    assert_eq!(largest_shift(&stage, &pawns), 0.0);
}

#[test]
fn view_time_of_most_pawns_moves_gradually_when_the_majority_changes_sides() {
    // One pawn after the other gets the rate that one has had all the time.
    let mut stage = Harness::new();
    let changing = [700u32, 900, 1_000, 1_050].map(|at| {
        let slider = move |tick: u32| if (at..2_200 + at).contains(&tick) { 12 } else { 3 };
        stage.pawn(None, 60.0, circle, slider, |_| Some(0.05))
    });
    stage.pawn(None, 60.0, circle, |_| 12, |_| Some(0.05));
    stage.run(59.0);
    let apart = largest_shift(&stage, &changing);
    assert!(apart > 4.0 * TICK, "they never were apart: {apart} s");
}

#[test]
fn view_time_of_a_fast_and_a_slow_pawn_is_that_of_the_fast_one() {
    let mut stage = Harness::new();
    let [fast, slow] =
        [3, 32].map(|interval| stage.pawn(None, 20.0, circle, move |_| interval, |_| Some(0.05)));
    stage.run(19.0);
    assert!(stage.pawns[fast].after(5.0).iter().all(|frame| frame.main_view == frame.view));
    assert!(stage.pawns[slow].after(5.0).iter().all(|frame| frame.main_view > frame.view + 0.2));
}

#[test]
fn view_time_never_runs_backward_when_the_rate_drops_to_one_a_second() {
    let mut stage = Harness::new();
    let slider = |tick: u32| if tick >= 640 { 64 } else { 1 };
    let pawn = stage.pawn(None, 60.0, circle, slider, |_| Some(0.05));
    stage.run(59.0);
    let seen = stage.pawns[pawn].after(3.0);
    for pair in seen.windows(2) {
        assert!(
            pair[1].view >= pair[0].view,
            "{} s backward at {}",
            pair[0].view - pair[1].view,
            pair[1].now
        );
    }
    let late = stage.pawns[pawn].after(45.0);
    assert!(distance_from_circle(late) < 0.02, "{} m", distance_from_circle(late));
}

#[test]
fn ten_update_rates_share_eight_clocks_without_starving_a_pawn() {
    let mut stage = Harness::new();
    let pawns: Vec<usize> = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16]
        .map(|every| stage.pawn(None, 30.0, circle, move |_| every, |_| Some(0.05)))
        .into();
    stage.run(29.0);
    assert!(stage.app.world().resource::<PlayoutClocks>().intervals().count() <= 8);
    for pawn in pawns {
        let seen = stage.pawns[pawn].after(15.0);
        assert!(
            distance_from_circle(seen) < 0.02 && largest_step(seen) < 0.13,
            "{pawn}: {} m",
            distance_from_circle(seen)
        );
    }
}

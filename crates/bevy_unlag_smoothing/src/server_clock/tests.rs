use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{
    exchange_sample::{Moments, OffsetWindow},
    offset_line::OffsetEstimate,
    *,
};

const TICK: f64 = 1.0 / 64.0;
/// Server − client at client second 0.
const OFFSET: f64 = 1_234.567;

/// Draws from an exponential distribution with this mean; the sum of two draws is a gamma variable of shape 2.
fn exponential(rng: &mut SmallRng, mean: f64) -> f64 {
    -mean * (1.0 - rng.random::<f64>()).ln()
}

#[derive(Clone, Copy)]
enum Jitter {
    /// The mean.
    Exponential(f64),
    /// The mean, of shape 2.
    Gamma(f64),
}

#[derive(Clone, Copy)]
struct LinkProfile {
    jitter: Jitter,
    /// Latency added to the uplink for 4 s of every 20 s.
    bloat: f64,
    loss: f64,
    /// Drift of the server's clock.
    drift: f64,
    rate: f64,
}

const CLEAN_LINK: LinkProfile =
    LinkProfile { jitter: Jitter::Exponential(0.01), bloat: 0.0, loss: 0.01, drift: 0.0, rate: 5.0 };

/// Returns exchanges (t0, t1, t2, t3) in the order of t3.
fn exchanges(weather: LinkProfile, seconds: f64, seed: u64) -> Vec<[f64; 4]> {
    let mut dice = SmallRng::seed_from_u64(seed);
    let server = |client: f64| OFFSET + client * (1.0 + weather.drift);
    let mut all = Vec::new();
    for k in 0..(seconds * weather.rate) as u32 {
        let t0 = f64::from(k) / weather.rate;
        let phase = t0 % 20.0 - 10.0;
        let bloat = if (0.0..4.0).contains(&phase) { weather.bloat * (phase * 2.0).min(1.0) } else { 0.0 };
        let mut way = || match weather.jitter {
            Jitter::Exponential(mean) => 0.04 + exponential(&mut dice, mean),
            Jitter::Gamma(mean) => {
                0.04 + exponential(&mut dice, mean / 2.0) + exponential(&mut dice, mean / 2.0)
            }
        };
        let (up, down) = (way() + bloat, way());
        let held = 0.002;
        let arrived = t0 + up;
        if dice.random::<f64>() >= weather.loss {
            all.push([t0, server(arrived), server(arrived + held), arrived + held + down]);
        }
    }
    all.sort_by(|a, b| a[3].total_cmp(&b[3]));
    all
}

fn p95(mut errors: Vec<f64>) -> f64 {
    errors.sort_by(f64::total_cmp);
    errors[errors.len() * 95 / 100]
}

/// Compares the time published 100 times a second, from the tenth second on, with the mean of the last eight
/// exchanges. Returns the 95th percentiles of (our error, the mean's error).
fn expect_monotonic_errors(weather: LinkProfile) -> (f64, f64) {
    let (mut ours, mut means) = (Vec::new(), Vec::new());
    for seed in 1..=6 {
        let mut clock = ServerClock::default();
        let mut last_eight = std::collections::VecDeque::new();
        let mut due = exchanges(weather, 120.0, seed).into_iter().peekable();
        let mut last = f64::NEG_INFINITY;
        for frame in 0..12_000 {
            let now = f64::from(frame) * 0.01;
            while let Some([t0, t1, t2, t3]) = due.next_if(|exchange| exchange[3] <= now) {
                assert!(clock.sample(t0, t1, t2, t3));
                last_eight.push_back(((t1 - t0) - (t3 - t2)) / 2.0);
                if last_eight.len() > 8 {
                    last_eight.pop_front();
                }
            }
            let Some(shown) = clock.seconds(now) else { continue };
            assert!(shown >= last, "{} s backward at {now} s", last - shown);
            let truth = OFFSET + now * (1.0 + weather.drift);
            if now > 10.0 {
                let speed = (shown - last) / 0.01;
                assert!((speed - 1.0).abs() < 0.0101, "the clock runs at {speed}");
                ours.push((shown - truth).abs());
                let mean = last_eight.iter().sum::<f64>() / last_eight.len() as f64;
                means.push((now + mean - truth).abs());
            }
            last = shown;
        }
        assert_eq!((clock.restarts(), clock.jumps(), clock.rejected()), (0, 0, 0));
    }
    (p95(ours), p95(means))
}

#[test]
fn clock_error_is_below_a_millisecond_where_a_mean_fails() {
    let loud = LinkProfile { rate: 10.0, ..CLEAN_LINK };
    for jitter in [Jitter::Exponential(0.01), Jitter::Gamma(0.01)] {
        for bloat in [0.0, 0.1] {
            for weather in [CLEAN_LINK, loud] {
                let weather = LinkProfile { jitter, bloat, ..weather };
                let (ours, mean) = expect_monotonic_errors(weather);
                println!(
                    "{} Hz, bloat {bloat}: {:.2} ms, mean {:.2} ms",
                    weather.rate,
                    ours * 1e3,
                    mean * 1e3
                );
                assert!(ours < 1e-3, "{} ms", ours * 1e3);
                assert!(mean > ours * 3.0 && mean > 3e-3, "the mean is too accurate: {} ms", mean * 1e3);
                assert!(bloat == 0.0 || mean > 20e-3, "the bloat must degrade the mean: {} ms", mean * 1e3);
            }
        }
    }
    // A gamma distribution of 10 ms standard deviation.
    let (ours, _) = expect_monotonic_errors(LinkProfile { jitter: Jitter::Gamma(0.014_142), ..loud });
    assert!(ours < 1e-3, "{} ms", ours * 1e3);
}

#[test]
fn clock_drift_does_not_bias_the_estimate() {
    for drift in [200e-6, -200e-6, 50e-6] {
        for jitter in [Jitter::Exponential(0.01), Jitter::Gamma(0.01)] {
            for bloat in [0.0, 0.1] {
                let (ours, _) = expect_monotonic_errors(LinkProfile { drift, jitter, bloat, ..CLEAN_LINK });
                println!("drift {drift}, bloat {bloat}: {:.2} ms", ours * 1e3);
                // If the line had no drift, it would be 8 ms at 200 ppm.
                assert!(ours < 1.2e-3, "{} ms", ours * 1e3);
            }
        }
    }
    let mut clock = ServerClock::default();
    for [t0, t1, t2, t3] in exchanges(LinkProfile { drift: 200e-6, ..CLEAN_LINK }, 120.0, 3) {
        clock.sample(t0, t1, t2, t3);
    }
    assert!((clock.drift() - 200e-6).abs() < 3e-5, "{}", clock.drift());
}

/// Exchange on a link with a constant latency of 40 ms.
fn constant_latency_exchange(t0: f64, offset: f64) -> [f64; 4] {
    [t0, t0 + 0.04 + offset, t0 + 0.04 + offset, t0 + 0.08]
}

#[test]
fn error_of_an_asymmetric_link_is_within_the_uncertainty() {
    let mut clock = ServerClock::default();
    assert_eq!((clock.now(1.0), clock.uncertainty()), (None, None));
    for k in 0..50 {
        let t0 = f64::from(k) * 0.2;
        // 60 ms uplink, 20 ms downlink.
        clock.sample(t0, t0 + 0.06 + OFFSET, t0 + 0.06 + OFFSET, t0 + 0.08);
    }
    let (error, doubt) = (clock.offset(10.0).map(|o| o - OFFSET), clock.uncertainty());
    assert!(error.is_some_and(|error| (error - 0.02).abs() < 1e-6), "{error:?}");
    assert!(doubt.is_some_and(|doubt| (doubt - 0.04).abs() < 1e-6), "{doubt:?}");
}

#[test]
fn time_step_is_followed_and_published_time_never_runs_backward() {
    for (step, jumps, restarts) in [(0.1, 0, 1), (-0.1, 0, 1), (0.5, 1, 1), (-0.5, 1, 1), (-100.0, 1, 1)] {
        let mut clock = ServerClock::default();
        let mut last = f64::NEG_INFINITY;
        let mut went_back = 0;
        for k in 0..200 {
            let t0 = f64::from(k) * 0.2;
            let [t0, t1, t2, t3] = constant_latency_exchange(t0, if k < 50 { OFFSET } else { OFFSET + step });
            clock.sample(t0, t1, t2, t3);
            for now in [t3, t3 + 0.1] {
                let shown = clock.seconds(now).unwrap_or(f64::NAN);
                went_back += u32::from(shown < last);
                last = shown;
            }
        }
        let truth = 199.0 * 0.2 + 0.18 + OFFSET + step;
        assert!((last - truth).abs() < 1e-3, "after a step of {step} s off by {} s", last - truth);
        assert_eq!((clock.jumps(), clock.restarts()), (jumps, restarts), "a step of {step} s");
        assert_eq!(went_back, u32::from(step < -1.0), "a step of {step} s");
    }
}

#[test]
fn average_makes_up_for_the_drift_and_its_error_is_that_of_the_samples() {
    const DRIFT: f64 = 5e-4;
    let windows = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|at| {
        // Four samples that vary by a millisecond.
        let around = |mean| Moments { mean, squares: 4e-6 };
        let drifted = DRIFT * (at - 8.0);
        let (ups, downs) = (around(0.05 + drifted), around(0.05 - drifted));
        OffsetWindow { began: at, up: (at, 0.05), down: (at, 0.05), count: 4.0, at, ups, downs }
    });
    let estimate = OffsetEstimate::average(windows.iter(), 8.0, DRIFT).expect("an estimate");
    assert!((2e-4..8e-4).contains(&estimate.error), "{estimate:?}");
    assert!(estimate.line.offset.abs() < 1e-3, "{estimate:?}");
}

#[test]
fn impossible_exchanges_are_dropped_and_counted() {
    let mut clock = ServerClock::default();
    for k in 0..20 {
        let [t0, t1, t2, t3] = constant_latency_exchange(f64::from(k) * 0.2, OFFSET);
        assert!(clock.sample(t0, t1, t2, t3));
    }
    assert_eq!(clock.samples(), 20);
    let before = clock.seconds(5.0);
    let [t0, t1, t2, t3] = constant_latency_exchange(4.0, OFFSET);
    let bad = [
        [f64::NAN, t1, t2, t3],
        [t0, f64::INFINITY, t2, t3],
        [t0, t1, f64::NEG_INFINITY, t3],
        [t0, t1, t2, f64::NAN],
        [t0, 1e300, 1e300, t3],
        [-1e300, t1, t2, t3],
        // Sent before it was received, back before it was sent, held for longer than the round trip.
        [t0, t2 + 0.01, t1, t3],
        [t3, t1, t2, t0],
        [t0, t1, t1 + 3.0, t3],
        // Away for longer than on any link.
        [t3 - 60.0, t1, t2, t3],
        // Back before an exchange that was accepted earlier.
        [1.0, 1.04 + OFFSET, 1.04 + OFFSET, 1.08],
        // Contradicts all others.
        [t0, t1 + 7.0, t2 + 7.0, t3],
    ];
    for [t0, t1, t2, t3] in bad {
        assert!(!clock.sample(t0, t1, t2, t3), "{:?}", [t0, t1, t2, t3]);
    }
    assert_eq!((clock.rejected(), clock.seconds(5.0)), (bad.len() as u64, before));
    assert_eq!((clock.seconds(f64::NAN), clock.now(f64::INFINITY)), (None, None));
}

#[test]
fn memory_is_bounded_for_any_exchanges() {
    let mut clock = ServerClock::new(
        ServerClockConfig { window_seconds: f64::NAN, max_windows: usize::MAX, slew: f64::NAN, ..default() },
        f64::NAN,
    );
    let room = clock.windows.room();
    let mut dice = SmallRng::seed_from_u64(5);
    for k in 0..20_000 {
        let t0 = f64::from(k) * 0.01;
        let (up, down) = (dice.random::<f64>() * 0.1, dice.random::<f64>() * 0.1);
        let step = if dice.random::<f64>() < 0.01 { (dice.random::<f64>() - 0.5) * 1e9 } else { 0.0 };
        clock.sample(t0, t0 + up + step, t0 + up + step, t0 + up + down);
        assert!(clock.seconds(t0 + 0.3).is_none_or(f64::is_finite));
    }
    assert_eq!(clock.windows.room(), room, "the capacity has grown");
}

#[test]
fn server_time_continues_across_the_tick_wrap() {
    let mut clock = ServerClock::default();
    let wrap = (f64::from(u32::MAX) + 1.0) * TICK;
    let origin = wrap - 5.0;
    for k in 0..100 {
        let t0 = f64::from(k) * 0.2;
        let server = (origin + t0 + 0.04) % wrap;
        assert!(clock.sample(t0, server, server, t0 + 0.08));
        let view = clock.view_time(t0 + 0.08);
        let expected = Tick((((origin + t0 + 0.08) / TICK) as u64 & u64::from(u32::MAX)) as u32);
        assert!(view.is_some_and(|view| view.ticks_since(expected).abs() < 1.01), "{view:?}, {expected:?}");
    }
    assert_eq!((clock.restarts(), clock.jumps(), clock.rejected()), (0, 0, 0));
}

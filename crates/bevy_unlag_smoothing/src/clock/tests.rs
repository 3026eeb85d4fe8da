use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

const TICK: f64 = 1.0 / 64.0;
const FRAME: f64 = 1.0 / 60.0;
/// Ticks between two snapshots.
const EVERY: u32 = 3;

struct Frame {
    now: f64,
    /// Seconds of the server's time.
    view: f64,
    speed: f64,
    delay: f64,
    starved: u64,
}

/// Plays `seconds` at 60 frames per second. `latency` returns the latency of a snapshot sent at a given
/// time; `None` loses it.
fn expect_playout_without_jumps(seconds: f64, latency: impl FnMut(f64) -> Option<f64>) -> Vec<Frame> {
    expect_playout_without_jumps_at(FRAME, seconds, latency)
}

fn expect_playout_without_jumps_at(
    frame_time: f64,
    seconds: f64,
    mut latency: impl FnMut(f64) -> Option<f64>,
) -> Vec<Frame> {
    let first = Tick(u32::MAX - 500);
    let mut due: Vec<(f64, Tick)> = (0..(seconds / TICK) as u32)
        .step_by(EVERY as usize)
        .filter_map(|k| {
            let sent = f64::from(k) * TICK;
            Some((sent + latency(sent)?, Tick(first.0.wrapping_add(k))))
        })
        .collect();
    due.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut clock = PlayoutClock::default();
    let mut frames = Vec::new();
    let mut before = None;
    for frame in 0..(seconds / frame_time) as u32 {
        let now = f64::from(frame) * frame_time;
        let mut waiting = Vec::new();
        while let Some((_, tick)) = due.pop_if(|(at, _)| *at <= now) {
            waiting.push(tick);
        }
        // One pawn: the updates of a frame count as one arrival, and older ones than its newest as none.
        let newest = waiting.into_iter().max_by_key(|tick| tick.since(first));
        if let Some(tick) = newest.filter(|tick| before.is_none_or(|before: Tick| tick.is_newer_than(before)))
        {
            clock.arrived(tick, before, now);
            before = Some(tick);
        }
        let Some(view) = clock.advance(now) else { continue };
        frames.push(Frame {
            now,
            view: f64::from(view.ticks_since(first)) * TICK,
            speed: clock.speed(),
            delay: clock.delay_seconds(),
            starved: clock.starved(),
        });
    }
    assert_eq!((clock.jumps(), clock.restarts()), (0, 0));
    frames
}

fn assert_runs_forward_within_bounds(frames: &[Frame]) {
    let config = PlayoutConfig::default();
    for pair in frames.windows(2) {
        let step = pair[1].view - pair[0].view;
        assert!(step >= 0.0, "went by {step} s at {} s", pair[1].now);
        assert!((config.min_speed..=config.max_speed).contains(&pair[1].speed), "{}", pair[1].speed);
        // Also check the drawn view time, not only the reported speed.
        if pair[0].view > 0.0 {
            let speed = step / FRAME;
            assert!(speed > config.min_speed - 0.01 && speed < config.max_speed + 0.01, "{speed}");
        }
    }
}

fn after(frames: &[Frame], seconds: f64) -> &[Frame] {
    &frames[frames.partition_point(|f| f.now < seconds)..]
}

fn starved_share(frames: &[Frame]) -> f64 {
    let starved = frames[frames.len() - 1].starved - frames[0].starved;
    starved as f64 / frames.len() as f64
}

#[test]
fn delay_on_a_clean_link_is_one_send_interval_and_a_frame_at_any_latency() {
    let bound = f64::from(EVERY) * TICK + PlayoutConfig::default().margin + FRAME;
    for latency in [0.0, 0.035, 0.1, 0.3] {
        let frames = expect_playout_without_jumps(30.0, |_| Some(latency));
        assert_runs_forward_within_bounds(&frames);
        for frame in after(&frames, 5.0) {
            assert!(frame.delay <= bound + 1e-6, "{} s at {latency} s", frame.delay);
        }
        assert_eq!(starved_share(after(&frames, 5.0)), 0.0, "at {latency} s");
    }
}

#[test]
fn low_frame_rate_does_not_increase_the_delay() {
    for frame_time in [0.11, 0.27] {
        let frames = expect_playout_without_jumps_at(frame_time, 60.0, |_| Some(0.04));
        let last = frames.last().map_or(1.0, |frame| frame.delay);
        assert!(last < 0.08, "{last} s of delay at {frame_time} s a frame");
    }
}

#[test]
fn delay_covers_jitter_and_loss() {
    for seed in 1..=5 {
        let mut random = SmallRng::seed_from_u64(seed);
        let frames = expect_playout_without_jumps(120.0, |_| {
            let latency = 0.05 + 0.03 * random.random::<f64>();
            (random.random::<f64>() >= 0.02).then_some(latency)
        });
        assert_runs_forward_within_bounds(&frames);
        let share = starved_share(after(&frames, 5.0));
        assert!(share < 0.02, "seed {seed}: starved in {:.2} % of frames", share * 100.0);
        let delay =
            after(&frames, 5.0).iter().map(|f| f.delay).sum::<f64>() / after(&frames, 5.0).len() as f64;
        assert!(delay < 0.16, "seed {seed}: {delay} s of delay");
    }
}

#[test]
fn latency_step_is_followed_gradually_without_a_jump() {
    let frames = expect_playout_without_jumps(60.0, |sent| Some(if sent < 20.0 { 0.03 } else { 0.13 }));
    assert_runs_forward_within_bounds(&frames);
    assert!(starved_share(after(&frames, 20.0)) > 0.0, "the control: the step must starve some frames");
    assert_eq!(starved_share(after(&frames, 23.0)), 0.0, "frames still starve after 3 s");
}

#[test]
fn delay_on_a_machine_whose_clock_is_much_too_fast_is_never_negative() {
    for speed in [1.15, 2.0] {
        let (mut clock, mut before, mut least) = (PlayoutClock::default(), None, f64::INFINITY);
        for k in 0..(40.0 / TICK) as u32 {
            // By this machine's clock.
            let now = f64::from(k) * TICK * speed;
            if k.is_multiple_of(EVERY) {
                clock.arrived(Tick(k), before, now);
                before = Some(Tick(k));
            }
            clock.advance(now);
            least = least.min(clock.delay_seconds());
        }
        assert!(least >= 0.0, "{least} s at {speed}");
    }
}

#[test]
fn clock_has_no_view_time_before_the_first_arrival_and_ignores_bad_times() {
    let mut clock = PlayoutClock::default();
    assert_eq!(clock.advance(0.0), None);
    clock.arrived(Tick(7), None, f64::NAN);
    assert_eq!(clock.advance(0.1), None);
    clock.arrived(Tick(7), None, 1.0);
    clock.arrived(Tick(10), Some(Tick(7)), 1.05);
    let view = clock.advance(1.2);
    assert!(view.is_some());
    for bad in [f64::NAN, f64::INFINITY, 0.3] {
        clock.arrived(Tick(13), Some(Tick(10)), bad);
        assert_eq!(clock.advance(bad), view);
    }
    let moved = view.zip(clock.advance(1.3)).map(|(before, now)| now.ticks_since(before.tick));
    assert!(moved.is_some_and(|ticks| ticks > 5.0), "the clock must still run: {moved:?}");
}

#[test]
fn one_stray_tick_is_ignored_and_another_server_restarts_the_clock() {
    let mut clock = PlayoutClock::default();
    let tick_at = |base: u32, now: f64| Tick(base + (now / TICK) as u32);
    let mut now = 0.0;
    for k in 0..200 {
        now = f64::from(k) * 0.05;
        clock.arrived(tick_at(100_000, now), Some(tick_at(100_000, now - 0.05)), now);
        if k == 100 {
            clock.arrived(Tick(5), None, now);
        }
        clock.advance(now);
    }
    assert_eq!(clock.restarts(), 0, "the state of an entity that slept is no new server");
    for k in 0..40 {
        let later = now + 0.05 * f64::from(k + 1);
        clock.arrived(tick_at(10, later), Some(tick_at(10, later - 0.05)), later);
        clock.advance(later);
    }
    assert_eq!(clock.restarts(), 1);
    let behind = clock.advance(now + 2.01).map(|view| view.ticks_since(tick_at(10, now + 2.01)));
    assert!(behind.is_some_and(|ticks| (-8.0..0.0).contains(&ticks)), "{behind:?}");
}

//! Cheating clients gain next to nothing from false view claims.

use core::time::Duration;

use bevy_unlag_core::{NetId, SUB_TICKS, Tick, ViewTime};
use bevy_unlag_rewind::{StampOverride, ViewClaim, ViewTimeValidator, ViewValidationConfig};

use crate::stamps::{
    simulation::{Cheat, ORIGIN, Setup, ValidatedShot, simulate},
    strafer::Strafer,
};

/// Age beyond its own screen at which a client's shots were tested, in ticks.
#[derive(Clone, Copy, Debug)]
struct Gain {
    mean: f64,
    most: f64,
    /// Additional hits on a strafing target compared with an honest client with the same screen, in percent
    /// of all shots; the worst case.
    hits: f64,
}

/// Returns the worst-case gain of a cheat over all links.
fn gain(cheat: Cheat, bursts: bool, config: &ViewValidationConfig) -> Gain {
    gain_of(Setup { cheat, bursts, ..Setup::default() }, config)
}

fn gain_of(cheater: Setup, config: &ViewValidationConfig) -> Gain {
    let Setup { cheat, bursts, move_burst, seconds, .. } = cheater;
    let mut worst = Gain { mean: f64::MIN, most: f64::MIN, hits: f64::MIN };
    for rtt in [0.0, 0.05, 0.15, 0.3] {
        for (jitter, loss) in [(0.0, 0.0), (0.01, 0.05), (0.03, 0.05)] {
            let setup = Setup { rtt, jitter, loss, ..cheater };
            let played = simulate(&setup, config);
            let older: Vec<f64> = played.shots.iter().map(ValidatedShot::excess_age).collect();
            let mean = older.iter().sum::<f64>() / older.len() as f64;
            let most = older.iter().copied().fold(f64::MIN, f64::max);
            let target = Strafer::new(setup.seed, seconds);
            // A client that delays all acknowledgements aims at the older screen that it pretends to have.
            let held = matches!(cheat, Cheat::DelayAcks(_));
            let aimed = |shot: &ValidatedShot| if held { shot.claimed } else { shot.shown };
            let lied = |shot: &&ValidatedShot| {
                !shot.admitted.refused && target.is_hit(aimed(shot), shot.admitted.time)
            };
            let honest = |shot: &&ValidatedShot| target.is_hit(aimed(shot), aimed(shot));
            let (lied, honest) =
                (played.shots.iter().filter(lied).count(), played.shots.iter().filter(honest).count());
            let hits = (lied as f64 - honest as f64) / older.len() as f64 * 100.0;
            println!(
                "{cheat:?}, bursts {bursts}, {move_burst:?}, {:3.0} ms ± {:2.0}, {:1.0} %: {mean:5.2} ticks older \
                 on average, {most:5.2} at most, {lied} hits instead of {honest} ({hits:+.1} %), \
                 frames of {}, {} shots, {} errors",
                rtt * 1e3,
                jitter * 1e3,
                loss * 1e2,
                played.frame,
                older.len(),
                played.counts.errors(),
            );
            worst =
                Gain { mean: worst.mean.max(mean), most: worst.most.max(most), hits: worst.hits.max(hits) };
        }
    }
    worst
}

/// A configuration that accepts any claim.
fn accept_all_claims() -> ViewValidationConfig {
    let long = Duration::from_secs(3);
    ViewValidationConfig {
        frame_allowance: long,
        max_playout: long,
        rtt_slack: long,
        ..ViewValidationConfig::default()
    }
}

#[test]
fn backtracking_gains_under_a_tick_on_average_and_five_at_most() {
    for bursts in [true, false] {
        let gain = gain(Cheat::Backtrack(28.0), bursts, &ViewValidationConfig::default());
        assert!(gain.mean < 1.0 && gain.most < 5.0, "{gain:?}");
        // Its gain in hits is within the random variation of the shots that it falsified.
        assert!(gain.hits < 10.0, "{gain:?}");
    }
    // The monotony of views alone lets a burst keep up with the time, but does not limit its first shot.
    let believed = gain(Cheat::Backtrack(28.0), false, &accept_all_claims());
    assert!(believed.mean > 13.0 && believed.most > 27.0, "{believed:?}");
}

#[test]
fn delayed_acknowledgements_gain_few_ticks_and_no_hits() {
    for seconds in [0.1, 0.2, 0.3] {
        let gain = gain(Cheat::DelayAcks(seconds), true, &ViewValidationConfig::default());
        assert!(gain.mean < 4.0 && gain.most < 11.0, "{gain:?}");
        assert!(gain.hits <= 0.0, "{gain:?}");
    }
    let believed = gain(Cheat::DelayAcks(0.3), true, &accept_all_claims());
    assert!(believed.mean > 19.0, "{believed:?}");
}

#[test]
fn faked_downlink_stalls_gain_at_most_the_maximum_playout() {
    let config = ViewValidationConfig::default();
    for bursts in [true, false] {
        let gain = gain(Cheat::FakeStall(0.6), bursts, &config);
        let most =
            (config.max_playout + config.rtt_slack + config.frame_allowance).as_secs_f64() * 64.0 + 1.0;
        assert!(gain.most < most, "{gain:?}, {most} ticks");
        // In every second shot; a client that fires in bursts cannot alternate that fast.
        assert!(gain.mean < if bursts { 4.5 } else { most / 2.0 }, "{gain:?}");
    }
}

#[test]
fn optimal_claims_gain_no_more_than_the_frame_allowance_and_a_tick() {
    let choosing = Setup { cheat: Cheat::Optimal, seconds: 120.0, ..Setup::default() };
    let strict = gain_of(
        choosing,
        &ViewValidationConfig { frame_allowance: Duration::ZERO, ..ViewValidationConfig::default() },
    );
    let usual = gain_of(choosing, &ViewValidationConfig::default());
    // Two packets in the time of fifteen are not a long frame.
    let sparse = gain_of(Setup { move_burst: (15, true), ..choosing }, &ViewValidationConfig::default());
    // A client that sends its moves in bursts counts as a slow machine, and moves like one.
    let bunched = gain_of(Setup { move_burst: (15, false), ..choosing }, &ViewValidationConfig::default());
    println!("strict {strict:?}\nusual {usual:?}\nsparse {sparse:?}\nbunched {bunched:?}");
    // With the tick for lost updates, on links without loss as well.
    assert!(usual.mean < 1.7 && usual.most < 8.0 && usual.hits < 30.0, "{usual:?}");
    assert!(sparse.mean < 2.5 && sparse.most < 10.0 && sparse.hits < 50.0, "{sparse:?}");
    assert!(strict.hits < usual.hits && usual.hits < bunched.hits, "{strict:?} {bunched:?}");
    let most = ViewValidationConfig::default().max_frame_allowance.as_secs_f64() * 64.0 + 2.0;
    assert!(bunched.most < most, "{bunched:?}");
}

#[test]
fn only_moves_sent_in_bursts_count_as_long_frames() {
    let frame = |move_burst| {
        let setup = Setup { move_burst, jitter: 0.0, loss: 0.0, seconds: 20.0, ..Setup::default() };
        simulate(&setup, &ViewValidationConfig::default()).frame
    };
    assert_eq!(frame((0, false)), 1);
    assert!(frame((15, false)) >= 15);
    assert!(frame((15, true)) <= 4, "two packets must not count as a frame of fifteen ticks");
}

/// Fires every six ticks at a strafing target with the best of the claims in `ways`, according to `admit`.
/// Returns the additional hits compared with an honest client, in percent, and the greatest difference of
/// the tested times, in ticks.
fn gain_of_best_claims(
    ways: &[i64],
    honest: i64,
    mut admit: impl FnMut(Tick, &mut dyn FnMut(&dyn Fn(i64) -> i64) -> i64),
) -> (f64, f64) {
    let (mut lied, mut true_hits, mut most, shots) = (0, 0, 0, 4_000);
    let target = Strafer::new(5, f64::from(shots) * 6.0 / 64.0);
    for shot in 0..shots {
        let own = ORIGIN.offset(shot * 6);
        let shown = ViewTime::at(own).later(-honest);
        admit(own, &mut |judged: &dyn Fn(i64) -> i64| {
            let far = |way: i64| {
                let time = ViewTime::at(own).later(-judged(way));
                ((target.place(time) - target.aim(shown)).abs() * 1e6) as i64
            };
            let best = ways.iter().copied().min_by_key(|way| far(*way)).unwrap_or(honest);
            let back = judged(best);
            most = most.max((back - honest).abs());
            lied += i32::from(target.is_hit(shown, ViewTime::at(own).later(-back)));
            true_hits += i32::from(target.is_hit(shown, shown));
            best
        });
    }
    (f64::from(lied - true_hits) / f64::from(shots) * 100.0, most as f64 / SUB_TICKS as f64)
}

#[test]
fn false_target_view_times_gain_less_with_rate_limits_than_without() {
    // A change of clocks explains four ticks either way; see `query::moment`.
    let ways: Vec<i64> = (-16..=16).map(|quarter| quarter * SUB_TICKS / 4).collect();
    let config = ViewValidationConfig::default();
    let target = NetId(3);
    let believed = |validator: &mut ViewTimeValidator, own: Tick, back: i64| {
        let named = StampOverride { target, from: own, to: Some(own.offset(3)), shift: -back as i16 };
        // No override means the common view time.
        let named = if back == 0 { vec![] } else { vec![named] };
        let claim = ViewClaim {
            time: ViewTime::at(own).later(-9 * SUB_TICKS),
            shooter_tick: own,
            arrived: own,
            last_received_snapshot: Some(own),
            rtt: None,
            interval: 3,
            interval_spread: 0,
            late: 0,
            left_out: false,
            tick_seconds: 1.0 / 64.0,
        };
        let all = validator.validate_overrides((&claim, &config), (&named, 2), None);
        all.iter().find(|named| named.target == target).map_or(0, |named| -i64::from(named.shift))
    };
    let run = |remembers: bool| {
        let mut validator = ViewTimeValidator::default();
        gain_of_best_claims(&ways, 0, |own, choose| {
            let best = choose(&|way| believed(&mut validator.clone(), own, way));
            believed(&mut validator, own, best);
            if !remembers {
                validator = ViewTimeValidator::default();
            }
        })
    };
    let (known, forgotten) = (run(true), run(false));
    let far: Vec<i64> = (-36..=80).map(|quarter| quarter * SUB_TICKS / 4).collect();
    let any = gain_of_best_claims(&far, 0, |_, choose| _ = choose(&|way| way));
    println!("target view time: {known:?} % hits and ticks; without memory {forgotten:?}; unlimited {any:?}");
    assert!(known.0 < 0.95 * forgotten.0 && forgotten.0 < 0.75 * any.0, "{known:?} {forgotten:?} {any:?}");
}

#[test]
fn false_base_view_times_gain_at_most_a_frame() {
    let ways: Vec<i64> = (0..=64).map(|quarter| quarter * SUB_TICKS / 4).collect();
    let config = ViewValidationConfig::default();
    let honest = SUB_TICKS * 5 / 4;
    let judge = |validator: &mut ViewTimeValidator, own: Tick, back: i64| {
        let claimed = ViewTime::at(own).later(-back);
        ViewTime::at(own).since(validator.validate_base_time(own, Some(claimed), &config, 1.0 / 64.0))
    };
    let mut validator = ViewTimeValidator::default();
    let checked = gain_of_best_claims(&ways, honest, |own, choose| {
        let best = choose(&|way| judge(&mut validator.clone(), own, way));
        judge(&mut validator, own, best);
    });
    let unchecked = gain_of_best_claims(&ways, honest, |_, choose| _ = choose(&|way| way));
    println!("bases: {checked:?} % hits and ticks; unchecked {unchecked:?}");
    let most = (ViewValidationConfig::default().frame_allowance.as_secs_f64() * 64.0 + 2.0)
        - honest as f64 / SUB_TICKS as f64;
    assert!(checked.1 <= most && unchecked.1 > 3.0 * most, "{checked:?} {unchecked:?}");
    assert!(checked.0 < 0.6 * unchecked.0, "{checked:?} {unchecked:?}");
}

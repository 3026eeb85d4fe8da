//! Every rule and every mismatch policy of view time validation.

use core::time::Duration;

use bevy_unlag_core::{NetId, SUB_TICKS, SnapshotAck, SnapshotAcks, Tick, ViewTime};
use bevy_unlag_rewind::{
    StampOverride, ValidatedViewTime, ViewClaim, ViewMismatchAction, ViewTimeError, ViewTimeValidator,
    ViewValidationConfig,
};
use bevy_unlag_smoothing::SentSnapshots;

/// The server's tick. The client uses the same tick numbers.
const NOW: Tick = Tick(3);
/// Uplink and downlink latency, and the playout delay, in ticks.
const LATENCY: i32 = 3;
const PLAYOUT: i32 = 4;

/// A validator that received packets for ten seconds from a client with a round trip of 94 ms and three
/// ticks per snapshot.
fn established_validator() -> ViewTimeValidator {
    let (mut validator, mut acks) = (ViewTimeValidator::default(), SnapshotAcks::default());
    for ago in (0..640).rev() {
        let own = NOW.offset(-ago - LATENCY);
        let newest = own.offset(-LATENCY);
        acks.begin_tick();
        let newest = newest.offset(-((newest.0 % 3).cast_signed()));
        acks.record(SnapshotAck { own, arrived: NOW.offset(-ago), last_received_snapshot: Some(newest) }, 0);
        validator.receive_acknowledgements(&acks, false, 1.0 / 64.0);
    }
    validator
}

/// A shot `after` ticks from now, with a screen `behind` ticks behind the client's moves.
fn claim(after: i32, behind: f64) -> ViewClaim {
    let arrived = NOW.offset(after);
    let own = arrived.offset(-LATENCY);
    ViewClaim {
        time: ViewTime::at(own).later((-behind * SUB_TICKS as f64) as i64),
        shooter_tick: own,
        arrived,
        last_received_snapshot: Some(own.offset(-LATENCY)),
        rtt: Some(Duration::from_secs_f64(f64::from(2 * LATENCY) / 64.0)),
        interval: 3,
        interval_spread: 0,
        late: 0,
        left_out: false,
        tick_seconds: 1.0 / 64.0,
    }
}

const HONEST: f64 = (LATENCY + PLAYOUT) as f64;

fn behind(claim: &ViewClaim, admitted: ValidatedViewTime) -> f64 {
    ViewTime::at(claim.shooter_tick).since(admitted.time) as f64 / SUB_TICKS as f64
}

fn validate_claim(
    validator: &mut ViewTimeValidator,
    claim: ViewClaim,
    mismatch: ViewMismatchAction,
) -> (Option<ViewTimeError>, f64) {
    let admitted =
        validator.validate(&claim, &ViewValidationConfig { mismatch, ..ViewValidationConfig::default() });
    (admitted.error, behind(&claim, admitted))
}

#[test]
fn each_violated_rule_reports_its_own_error() {
    let clamp = ViewMismatchAction::Clamp;
    let mut validator = established_validator();
    assert_eq!(validate_claim(&mut validator, claim(0, HONEST), clamp), (None, HONEST));
    assert_eq!(validate_claim(&mut validator, claim(6, 14.0), clamp).0, Some(ViewTimeError::SteppedBack));
    assert_eq!(validate_claim(&mut validator, claim(24, 16.0), clamp).0, Some(ViewTimeError::FellBehind));
    assert_eq!(validate_claim(&mut validator, claim(200, 30.0), clamp).0, Some(ViewTimeError::TooFarBack));
    // The newest acknowledged snapshot is three ticks behind the present; another sixteen may be
    // extrapolated.
    assert_eq!(
        validate_claim(&mut validator, claim(206, -3.1), clamp),
        (Some(ViewTimeError::FromTheFuture), -3.0)
    );
    let stale = ViewClaim { last_received_snapshot: None, ..claim(230, -2.0) };
    assert_eq!(validate_claim(&mut validator, stale, clamp).0, Some(ViewTimeError::BeyondAcknowledged));
    let deaf = ViewClaim { last_received_snapshot: None, ..claim(0, 9.0) };
    assert_eq!(
        validate_claim(&mut ViewTimeValidator::default(), deaf, clamp),
        (Some(ViewTimeError::NothingAcknowledged), 6.0)
    );
    let counts = validator.counts();
    assert_eq!((counts.claims, counts.errors()), (6, 5));
    assert!(
        [ViewTimeError::SteppedBack, ViewTimeError::BeyondAcknowledged]
            .into_iter()
            .all(|error| counts.of(error) == 1)
    );
}

#[test]
fn mismatch_policies_clamp_estimate_or_refuse() {
    let after = |mismatch| {
        let mut validator = established_validator();
        validate_claim(&mut validator, claim(0, HONEST), mismatch);
        validate_claim(&mut validator, claim(64, 28.0), mismatch)
    };
    let (error, clamped) = after(ViewMismatchAction::Clamp);
    assert!(error.is_some() && (5.0..=9.0).contains(&clamped), "{clamped}");
    let (error, estimated) = after(ViewMismatchAction::ServerEstimate);
    assert!(error.is_some() && (5.0..=9.0).contains(&estimated), "{estimated}");

    // A refused claim must not change the state.
    let (mut validator, refuse) = (
        established_validator(),
        ViewValidationConfig { mismatch: ViewMismatchAction::Refuse, ..ViewValidationConfig::default() },
    );
    assert!(!validator.validate(&claim(0, HONEST), &refuse).refused);
    assert!(
        validator
            .validate(&claim(6, -2.9), &ViewValidationConfig { max_extrapolation: Duration::ZERO, ..refuse })
            .refused
    );
    assert_eq!(validator.validate(&claim(12, HONEST), &refuse).error, None);
}

#[test]
fn view_may_fall_behind_only_as_slowly_as_the_playout_delay_grows() {
    let mut validator = established_validator();
    let honest = ViewClaim { left_out: true, ..claim(0, HONEST) };
    validate_claim(&mut validator, honest, ViewMismatchAction::Clamp);
    // It may use the whole playout delay, because its screen waits for a target that was left out, but not
    // at once.
    let later = |ticks: i32, behind: f64| ViewClaim { left_out: true, ..claim(ticks, behind) };
    for (ticks, more, error) in
        [(16, 5.0, None), (32, 9.0, Some(ViewTimeError::FellBehind)), (96, 13.0, None)]
    {
        assert_eq!(
            validate_claim(&mut validator, later(ticks, HONEST + more), ViewMismatchAction::Clamp).0,
            error,
            "{ticks}"
        );
    }
}

// A lost update does not show in acknowledgements if another one of the same message was sent twice.
#[test]
fn playout_that_waits_for_lost_updates_is_honest_although_acknowledgements_show_no_loss() {
    let config = ViewValidationConfig::default();
    // The age of the newest snapshot before the next one, and a tick and a frame within which the view lies.
    let without = 5.0 + 1.0 + config.frame_allowance.as_secs_f64() * 64.0;
    let error_of = |interval: u16, behind: f64| {
        established_validator().validate(&ViewClaim { interval, ..claim(0, behind) }, &config).error
    };
    assert_eq!(error_of(3, without + 0.9), None);
    assert_eq!(error_of(3, without + 1.1), Some(ViewTimeError::TooFarBack));
    assert_eq!(error_of(1, without + 0.1), Some(ViewTimeError::TooFarBack), "nothing is sent twice");
    assert_eq!(error_of(1, without - 0.1), None);
}

#[test]
fn restarted_move_ticks_do_not_allow_stepping_back() {
    let mut validator = established_validator();
    validate_claim(&mut validator, claim(0, HONEST), ViewMismatchAction::Clamp);
    let mut acks = SnapshotAcks::default();
    let arrived = NOW.offset(6);
    let packet = SnapshotAck { own: arrived.offset(-40), arrived, last_received_snapshot: Some(NOW) };
    acks.record(packet, 1);
    validator.receive_acknowledgements(&acks, false, 1.0 / 64.0);
    let again = ViewClaim { shooter_tick: packet.own, ..claim(6, 20.0) };
    let (error, _) = validate_claim(&mut validator, again, ViewMismatchAction::Clamp);
    assert_eq!(error, Some(ViewTimeError::SteppedBack));
}

#[test]
fn claims_without_a_measured_round_trip_use_the_assumed_one() {
    let mut validator = ViewTimeValidator::default();
    let unknown = |behind| ViewClaim { rtt: None, ..claim(0, behind) };
    let config = ViewValidationConfig::default();
    let most = f64::from(-LATENCY)
        + (config.assumed_rtt + config.initial_playout + config.frame_allowance).as_secs_f64() * 64.0
        + 1.0;
    let admitted = validator.validate(&unknown(most - 0.1), &config);
    assert_eq!(admitted.error, None);
    let admitted = ViewTimeValidator::default().validate(&unknown(most + 0.1), &config);
    assert_eq!(admitted.error, Some(ViewTimeError::TooFarBack));
}

/// Validates a claim that bases were drawn `lag` ticks before a move, and returns the validated lag in
/// ticks.
fn validated_base_lag(validator: &mut ViewTimeValidator, after: i32, lag: Option<f64>) -> f64 {
    let own = NOW.offset(after);
    let claimed = lag.map(|lag| ViewTime::at(own).later((-lag * SUB_TICKS as f64) as i64));
    let judged = validator.validate_base_time(own, claimed, &ViewValidationConfig::default(), 1.0 / 64.0);
    ViewTime::at(own).since(judged) as f64 / SUB_TICKS as f64
}

#[test]
fn base_view_times_lag_by_at_most_a_frame_and_never_step_back() {
    // A frame of 40 ms and two ticks.
    let most = 2.5 + 2.0 + 0.0547;
    let mut validator = established_validator();
    assert_eq!(validated_base_lag(&mut validator, 0, Some(1.25)), 1.25);
    assert_eq!(validated_base_lag(&mut validator, 6, Some(-3.0)), 0.0);
    assert!((validated_base_lag(&mut validator, 12, Some(12.0)) - most).abs() < 0.01);
    // From 7.5 ticks back to 5 would be too far back, and so would the same time again.
    assert_eq!(validated_base_lag(&mut validator, 13, Some(4.5)), 4.5);
    assert_eq!(validated_base_lag(&mut validator, 14, Some(1.0)), 1.0);
    assert_eq!(validated_base_lag(&mut validator, 16, Some(4.0)), 3.0);
    // Without a claim, the bases are drawn as before.
    assert_eq!(validated_base_lag(&mut validator, 20, None), 3.0);
    assert_eq!(validated_base_lag(&mut established_validator(), 20, None), 0.0);
}

#[test]
fn slow_machine_may_draw_bases_further_before_its_moves() {
    let (mut validator, mut acks) = (ViewTimeValidator::default(), SnapshotAcks::default());
    for frame in 0..40 {
        acks.begin_tick();
        for ago in (0..12).rev() {
            let own = NOW.offset(frame * 12 - 480 - ago);
            acks.record(
                SnapshotAck { own, arrived: NOW.offset(frame * 12 - 470), last_received_snapshot: None },
                0,
            );
        }
        validator.receive_acknowledgements(&acks, false, 1.0 / 64.0);
    }
    assert_eq!(validated_base_lag(&mut validator, 0, Some(13.0)), 13.0);
}

const SLOW: NetId = NetId(5);

/// Validates the claimed view time of a target, in ticks after the common one; `None` makes no claim.
/// Returns the validated shift.
fn expect_validated_shift(
    validator: &mut ViewTimeValidator,
    after: i32,
    named: Option<f64>,
    change: impl Fn(&mut ViewClaim),
) -> f64 {
    let mut claim = claim(after, HONEST);
    change(&mut claim);
    let sub = |ticks: f64| (ticks * SUB_TICKS as f64) as i16;
    let from = claim.time.tick.offset(-20);
    let named =
        named.map(|shift| StampOverride { target: SLOW, from, to: Some(from.offset(6)), shift: sub(shift) });
    let named = named.as_slice();
    let mut log = SentSnapshots::default();
    log.mark(SLOW, NOW);
    let believed =
        validator.validate_overrides((&claim, &ViewValidationConfig::default()), (named, 2), Some(&log));
    // An accepted override must be unchanged.
    let as_said = believed.iter().all(|one| named.iter().all(|said| said.shift != one.shift || said == one));
    assert!(as_said, "{:?}", believed.first());
    believed.first().map_or(0.0, |one| f64::from(one.shift) / SUB_TICKS as f64)
}

#[test]
fn target_view_time_shifts_no_faster_than_playout_clocks() {
    let mut validator = established_validator();
    let mut at = |after, named| expect_validated_shift(&mut validator, after, named, |_| ());
    assert_eq!(at(0, Some(-9.0)), -9.0);
    // An eighth of a tick per tick, plus a frame and a tick.
    assert_eq!(at(6, Some(-10.0)), -10.0);
    let back = at(12, Some(-2.0));
    assert!((back + 8.8).abs() < 0.01, "{back}");
    let ahead = at(18, Some(2.0));
    assert!((ahead + 7.6).abs() < 0.02, "{ahead}");
    // Omitting the override must not bypass the limit.
    let unnamed = at(24, None);
    assert!((unnamed + 6.4).abs() < 0.04, "{unnamed}");
    assert_eq!(at(300, None), 0.0);
}

#[test]
fn view_time_of_a_hidden_target_does_not_bind_it_when_it_is_shown_again() {
    // A client that has not received the notice yet names the outdated pose.
    let shown = |hides: bool| {
        let (mut validator, mut log) = (established_validator(), SentSnapshots::default());
        let mut at = |after, named: &[StampOverride], log: &SentSnapshots| {
            let config = ViewValidationConfig::default();
            let all = validator.validate_overrides((&claim(after, HONEST), &config), (named, 2), Some(log));
            all.first().map(|one| one.shift)
        };
        let last = claim(0, HONEST).time.tick.offset(-40);
        log.mark(SLOW, last);
        if hides {
            log.mark_gone(SLOW, last);
        }
        let stale = StampOverride { target: SLOW, from: last, to: None, shift: -38 * SUB_TICKS as i16 };
        at(0, &[stale], &log);
        log.mark(SLOW, NOW);
        at(6, &[], &log)
    };
    assert_eq!(shown(true), None);
    // The control: a target that was never hidden.
    assert!(shown(false).is_some_and(|shift| shift < -30 * SUB_TICKS as i16), "{:?}", shown(false));
}

#[test]
fn shift_is_bound_until_the_view_is_past_the_hiding_of_the_target() {
    let second = |gone: i32| {
        let (mut validator, mut log) = (established_validator(), SentSnapshots::default());
        let config = ViewValidationConfig::default();
        let (first, second) = (claim(0, HONEST), claim(6, HONEST));
        let tick = first.time.tick;
        log.mark(SLOW, tick.offset(gone));
        let mut judge = |claim: &ViewClaim, shift: i16, log: &SentSnapshots| {
            let from = claim.time.tick;
            let named = StampOverride { target: SLOW, from, to: Some(from.offset(6)), shift };
            let all = validator.validate_overrides((claim, &config), (&[named], 2), Some(log));
            all.first().map(|one| one.shift)
        };
        assert_eq!(judge(&first, 0, &log), Some(0));
        log.mark_gone(SLOW, tick.offset(gone));
        judge(&second, 2_000, &log)
    };
    // Hidden after both views, and between them.
    assert!(second(20).is_some_and(|shift| shift < 600), "{:?}", second(20));
    assert_eq!(second(3), Some(2_000));
}

#[test]
fn target_keeps_its_view_time_when_the_main_clock_changes() {
    let interval_spread = |behind: f64| {
        move |claim: &mut ViewClaim| {
            claim.interval_spread = 3;
            claim.time = ViewTime::at(claim.shooter_tick).later((-behind * SUB_TICKS as f64) as i64);
        }
    };
    let mut validator = established_validator();
    assert_eq!(expect_validated_shift(&mut validator, 0, Some(-6.0), interval_spread(HONEST)), -6.0);
    // All other targets are drawn six ticks further back now.
    assert_eq!(expect_validated_shift(&mut validator, 6, None, interval_spread(HONEST + 6.0)), 0.0);
    assert_ne!(expect_validated_shift(&mut validator, 12, None, interval_spread(HONEST)), 0.0);
}

#[test]
fn random_overrides_and_base_claims_stay_within_bounds() {
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..300 {
        let config =
            ViewValidationConfig { max_delay_growth: rng.random(), ..ViewValidationConfig::default() };
        let mut validator = established_validator();
        let mut last: Option<ViewTime> = None;
        let mut own = Tick(rng.random());
        for _ in 0..100 {
            own = own.offset(rng.random_range(0..40));
            let far = rng.random_range(-(1_i64 << 38)..1 << 38) >> rng.random_range(0..38);
            let claim = ViewClaim {
                shooter_tick: own,
                time: ViewTime::at(own).later(far),
                interval_spread: rng.random(),
                ..claim(0, 0.0)
            };
            let named: Vec<_> = (0..rng.random_range(0..5))
                .map(|_| StampOverride {
                    target: NetId(rng.random_range(0..100)),
                    from: Tick(rng.random()),
                    to: rng.random_bool(0.8).then(|| Tick(rng.random())),
                    shift: rng.random(),
                })
                .collect();
            let believed = validator.validate_overrides((&claim, &config), (&named, 4), None);
            assert!(believed.len() >= named.len());
            let judged = validator.validate_base_time(
                own,
                (last.is_none() || rng.random()).then_some(claim.time),
                &config,
                1.0 / 64.0,
            );
            let lag = ViewTime::at(own).since(judged);
            assert!((0..=5 * SUB_TICKS).contains(&lag), "{lag}");
            assert!(last.is_none_or(|last| judged.since(last) >= 0), "bases must not step back");
            last = Some(judged);
        }
    }
}

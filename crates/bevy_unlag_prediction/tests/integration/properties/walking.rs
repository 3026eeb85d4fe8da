//! Distance bound: no client moves its pawn further than the elapsed time allows, whatever it sends.

use core::{cell::Cell, time::Duration};

use bevy::prelude::*;
use bevy_unlag_core::Tick;
use bevy_unlag_prediction::{MoveRun, PredictionConfig, TimeDiscrepancyConfig};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::properties::{
    attack::{Attack, AttackStep, Forged, script},
    cases,
    monitored_server::TICK,
    walker::{Mode, WalkerInput},
};

/// Default configuration, or any other one under which movement is bounded.
fn tuning() -> impl Strategy<Value = PredictionConfig> {
    let usual = PredictionConfig::default();
    let time = (0.0..0.6f32, -0.6..0.0f32, 0.0..1.0f32, prop_oneof![Just(0.0f32), Just(0.01)], any::<bool>())
        .prop_map(|(max, min, rate, drift, force_corrections)| TimeDiscrepancyConfig {
            max_time_margin: max,
            min_time_margin: min,
            resolution_rate: rate,
            drift_allowance: drift,
            force_corrections,
            ..TimeDiscrepancyConfig::default()
        });
    let other =
        (time, 0.0..1.0f32, 0.0..6.0f32, 0..40u32, 0.1..4.0f32, prop_oneof![Just(0.0f32), 0.0..0.1f32])
            .prop_map(
                move |(
                    time,
                    missing_move_timeout,
                    forced_update,
                    max_buffer,
                    max_lag,
                    accept_client_position,
                )| {
                    PredictionConfig {
                        missing_move_timeout,
                        forced_update,
                        max_buffer: max_buffer as f32 / 64.0,
                        max_lag,
                        accept_client_position,
                        time,
                        ..usual
                    }
                },
            );
    prop_oneof![1 => Just(usual), 1 => other]
}

const RUN: WalkerInput = WalkerInput { mode: Mode::Walk, towards: Vec3::X };

/// Ten seconds of a client whose clock is `speed` times as fast.
fn clock(speed: u8) -> Vec<AttackStep> {
    let rounds = 640 / 40;
    vec![AttackStep::Ticks { frames: 40, ticks: speed, wish: RUN }; rounds]
}

fn one_move(lead: i16, length: u16) -> AttackStep {
    let runs = vec![MoveRun { age: 0, length, input: RUN }];
    AttackStep::Forge(Forged { epoch: 0, sequence: 0, lead, runs, off: Vec3::ZERO, packets: 1, stride: 0 })
}

/// Plays so many scripts of a client that attacks by its clock.
fn assert_scripts_stay_within_elapsed_time(scripts: u32) {
    let mut runner = TestRunner::new(cases(scripts));
    let [run, extrapolated_moves, withheld, malformed, pushed] = [const { Cell::new(0u64) }; 5];
    let ahead = Cell::new(0.0f64);
    let count = |cell: &Cell<u64>, more: u64| cell.set(cell.get() + more);
    let start = prop_oneof![1 => Just(0u32), 1 => any::<u32>(), 1 => u32::MAX - 2_000..=u32::MAX];
    let outcome = runner.run(&(tuning(), start, script()), |(config, start, script)| {
        let mut attack = Attack::new(config, Tick(start));
        attack.play(&script).map_err(TestCaseError::fail)?;
        let stats = attack.server.stats();
        count(&run, stats.moves);
        count(&extrapolated_moves, stats.extrapolated_moves);
        count(&withheld, stats.withheld);
        count(&malformed, stats.malformed);
        count(&pushed, attack.server.place().pushed.into());
        ahead.set(ahead.get().max(attack.server.monitor().most_ahead));
        Ok(())
    });
    if let Err(why) = outcome {
        panic!("{why}");
    }
    // The scripts must cover all of these cases.
    let seen = [run, extrapolated_moves, withheld, malformed, pushed].map(Cell::into_inner);
    assert!(seen.iter().all(|count| *count > 0), "run, extrapolated, withheld, malformed, pushed: {seen:?}");
    assert!(ahead.get() > 0.1, "no script came near the margin: {} s", ahead.get());
}

#[test]
fn no_script_moves_a_pawn_further_than_elapsed_time_allows() {
    assert_scripts_stay_within_elapsed_time(80);
}

#[test]
#[ignore = "long: 400 scripts"]
fn no_further_script_moves_a_pawn_further_than_elapsed_time_allows() {
    assert_scripts_stay_within_elapsed_time(400);
}

#[test]
fn clock_at_double_speed_gains_only_the_margin() {
    let mut attack = Attack::new(PredictionConfig::default(), Tick(0));
    assert_eq!(attack.play(&clock(2)), Ok(()));
    let watch = attack.server.monitor();
    assert!(watch.passed > 9.9 && attack.server.stats().withheld > 300, "{watch:?}");
}

#[test]
fn monitor_detects_a_fast_clock_without_resolution() {
    let config = PredictionConfig { time: TimeDiscrepancyConfig::UNREAL, ..PredictionConfig::default() };
    let mut attack = Attack::new(config, Tick(0));
    let seen = attack.play(&clock(2));
    let too_much = |why: &String| {
        why.contains("s of moves in") || why.contains("s granted") || why.contains("s granted beyond")
    };
    assert!(seen.as_ref().is_err_and(too_much), "{seen:?}");
}

/// The client's moves are three seconds late and then one second early. The moves between were never sent.
#[test]
fn pawn_of_a_client_that_jumps_ahead_is_not_extrapolated_there_at_once() {
    let mut attack = Attack::new(PredictionConfig::default(), Tick(0));
    let quiet = AttackStep::Ticks { frames: 40, ticks: 0, wish: WalkerInput::default() };
    let tick = AttackStep::Frame { length: TICK, ticks: 0, wish: WalkerInput::default() };
    let script = [quiet, one_move(-180, 1), tick.clone(), one_move(60, 17), tick.clone(), tick];
    assert_eq!(attack.play(&script), Ok(()));
}

/// Time for which the pawn was extrapolated in a stall is used up for the owner.
#[test]
fn server_stall_grants_no_time_twice() {
    let mut attack = Attack::new(PredictionConfig::default(), Tick(0));
    let walk = AttackStep::Ticks { frames: 64, ticks: 1, wish: RUN };
    let stall = AttackStep::Frame { length: Duration::from_secs(2), ticks: 0, wish: RUN };
    let script = [walk.clone(), stall, walk.clone(), walk];
    assert_eq!(attack.play(&script), Ok(()));
}

/// Packets of one move each whose claimed result differs from the server's, so that nothing is ever
/// confirmed. `epoch` is added to the server's.
fn unconfirmed(epoch: u8, packets: u8, lead: i16) -> AttackStep {
    let runs = vec![MoveRun { age: 0, length: 1, input: RUN }];
    AttackStep::Forge(Forged { epoch, sequence: 0, lead, runs, off: Vec3::X * 10.0, packets, stride: 1 })
}

/// Returns the number of applied pushes after one push was requested and the client forced a new epoch,
/// before or after its application. The new epoch starts at `lead` ticks from the server's.
fn expect_pushes_after_new_epoch(ticks_before: usize, lead: i16, at_once: bool) -> u32 {
    let mut attack = Attack::new(PredictionConfig::default(), Tick(0));
    let tick = AttackStep::Frame { length: TICK, ticks: 0, wish: WalkerInput::default() };
    let steady = [unconfirmed(0, 1, 0), tick.clone()];
    let mut script = vec![tick.clone(), unconfirmed(0, 1, 0), tick.clone(), AttackStep::Push(Vec3::X)];
    (0..ticks_before).for_each(|_| script.extend(steady.clone()));
    // 33 packets of an unknown epoch.
    script.push(unconfirmed(5, 33, 0));
    if at_once {
        script.push(unconfirmed(1, 20, lead));
    }
    script.push(tick);
    (0..60).for_each(|_| script.extend(steady.clone()));
    assert_eq!(attack.play(&script), Ok(()));
    attack.server.place().pushed
}

/// A push belongs to a tick, and a client that forces a new epoch reaches that tick a second time.
#[test]
fn push_is_applied_once_even_if_its_tick_recurs() {
    assert_eq!(expect_pushes_after_new_epoch(8, -20, true), 1);
}

#[test]
fn new_epoch_does_not_avoid_a_push() {
    assert_eq!(expect_pushes_after_new_epoch(8, 0, false), 1, "the push was due before the restart");
    assert_eq!(expect_pushes_after_new_epoch(1, 0, false), 1, "the push was scheduled but not applied");
    assert_eq!(expect_pushes_after_new_epoch(0, 0, true), 1, "the push was not scheduled yet");
}

#[test]
fn packet_from_the_future_does_not_delay_a_push() {
    let mut attack = Attack::new(PredictionConfig::default(), Tick(0));
    let tick = AttackStep::Frame { length: TICK, ticks: 0, wish: WalkerInput::default() };
    let mut script = vec![tick.clone(), unconfirmed(0, 1, 0), tick.clone()];
    // A packet of eight minutes later.
    script.extend([unconfirmed(0, 1, 30_000), tick.clone(), AttackStep::Push(Vec3::X)]);
    (0..120).for_each(|_| script.extend([unconfirmed(0, 1, 0), tick.clone()]));
    assert_eq!(attack.play(&script), Ok(()));
    assert_eq!(attack.server.place().pushed, 1);
}

/// The time that a stall has cost may be caught up soon after it, but not saved up while no epoch runs.
#[test]
fn new_epoch_does_not_save_up_the_time_of_a_stall() {
    let mut attack = Attack::new(PredictionConfig::default(), Tick(0));
    let tick = AttackStep::Frame { length: TICK, ticks: 0, wish: WalkerInput::default() };
    let mut script = vec![tick.clone(); 4];
    script.extend([one_move(0, 1), tick.clone()]);
    script.push(AttackStep::Frame { length: Duration::from_secs(3), ticks: 0, wish: RUN });
    // 33 packets of an unknown epoch, and then silence.
    script.extend([unconfirmed(5, 33, 0), tick.clone()]);
    script.extend(vec![tick.clone(); 640]);
    // An epoch that started long ago and whose moves are then all due.
    script.extend([one_move(-150, 1), tick.clone(), one_move(0, 150)]);
    (0..40).for_each(|_| script.extend([unconfirmed(0, 1, 0), tick.clone()]));
    assert_eq!(attack.play(&script), Ok(()));
    assert!(attack.server.stats().moves > 32, "{:?}", attack.server.stats());
}

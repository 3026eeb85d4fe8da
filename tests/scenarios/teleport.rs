//! The teleport of Unreal's documentation, four ways: three fail as it says, the fourth does not.

use core::time::Duration;

use bevy_unlag::prediction::{CorrectionCause, PredictionConfig, PredictionDebug};
use unlag_examples::teleport::{
    ClientServerPair, TeleportOptions, TeleportReport, Variant, Wall, WriteMethod, study,
};

/// 100 ms of round trip, nothing lost.
fn calm(variant: Variant) -> TeleportOptions {
    TeleportOptions { variant, ..TeleportOptions::default() }
}

/// 300 ms of round trip, 10 % loss, and a correction that lands before the teleport.
fn bad(variant: Variant, seed: u64) -> TeleportOptions {
    let rtt = Duration::from_millis(300);
    TeleportOptions { variant, rtt, loss: 0.1, seed, force_correction: true, ..TeleportOptions::default() }
}

fn ahead(report: &TeleportReport, metres: f32) -> bool {
    report.ahead.iter().all(|ahead| (ahead - metres).abs() < 0.02)
}

/// The corrections that the teleport is to blame for.
fn errors(report: &TeleportReport) -> Vec<(CorrectionCause, f32)> {
    report.teleport_corrections().map(|correction| (correction.cause, correction.metres)).collect()
}

#[test]
fn client_only_snaps_back_by_a_correction_of_ten_metres() {
    let report = study(&calm(Variant::ClientOnly));
    assert_eq!(report.effects, [0.0], "it looks as if it worked");
    let [there, back] = report.jumps[..] else { panic!("{report:?}") };
    assert!((there.metres - 10.0).abs() < 0.1 && there.ms == 0.0, "{report:?}");
    assert!((back.metres + 10.0).abs() < 0.1 && (100.0..250.0).contains(&back.ms), "{report:?}");
    let [(cause, metres)] = errors(&report)[..] else { panic!("{report:?}") };
    assert!((metres - 10.0).abs() < 0.1, "{report:?}");
    assert_ne!(cause, CorrectionCause::ServerPush, "nobody pushed: this is an error");
    assert!(ahead(&report, 0.0) && report.effects_on_server.is_empty() && report.outcomes.is_empty());
}

#[test]
fn a_teleport_that_only_the_client_made_is_an_error_however_it_was_made() {
    let report = study(&TeleportOptions { write_method: WriteMethod::Teleport, ..calm(Variant::ClientOnly) });
    assert!(ahead(&report, 0.0), "{report:?}");
    let [(_, metres)] = errors(&report)[..] else {
        panic!("the two sides were 10 m apart, and no correction says so: {report:?}")
    };
    assert!((metres - 10.0).abs() < 0.1, "{report:?}");
}

#[test]
fn no_round_trip_hides_ten_metres() {
    for variant in [Variant::ClientOnly, Variant::ServerOnly] {
        for rtt in (0..=200).step_by(25) {
            let report = study(&TeleportOptions { rtt: Duration::from_millis(rtt), ..calm(variant) });
            assert!((report.ahead[0] - report.ahead[1]).abs() < 1e-3, "{rtt} ms: {report:?}");
            let [(_, metres)] = errors(&report)[..] else { panic!("{rtt} ms: {report:?}") };
            assert!((metres - 10.0).abs() < 0.1, "{rtt} ms: {report:?}");
            let noticed = report.corrections.iter().map(|correction| correction.ms).fold(0.0, f64::max);
            assert!(noticed < rtt as f64 + 250.0, "{rtt} ms: noticed after {noticed} ms");
        }
    }
}

#[test]
fn server_only_works_a_round_trip_late_without_an_effect_and_counts_as_a_push_of_the_server() {
    for rtt in [100, 300] {
        let report = study(&TeleportOptions { rtt: Duration::from_millis(rtt), ..calm(Variant::ServerOnly) });
        assert!(ahead(&report, 10.0), "{report:?}");
        let [jump] = report.jumps[..] else { panic!("{report:?}") };
        assert!(jump.ms >= rtt as f64 && jump.ms < rtt as f64 + 200.0, "{report:?}");
        assert!(report.effects.is_empty(), "the owner plays nothing: {report:?}");
        assert_eq!(report.effects_on_server.len(), 1);
        assert!(report.outcomes.is_empty(), "and nobody tells: {report:?}");
        // It counts, but has another name than an error.
        let [(CorrectionCause::ServerPush, metres)] = errors(&report)[..] else { panic!("{report:?}") };
        assert!((metres - 10.0).abs() < 0.1, "{report:?}");
    }
}

#[test]
fn server_only_that_counts_its_teleports_is_no_error_and_still_late_and_silent() {
    let report = study(&TeleportOptions { write_method: WriteMethod::Teleport, ..calm(Variant::ServerOnly) });
    assert!(ahead(&report, 10.0), "{report:?}");
    assert_eq!(errors(&report), []);
    let [jump] = report.jumps[..] else { panic!("{report:?}") };
    assert!(jump.ms >= 100.0, "{report:?}");
    assert!(report.effects.is_empty() && report.outcomes.is_empty(), "{report:?}");
}

#[test]
fn server_only_slides_where_corrections_do_and_a_counted_teleport_never_does() {
    let prediction = PredictionConfig { snap_distance: 20.0, ..PredictionConfig::default() };
    let with =
        |write_method| study(&TeleportOptions { prediction, write_method, ..calm(Variant::ServerOnly) });
    let written = with(WriteMethod::Position);
    assert!(ahead(&written, 10.0) && written.slide.is_some_and(|slide| slide.ms > 150.0), "{written:?}");
    let counted = with(WriteMethod::Teleport);
    assert!(ahead(&counted, 10.0) && counted.slide.is_none(), "{counted:?}");
    assert!(counted.jumps.len() == 1, "{counted:?}");
    let in_move = study(&TeleportOptions { prediction, ..calm(Variant::Stream) });
    assert!(in_move.jumps.len() == 1 && in_move.slide.is_none(), "{in_move:?}");
}

#[test]
fn server_only_does_not_say_that_it_was_refused() {
    let report = study(&TeleportOptions { wall: Wall::OnServer, ..calm(Variant::ServerOnly) });
    assert!(ahead(&report, 0.0), "{report:?}");
    assert!(report.outcomes.is_empty() && report.jumps.is_empty() && report.corrections.is_empty());
}

#[test]
fn server_and_local_works_on_a_calm_link() {
    let report = study(&calm(Variant::ServerAndLocal));
    assert!(ahead(&report, 10.0), "{report:?}");
    assert_eq!(report.effects, [0.0], "{report:?}");
    assert_eq!(report.jumps.len(), 1, "{report:?}");
    assert!(report.outcomes.is_empty(), "but nobody tells: {report:?}");
}

#[test]
fn server_and_local_is_lost_when_a_correction_lands_before_the_trigger() {
    for write_method in [WriteMethod::Position, WriteMethod::Teleport] {
        for seed in 1..6 {
            let report = study(&TeleportOptions { write_method, ..bad(Variant::ServerAndLocal, seed) });
            assert_eq!(report.effects, [0.0], "{report:?}");
            let there = report.jumps.first().expect("it jumped at once");
            let back = report.jumps.get(1).unwrap_or_else(|| panic!("not lost: {report:?}"));
            assert!(there.metres > 9.0 && there.ms == 0.0, "{report:?}");
            assert!(back.metres < -9.0, "the replay knows of no teleport: {report:?}");
            assert!(ahead(&report, 10.0), "what brings it back is the server's own: {report:?}");
        }
    }
}

#[test]
fn in_the_move_stream_it_survives_loss_and_a_correction_with_one_effect_and_no_error() {
    for seed in 1..11 {
        let report = study(&bad(Variant::Stream, seed));
        assert!(ahead(&report, 10.0), "seed {seed}: {report:?}");
        assert_eq!(report.effects, [0.0], "seed {seed}: {report:?}");
        assert_eq!(report.effects_on_server.len(), 1, "seed {seed}: {report:?}");
        assert_eq!(errors(&report), [], "seed {seed}: {report:?}");
        let [jump] = report.jumps[..] else { panic!("seed {seed}: {report:?}") };
        assert!(jump.ms == 0.0 && (jump.metres - 10.0).abs() < 0.1, "seed {seed}: {report:?}");
        // The control: there was a correction, of a move before the key, and the key was replayed.
        assert!(report.corrections.iter().any(|c| c.is_from_earlier_move && c.ms > 0.0), "{report:?}");
        assert!(report.replayed > 10, "seed {seed}: {report:?}");
        let [(ms, true)] = report.outcomes[..] else { panic!("seed {seed}: {report:?}") };
        assert!(ms >= 300.0, "seed {seed}: {report:?}");
        assert_eq!(report.failed_expectations(), Vec::<String>::new());
    }
}

#[test]
fn in_the_move_stream_it_survives_jitter() {
    for seed in 1..6 {
        let jitter = Duration::from_millis(40);
        let report = study(&TeleportOptions { jitter, ..bad(Variant::Stream, seed) });
        assert_eq!(report.failed_expectations(), Vec::<String>::new(), "seed {seed}: {report:?}");
    }
}

/// Presses the key while the server corrects in every answer, and says what the owner saw.
fn under_forced_corrections(variant: Variant) -> ClientServerPair {
    let mut pair = ClientServerPair::start(&TeleportOptions {
        rtt: Duration::from_millis(300),
        loss: 0.1,
        ..calm(variant)
    });
    pair.run(Duration::from_secs(2));
    pair.server.insert_resource(PredictionDebug { force_corrections: 1.0, ..PredictionDebug::default() });
    pair.run(Duration::from_secs(1));
    pair.hold_key(true);
    pair.run(Duration::from_millis(100));
    pair.hold_key(false);
    pair.run(Duration::from_secs(2));
    pair
}

#[test]
fn in_the_move_stream_it_survives_a_server_that_corrects_in_every_answer() {
    let pair = under_forced_corrections(Variant::Stream);
    assert!(pair.stats().replayed > 100, "a forced correction is replayed: {:?}", pair.stats());
    assert_eq!(pair.stats().corrections, 0, "and is no error: {:?}", pair.stats());
    let seen = pair.seen();
    assert_eq!((seen.effects.len(), seen.jumps.len()), (1, 1), "{seen:?}");
    assert!(matches!(seen.outcomes[..], [(_, true)]), "{seen:?}");
}

#[test]
fn the_owner_learns_that_the_server_refused() {
    for seed in 1..6 {
        let rtt = Duration::from_millis(300);
        let wall = Wall::OnServer;
        let report = study(&TeleportOptions { rtt, wall, loss: 0.1, seed, ..calm(Variant::Stream) });
        assert!(ahead(&report, 0.0), "{report:?}");
        let [(ms, false)] = report.outcomes[..] else { panic!("seed {seed}: {report:?}") };
        assert!(ms >= 300.0, "{report:?}");
        assert!(report.effects_on_server.is_empty(), "{report:?}");
        let [there, back] = report.jumps[..] else { panic!("seed {seed}: {report:?}") };
        assert!(there.metres > 9.0 && back.metres < -9.0, "{report:?}");
    }
}

#[test]
fn the_owner_that_sees_the_wall_does_not_even_try() {
    let report = study(&TeleportOptions { wall: Wall::OnBoth, ..calm(Variant::Stream) });
    assert!(ahead(&report, 0.0) && report.jumps.is_empty() && report.effects.is_empty(), "{report:?}");
    assert!(report.corrections.is_empty(), "{report:?}");
    assert!(matches!(report.outcomes[..], [(0.0, false)]), "{report:?}");
}

#[test]
fn the_same_study_twice_is_the_same() {
    for variant in Variant::ALL {
        assert_eq!(study(&bad(variant, 3)), study(&bad(variant, 3)));
    }
}

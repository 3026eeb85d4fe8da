//! The four ways to implement the teleport ability in Unreal's documentation: three fail as described there,
//! the fourth (an ability in the move stream) works.

use core::time::Duration;

use bevy_unlag::prediction::{CorrectionCause, PredictionConfig, PredictionDebug};
use unlag_examples::teleport::{
    ClientServerPair, TeleportOptions, TeleportReport, Variant, Wall, WriteMethod, study,
};

/// A round trip of 100 ms without loss.
fn lossless(variant: Variant) -> TeleportOptions {
    TeleportOptions { variant, ..TeleportOptions::default() }
}

/// A round trip of 300 ms, 10 % loss, and a forced correction of a move before the teleport.
fn lossy(variant: Variant, seed: u64) -> TeleportOptions {
    let rtt = Duration::from_millis(300);
    TeleportOptions { variant, rtt, loss: 0.1, seed, force_correction: true, ..TeleportOptions::default() }
}

fn moved_by(report: &TeleportReport, metres: f32) -> bool {
    report.ahead.iter().all(|ahead| (ahead - metres).abs() < 0.02)
}

/// The corrections that the teleport caused.
fn errors(report: &TeleportReport) -> Vec<(CorrectionCause, f32)> {
    report.teleport_corrections().map(|correction| (correction.cause, correction.metres)).collect()
}

#[test]
fn client_only_teleport_is_corrected_back_by_10_m() {
    let report = study(&lossless(Variant::ClientOnly));
    assert_eq!(report.effects, [0.0], "the effect must play at once");
    let [there, back] = report.jumps[..] else { panic!("{report:?}") };
    assert!((there.metres - 10.0).abs() < 0.1 && there.ms == 0.0, "{report:?}");
    assert!((back.metres + 10.0).abs() < 0.1 && (100.0..250.0).contains(&back.ms), "{report:?}");
    let [(cause, metres)] = errors(&report)[..] else { panic!("{report:?}") };
    assert!((metres - 10.0).abs() < 0.1, "{report:?}");
    assert_ne!(cause, CorrectionCause::ServerChange, "the client alone has moved");
    assert!(moved_by(&report, 0.0) && report.effects_on_server.is_empty() && report.outcomes.is_empty());
}

#[test]
fn client_only_counted_teleport_is_corrected_as_well() {
    let report =
        study(&TeleportOptions { write_method: WriteMethod::Teleport, ..lossless(Variant::ClientOnly) });
    assert!(moved_by(&report, 0.0), "{report:?}");
    let [(_, metres)] = errors(&report)[..] else {
        panic!("the sides were 10 m apart without a correction: {report:?}")
    };
    assert!((metres - 10.0).abs() < 0.1, "{report:?}");
}

#[test]
fn one_sided_teleport_is_corrected_at_any_round_trip() {
    for variant in [Variant::ClientOnly, Variant::ServerOnly] {
        for rtt in (0..=200).step_by(25) {
            let report = study(&TeleportOptions { rtt: Duration::from_millis(rtt), ..lossless(variant) });
            assert!((report.ahead[0] - report.ahead[1]).abs() < 1e-3, "{rtt} ms: {report:?}");
            let [(_, metres)] = errors(&report)[..] else { panic!("{rtt} ms: {report:?}") };
            assert!((metres - 10.0).abs() < 0.1, "{rtt} ms: {report:?}");
            let noticed = report.corrections.iter().map(|correction| correction.ms).fold(0.0, f64::max);
            assert!(noticed < rtt as f64 + 250.0, "{rtt} ms: noticed after {noticed} ms");
        }
    }
}

#[test]
fn server_only_teleport_arrives_one_rtt_late_without_effect_as_a_server_change() {
    for rtt in [100, 300] {
        let report =
            study(&TeleportOptions { rtt: Duration::from_millis(rtt), ..lossless(Variant::ServerOnly) });
        assert!(moved_by(&report, 10.0), "{report:?}");
        let [jump] = report.jumps[..] else { panic!("{report:?}") };
        assert!(jump.ms >= rtt as f64 && jump.ms < rtt as f64 + 200.0, "{report:?}");
        assert!(report.effects.is_empty(), "the owner must play no effect: {report:?}");
        assert_eq!(report.effects_on_server.len(), 1);
        assert!(report.outcomes.is_empty(), "the owner must receive no outcome: {report:?}");
        // It is a change by the server.
        let [(CorrectionCause::ServerChange, metres)] = errors(&report)[..] else { panic!("{report:?}") };
        assert!((metres - 10.0).abs() < 0.1, "{report:?}");
    }
}

#[test]
fn server_only_counted_teleport_is_no_correction_but_late_and_without_effect() {
    let report =
        study(&TeleportOptions { write_method: WriteMethod::Teleport, ..lossless(Variant::ServerOnly) });
    assert!(moved_by(&report, 10.0), "{report:?}");
    assert_eq!(errors(&report), []);
    let [jump] = report.jumps[..] else { panic!("{report:?}") };
    assert!(jump.ms >= 100.0, "{report:?}");
    assert!(report.effects.is_empty() && report.outcomes.is_empty(), "{report:?}");
}

#[test]
fn server_only_position_write_is_eased_and_a_counted_teleport_is_not() {
    let prediction = PredictionConfig { snap_distance: 20.0, ..PredictionConfig::default() };
    let with =
        |write_method| study(&TeleportOptions { prediction, write_method, ..lossless(Variant::ServerOnly) });
    let written = with(WriteMethod::Position);
    assert!(moved_by(&written, 10.0) && written.slide.is_some_and(|slide| slide.ms > 150.0), "{written:?}");
    let counted = with(WriteMethod::Teleport);
    assert!(moved_by(&counted, 10.0) && counted.slide.is_none(), "{counted:?}");
    assert!(counted.jumps.len() == 1, "{counted:?}");
    let in_move = study(&TeleportOptions { prediction, ..lossless(Variant::Stream) });
    assert!(in_move.jumps.len() == 1 && in_move.slide.is_none(), "{in_move:?}");
}

#[test]
fn server_only_teleport_gives_the_owner_no_outcome_when_refused() {
    let report = study(&TeleportOptions { wall: Wall::OnServer, ..lossless(Variant::ServerOnly) });
    assert!(moved_by(&report, 0.0), "{report:?}");
    assert!(report.outcomes.is_empty() && report.jumps.is_empty() && report.corrections.is_empty());
}

#[test]
fn server_and_local_teleport_works_on_a_link_without_loss() {
    let report = study(&lossless(Variant::ServerAndLocal));
    assert!(moved_by(&report, 10.0), "{report:?}");
    assert_eq!(report.effects, [0.0], "{report:?}");
    assert_eq!(report.jumps.len(), 1, "{report:?}");
    assert!(report.outcomes.is_empty(), "the owner must receive no outcome: {report:?}");
}

#[test]
fn server_and_local_teleport_is_undone_by_a_correction_of_an_earlier_move() {
    for write_method in [WriteMethod::Position, WriteMethod::Teleport] {
        for seed in 1..6 {
            let report = study(&TeleportOptions { write_method, ..lossy(Variant::ServerAndLocal, seed) });
            assert_eq!(report.effects, [0.0], "{report:?}");
            let there = report.jumps.first().expect("the pawn teleports at once");
            let back =
                report.jumps.get(1).unwrap_or_else(|| panic!("the teleport was not undone: {report:?}"));
            assert!(there.metres > 9.0 && there.ms == 0.0, "{report:?}");
            assert!(back.metres < -9.0, "the replay must lack the teleport: {report:?}");
            assert!(moved_by(&report, 10.0), "the server's teleport must restore it: {report:?}");
        }
    }
}

#[test]
fn move_stream_teleport_survives_loss_and_a_correction_with_one_effect() {
    for seed in 1..11 {
        let report = study(&lossy(Variant::Stream, seed));
        assert!(moved_by(&report, 10.0), "seed {seed}: {report:?}");
        assert_eq!(report.effects, [0.0], "seed {seed}: {report:?}");
        assert_eq!(report.effects_on_server.len(), 1, "seed {seed}: {report:?}");
        assert_eq!(errors(&report), [], "seed {seed}: {report:?}");
        let [jump] = report.jumps[..] else { panic!("seed {seed}: {report:?}") };
        assert!(jump.ms == 0.0 && (jump.metres - 10.0).abs() < 0.1, "seed {seed}: {report:?}");
        // Control: a move before the key press was corrected, and the key press was replayed.
        assert!(report.corrections.iter().any(|c| c.is_from_earlier_move && c.ms > 0.0), "{report:?}");
        assert!(report.replayed > 10, "seed {seed}: {report:?}");
        let [(ms, true)] = report.outcomes[..] else { panic!("seed {seed}: {report:?}") };
        assert!(ms >= 300.0, "seed {seed}: {report:?}");
        assert_eq!(report.failed_expectations(), Vec::<String>::new());
    }
}

#[test]
fn move_stream_teleport_survives_jitter() {
    for seed in 1..6 {
        let jitter = Duration::from_millis(40);
        let report = study(&TeleportOptions { jitter, ..lossy(Variant::Stream, seed) });
        assert_eq!(report.failed_expectations(), Vec::<String>::new(), "seed {seed}: {report:?}");
    }
}

/// Presses the key while the server forces a correction with every acknowledgement.
fn under_forced_corrections(variant: Variant) -> ClientServerPair {
    let mut pair = ClientServerPair::start(&TeleportOptions {
        rtt: Duration::from_millis(300),
        loss: 0.1,
        ..lossless(variant)
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
fn move_stream_teleport_survives_a_correction_in_every_acknowledgement() {
    let pair = under_forced_corrections(Variant::Stream);
    assert!(pair.stats().replayed > 100, "forced corrections must be replayed: {:?}", pair.stats());
    assert_eq!(pair.stats().corrections, 0, "forced corrections must not be counted: {:?}", pair.stats());
    let seen = pair.seen();
    assert_eq!((seen.effects.len(), seen.jumps.len()), (1, 1), "{seen:?}");
    assert!(matches!(seen.outcomes[..], [(_, true)]), "{seen:?}");
}

#[test]
fn move_stream_teleport_refused_by_the_server_is_reported_to_the_owner() {
    for seed in 1..6 {
        let rtt = Duration::from_millis(300);
        let wall = Wall::OnServer;
        let report = study(&TeleportOptions { rtt, wall, loss: 0.1, seed, ..lossless(Variant::Stream) });
        assert!(moved_by(&report, 0.0), "{report:?}");
        let [(ms, false)] = report.outcomes[..] else { panic!("seed {seed}: {report:?}") };
        assert!(ms >= 300.0, "{report:?}");
        assert!(report.effects_on_server.is_empty(), "{report:?}");
        let [there, back] = report.jumps[..] else { panic!("seed {seed}: {report:?}") };
        assert!(there.metres > 9.0 && back.metres < -9.0, "{report:?}");
    }
}

#[test]
fn move_stream_teleport_blocked_on_both_sides_fails_at_once_without_corrections() {
    let report = study(&TeleportOptions { wall: Wall::OnBoth, ..lossless(Variant::Stream) });
    assert!(moved_by(&report, 0.0) && report.jumps.is_empty() && report.effects.is_empty(), "{report:?}");
    assert!(report.corrections.is_empty(), "{report:?}");
    assert!(matches!(report.outcomes[..], [(0.0, false)]), "{report:?}");
}

#[test]
fn teleport_studies_with_equal_options_have_equal_reports() {
    for variant in Variant::ALL {
        assert_eq!(study(&lossy(variant, 3)), study(&lossy(variant, 3)));
    }
}

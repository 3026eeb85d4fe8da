//! End positions that the server accepts from its client, and those that are in doubt.

use bevy_unlag_prediction::CorrectionCause;

use crate::client_server::common::*;

/// Distance in metres, beyond the tolerance and within what [`accepting`] accepts.
const STEP: f32 = 0.05;

/// Returns a pair whose server accepts end positions within 10 cm.
fn accepting(profile: LinkProfile) -> Pair {
    let mut pair = Pair::new(1, profile).tuned(|config| config.accept_client_position = 0.1);
    pair.run(2.0);
    pair
}

/// Fails if the server accepts positions during a correction, while they are in doubt.
#[test]
fn small_push_by_the_server_is_not_undone_by_accepting_the_clients_position() {
    for profile in [LinkProfile::late(0.05), LinkProfile::AVERAGE] {
        let mut pair = accepting(profile);
        for pushes in 1_u8..=8 {
            pair.server.edit::<WalkerState>().at.z += STEP;
            pair.run(1.0);
            let expected = STEP * f32::from(pushes);
            let (mine, theirs) = (pair.mine().at.z, pair.theirs().at.z);
            assert!((theirs - expected).abs() < 1e-4, "{theirs} m after {pushes} pushes");
            assert_eq!(mine, theirs, "after {pushes} pushes");
        }
        assert_eq!(pair.server.stats().accepted, 0, "the client did not know of the pushes");
        assert!(pair.server.stats().corrections_of(CorrectionCause::ServerChange) > 0);
    }
}

/// Control: the same distance in the same direction, but the client is the one who moved.
#[test]
fn small_error_of_the_client_is_accepted_once_per_displacement() {
    let mut pair = accepting(LinkProfile::late(0.05));
    for steps in 1_u8..=8 {
        pair.client.edit::<WalkerState>().at.z += STEP;
        pair.run(1.0);
        let (expected, theirs) = (STEP * f32::from(steps), pair.theirs().at.z);
        // A check has a resolution of 4 mm.
        assert!((theirs - expected).abs() < 0.01, "{theirs} m after {steps} steps");
        assert_eq!(pair.server.stats().accepted, u64::from(steps));
    }
    assert_eq!(pair.corrections(), 0);
}

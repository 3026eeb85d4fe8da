//! Pushes by the server, applied in moves of the owner.

use bevy_unlag_core::{PublishedState, VisualOffset};
use bevy_unlag_prediction::{CorrectionCause, ScheduledPushes};

use crate::client_server::common::*;

/// Pushes a pawn once per second, with a lead in seconds, and expects equal final states and no remaining
/// pushes on both sides.
fn expect_pushed_pair(profile: LinkProfile, lead: f32, pushes: &'static [Push]) -> Pair {
    let mut pair = Pair::new(11, profile).tuned(|config| config.push_lead = lead);
    pair.play(|tick| if tick < 1_200 { zigzag(tick) } else { WalkerInput::NOTHING });
    pair.run(2.0);
    for push in pushes.iter().cycle().take(12) {
        pair.push(*push);
        pair.run(1.0);
    }
    pair.run(8.0);
    let comparable = |place: WalkerState| WalkerState { steps: 0, ..place };
    assert_eq!(comparable(pair.mine()), comparable(pair.theirs()));
    assert!(pair.server.get::<ScheduledPushes<Walker>>().is_empty(), "confirmed pushes are removed");
    assert!(pair.client.get::<ScheduledPushes<Walker>>().is_empty());
    pair
}

/// Lead in seconds that the round trip exceeds, 2 ticks, and one that exceeds the round trip, 24 ticks.
const SHORT_LEAD: f32 = 2.0 / 64.0;
const LONG_LEAD: f32 = 24.0 / 64.0;

const ALL: &[Push] = &[Push::Shove(2), Push::Launch(8), Push::Shove(-3), Push::Launch(-4)];

#[test]
fn push_received_in_time_causes_no_correction() {
    for profile in [LinkProfile::late(0.05), LinkProfile::AVERAGE] {
        let pair = expect_pushed_pair(profile, LONG_LEAD, ALL);
        let stats = pair.client.stats();
        assert_eq!((stats.corrections, stats.late_pushes, stats.replayed), (0, 0, 0), "{stats:?}");
        assert_eq!(pair.log.largest_error(0.0), 0.0, "both sides apply it in the same move");
        assert!(pair.theirs().at.z.abs() > 3.0, "the pawn was pushed: {:?}", pair.theirs());
    }
}

fn assert_late_and_not_corrected(profile: LinkProfile) {
    let pair = expect_pushed_pair(profile, SHORT_LEAD, ALL);
    let stats = pair.client.stats();
    assert_eq!((stats.corrections, stats.late_pushes), (0, 12), "{stats:?}");
    assert!(stats.replayed >= 12, "{stats:?}");
}

#[test]
fn late_push_is_applied_in_the_past_without_a_correction() {
    assert_late_and_not_corrected(LinkProfile::late(0.1));
}

#[test]
fn push_whose_first_packet_is_lost_causes_no_correction() {
    for profile in [LinkProfile { loss: 0.2, ..LinkProfile::AVERAGE }, LinkProfile::BAD] {
        assert_late_and_not_corrected(profile);
    }
}

#[test]
fn state_changed_beside_the_moves_counts_as_a_server_change_each_time_and_not_as_a_correction() {
    let mut pair = Pair::new(11, LinkProfile::AVERAGE);
    pair.play(zigzag);
    pair.run(2.0);
    for _ in 0..5 {
        pair.server.edit::<WalkerState>().at.x += 1.3;
        pair.run(1.0);
    }
    let stats = pair.client.stats();
    assert_eq!((stats.server_changes(), stats.corrections), (5, 0), "{stats:?}");
    pair.assert_only_cause(CorrectionCause::ServerChange);
}

#[test]
fn equal_simultaneous_pushes_are_all_applied() {
    let mut pair = Pair::new(12, LinkProfile { loss: 0.2, duplication: 0.25, ..LinkProfile::AVERAGE });
    pair.run(2.0);
    for _ in 0..6 {
        pair.push(Push::Shove(2));
    }
    pair.run(4.0);
    assert_eq!((pair.theirs().at.x, pair.mine().at.x), (12.0, 12.0));
    assert_eq!(pair.corrections(), 0, "{:?}", pair.client.stats());
}

#[test]
fn conveyor_pushes_switch_in_the_same_move_on_both_sides() {
    let mut pair = Pair::new(12, LinkProfile { loss: 0.05, ..LinkProfile::AVERAGE })
        .tuned(|config| config.push_lead = LONG_LEAD);
    pair.play(zigzag);
    pair.run(2.0);
    let began = pair.theirs().at.x;
    for speed in [2, 0, -5, 0, 8, 0] {
        pair.push(Push::Belt(speed));
        pair.run(1.0);
    }
    pair.play(|_| WalkerInput::NOTHING);
    pair.run(4.0);
    assert!((pair.theirs().at.x - began).abs() > 3.0);
    assert_eq!(pair.mine().at, pair.theirs().at);
    assert_eq!(pair.corrections(), 0, "{:?}", pair.client.stats());
}

#[test]
fn teleporting_push_is_not_eased() {
    for lead in [SHORT_LEAD, LONG_LEAD] {
        let mut pair = Pair::new(13, LinkProfile::AVERAGE).tuned(|config| config.push_lead = lead);
        pair.play(zigzag);
        pair.run(2.0);
        pair.push(Push::Throw(90));
        let mut seen = 0;
        for _ in 0..64 {
            pair.run_client_frame();
            seen += u32::from(pair.mine().at.x > 50.0);
            assert_eq!(pair.client.get::<VisualOffset>().offset, bevy::math::Vec3::ZERO);
        }
        assert!(seen > 20, "the push reached the client");
        let shown = pair.server.get::<PublishedState<Walker>>().state;
        assert_eq!(shown.blinks, 1, "the published state counts a teleport");
        assert_eq!(pair.corrections(), 0, "a teleport is no error");
    }
}

#[test]
fn push_during_a_silence_is_applied_on_both_sides_after_it() {
    let mut pair = Pair::new(14, LinkProfile::AVERAGE);
    pair.run(2.0);
    pair.cut(true);
    pair.push(Push::Shove(4));
    pair.run(1.0);
    pair.cut(false);
    pair.run(3.0);
    assert_eq!((pair.theirs().at.x, pair.mine().at.x), (4.0, 4.0));
}

#[test]
fn push_before_the_owners_first_move_is_applied() {
    let mut pair = Pair::new(15, LinkProfile::AVERAGE);
    pair.push(Push::Shove(4));
    pair.run(4.0);
    assert_eq!((pair.theirs().at.x, pair.mine().at.x), (4.0, 4.0));
    assert_eq!(pair.corrections(), 0);
}

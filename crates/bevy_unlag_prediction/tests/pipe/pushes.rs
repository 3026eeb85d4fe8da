//! What the server does to a pawn happens in a move of its owner's.

use bevy_unlag_core::{Shown, VisualOffset};
use bevy_unlag_prediction::{CorrectionCause, ScheduledPushes};

use crate::common::*;

/// A pair whose pawn is pushed once a second: both sides' last states.
fn pushed(weather: Weather, lead: u32, pushes: &'static [Push]) -> Pair {
    let mut pair = Pair::new(11, weather).tuned(|config| config.push_lead = lead);
    pair.play(|tick| if tick < 1_200 { zigzag(tick) } else { Wish::NOTHING });
    pair.run(2.0);
    for push in pushes.iter().cycle().take(12) {
        pair.push(*push);
        pair.run(1.0);
    }
    pair.run(8.0);
    let comparable = |place: Place| Place { steps: 0, ..place };
    assert_eq!(comparable(pair.mine()), comparable(pair.theirs()));
    assert!(pair.server.get::<ScheduledPushes<Walker>>().is_empty(), "what is confirmed is forgotten");
    assert!(pair.client.get::<ScheduledPushes<Walker>>().is_empty());
    pair
}

const ALL: &[Push] = &[Push::Shove(2), Push::Launch(8), Push::Shove(-3), Push::Launch(-4)];

#[test]
fn a_push_that_is_announced_in_time_is_no_surprise() {
    for weather in [Weather::late(0.05), Weather::AVERAGE] {
        let pair = pushed(weather, 24, ALL);
        let stats = pair.client.stats();
        assert_eq!((stats.corrections, stats.late_pushes, stats.replayed), (0, 0, 0), "{stats:?}");
        assert_eq!(pair.log.largest_error(0.0), 0.0, "both did it in the same move");
        assert!(pair.theirs().at.z.abs() > 3.0, "it was pushed: {:?}", pair.theirs());
    }
}

fn assert_late_and_not_corrected(weather: Weather) {
    let pair = pushed(weather, 2, ALL);
    let stats = pair.client.stats();
    assert_eq!((stats.corrections, stats.late_pushes), (0, 12), "{stats:?}");
    assert!(stats.replayed >= 12, "{stats:?}");
}

#[test]
fn a_push_that_comes_late_is_done_in_the_past_and_nobody_is_corrected() {
    assert_late_and_not_corrected(Weather::late(0.1));
}

#[test]
fn a_push_whose_announcement_is_lost_is_no_correction_either() {
    for weather in [Weather { loss: 0.2, ..Weather::AVERAGE }, Weather::BAD] {
        assert_late_and_not_corrected(weather);
    }
}

#[test]
fn a_state_that_is_changed_beside_the_move_stream_stutters() {
    let mut pair = Pair::new(11, Weather::AVERAGE);
    pair.play(zigzag);
    pair.run(2.0);
    for _ in 0..5 {
        pair.server.edit::<Place>().at.x += 1.3;
        pair.run(1.0);
    }
    assert_eq!(pair.corrections(), 5, "{:?}", pair.client.stats());
    pair.assert_only(CorrectionCause::ServerPush);
}

#[test]
fn equal_pushes_at_once_are_all_done() {
    let mut pair = Pair::new(12, Weather { loss: 0.2, twice: 0.25, ..Weather::AVERAGE });
    pair.run(2.0);
    for _ in 0..6 {
        pair.push(Push::Shove(2));
    }
    pair.run(4.0);
    assert_eq!((pair.theirs().at.x, pair.mine().at.x), (12.0, 12.0));
    assert_eq!(pair.corrections(), 0, "{:?}", pair.client.stats());
}

#[test]
fn a_conveyor_switches_on_and_off_in_a_move() {
    let mut pair =
        Pair::new(12, Weather { loss: 0.05, ..Weather::AVERAGE }).tuned(|config| config.push_lead = 24);
    pair.play(zigzag);
    pair.run(2.0);
    let began = pair.theirs().at.x;
    for speed in [2, 0, -5, 0, 8, 0] {
        pair.push(Push::Belt(speed));
        pair.run(1.0);
    }
    pair.play(|_| Wish::NOTHING);
    pair.run(4.0);
    assert!((pair.theirs().at.x - began).abs() > 3.0);
    assert_eq!(pair.mine().at, pair.theirs().at);
    assert_eq!(pair.corrections(), 0, "{:?}", pair.client.stats());
}

#[test]
fn nobody_sees_a_thrown_pawn_fly() {
    for lead in [2, 24] {
        let mut pair = Pair::new(13, Weather::AVERAGE).tuned(|config| config.push_lead = lead);
        pair.play(zigzag);
        pair.run(2.0);
        pair.push(Push::Throw(90));
        let mut seen = 0;
        for _ in 0..64 {
            pair.run_client_frame();
            seen += u32::from(pair.mine().at.x > 50.0);
            assert_eq!(pair.client.get::<VisualOffset>().offset, bevy::math::Vec3::ZERO);
        }
        assert!(seen > 20, "it arrived");
        let shown = pair.server.get::<Shown<Walker>>().state;
        assert_eq!(shown.blinks, 1, "others are told that it is a jump");
        assert_eq!(pair.corrections(), 0, "a jump is no error");
    }
}

#[test]
fn a_push_waits_for_an_owner_that_is_silent() {
    let mut pair = Pair::new(14, Weather::AVERAGE);
    pair.run(2.0);
    pair.cut(true);
    pair.push(Push::Shove(4));
    pair.run(1.0);
    pair.cut(false);
    pair.run(3.0);
    assert_eq!((pair.theirs().at.x, pair.mine().at.x), (4.0, 4.0));
}

#[test]
fn a_push_before_the_owner_came_is_done() {
    let mut pair = Pair::new(15, Weather::AVERAGE);
    pair.push(Push::Shove(4));
    pair.run(4.0);
    assert_eq!((pair.theirs().at.x, pair.mine().at.x), (4.0, 4.0));
    assert_eq!(pair.corrections(), 0);
}

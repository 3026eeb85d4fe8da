//! Agreement of the hits that screens showed with those that the server confirmed.

use core::time::Duration;

use bevy_unlag::{link_conditioner::LinkConditions, rewind::RewindMode};
use unlag_examples::{
    app::ServerOptions,
    match_report::MatchReport,
    stepped_match::{self, MatchOptions},
};

use crate::{link_150, start};

fn fight(rewind: RewindMode) -> MatchReport {
    let options = MatchOptions {
        players: 6,
        seconds: 25.0,
        conditions: link_150(),
        seed: 11,
        server: ServerOptions { rewind, ..ServerOptions::default() },
        ..MatchOptions::default()
    };
    stepped_match::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"))
}

#[test]
#[ignore = "long: `unlag_lab agreement` has the same figures"]
fn server_confirms_99_percent_of_drawn_hits_at_150_ms_and_2_percent_loss() {
    let on = fight(RewindMode::On);
    let total = on.total();
    assert!(total.drawn > 150, "too few hits: {total:?}");
    assert!(on.agreement() >= 99.0, "{}", on.table());

    let off = fight(RewindMode::Off);
    let confirmed = off.total().confirmed_of_drawn().unwrap_or(100.0);
    assert!(confirmed < 50.0, "{confirmed} % confirmed without rewind: the test shows nothing");
}

#[test]
fn unclamped_hits_agree_and_every_shot_has_a_verdict_at_20_percent_loss() {
    let conditions = LinkConditions { loss: 0.2, ..link_150() };
    let options = MatchOptions { players: 4, seconds: 40.0, conditions, seed: 3, ..MatchOptions::default() };
    let report =
        stepped_match::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"));
    let total = report.total();
    // A view time beyond the rewind limit is clamped to it, and reported as clamped; all other hits must
    // agree.
    let left = total.unclamped();
    assert!(left.drawn > 150, "too few hits: {}", report.table());
    assert!(left.confirmed_of_drawn().unwrap_or(0.0) >= 99.0, "{}", report.table());
    assert!(left.drawn_of_confirmed().unwrap_or(0.0) >= 99.0, "{}", report.table());
    assert_eq!(total.lost, 0, "{}", report.table());

    // Control: with a rewind limit below the round trip, views are clamped and told apart, and their hits disagree.
    let server = ServerOptions { max_age: Some(Duration::from_millis(120)), ..ServerOptions::default() };
    let options = MatchOptions { seconds: 20.0, conditions: link_150(), server, ..options };
    let report =
        stepped_match::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"));
    let clamped = report.total().clamped;
    let agreed = clamped.confirmed_of_drawn().unwrap_or(100.0);
    assert!(clamped.rounds > 50 && agreed < 90.0, "{clamped:?}: {}", report.table());
}

#[test]
fn hits_of_the_listen_server_host_agree_like_those_of_clients() {
    let options = MatchOptions {
        players: 3,
        seconds: 30.0,
        conditions: link_150(),
        seed: 8,
        host: true,
        ..MatchOptions::default()
    };
    let mut game = start(options);
    game.fight(options.seconds);
    let host = game.host_shot_stats().expect("the match has a host");
    assert!(host.drawn > 30, "too few hits: {host:?}");
    assert!(host.confirmed_of_drawn().unwrap_or(0.0) >= 99.0, "{host:?}");
    assert!(host.drawn_of_confirmed().unwrap_or(0.0) >= 99.0, "{host:?}");
    let others = game.report();
    assert!(others.agreement() >= 99.0, "{}", others.table());
}

#[test]
fn unclamped_hits_agree_on_machines_with_5_to_15_frames_per_second() {
    // At lower frame rates, a round trip of 150 ms and the frames themselves exceed the rewind limit.
    for (fps, conditions) in [(15.0, link_150()), (10.0, link_150()), (5.0, LinkConditions::PERFECT)] {
        let options =
            MatchOptions { players: 4, seconds: 25.0, conditions, seed: 5, fps, ..MatchOptions::default() };
        let report =
            stepped_match::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"));
        let total = report.total();
        println!("{fps} fps: {}", report.table());
        let left = total.unclamped();
        assert!(left.drawn > 50, "too few hits: {}", report.table());
        assert!(left.confirmed_of_drawn().unwrap_or(0.0) >= 98.0, "{fps} fps: {}", report.table());
    }
}

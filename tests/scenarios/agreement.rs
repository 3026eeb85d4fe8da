//! What you saw is what you hit.

use bevy_unlag::prelude::*;
use unlag_examples::{
    app::ServerOptions,
    lockstep::{self, MatchOptions},
    report::MatchReport,
};

use crate::link_150;

fn fight(rewind: RewindMode) -> MatchReport {
    let options = MatchOptions {
        players: 6,
        seconds: 25.0,
        conditions: link_150(),
        seed: 11,
        server: ServerOptions { rewind, ..ServerOptions::default() },
        ..MatchOptions::default()
    };
    lockstep::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"))
}

#[test]
fn at_150_ms_and_2_percent_loss_the_server_confirms_what_the_screen_showed() {
    let on = fight(RewindMode::On);
    let total = on.total();
    assert!(total.drawn > 200, "too few hits to say anything: {total:?}");
    assert!(on.agreement() >= 99.0, "{}", on.table());

    let off = fight(RewindMode::Off);
    let confirmed = off.total().confirmed_of_drawn().unwrap_or(100.0);
    assert!(confirmed < 50.0, "without rewind players must lead, or this test has no teeth: {confirmed} %");
}

#[test]
fn on_a_terrible_link_what_is_judged_still_agrees() {
    let preset = LinkPreset::named("GNS terrible").expect("a preset of ours");
    let options = MatchOptions {
        players: 4,
        seconds: 25.0,
        conditions: preset.conditions(),
        seed: 3,
        ..MatchOptions::default()
    };
    let report = lockstep::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}"));
    let total = report.total();
    // A view older than the cap is refused, and says so; what is left must agree.
    let judged = total.drawn.saturating_sub(total.refused).max(1);
    assert!(total.agreed as f64 / judged as f64 >= 0.99, "{}", report.table());
    assert_eq!(total.lost, 0, "every round gets a verdict at 20 % loss: {}", report.table());
}

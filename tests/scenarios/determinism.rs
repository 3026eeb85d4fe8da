//! Determinism of stepped matches.

use bevy_unlag::link_conditioner::LinkPreset;
use unlag_examples::stepped_match::{self, MatchOptions};

fn json(seed: u64) -> String {
    let conditions = LinkPreset::named("Bad (UE)").expect("a built-in preset").conditions();
    let options = MatchOptions { players: 3, seconds: 6.0, conditions, seed, ..MatchOptions::default() };
    stepped_match::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}")).json()
}

#[test]
fn match_reports_are_byte_identical_for_equal_seeds_and_differ_otherwise() {
    let first = json(5);
    assert_eq!(first, json(5));
    assert_ne!(first, json(6));
}

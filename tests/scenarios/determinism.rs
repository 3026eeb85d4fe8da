//! The same seed gives the same match.

use bevy_unlag::prelude::*;
use unlag_examples::stepped_match::{self, MatchOptions};

fn json(seed: u64) -> String {
    let conditions = LinkPreset::named("Bad (UE)").expect("a preset of ours").conditions();
    let options = MatchOptions { players: 3, seconds: 6.0, conditions, seed, ..MatchOptions::default() };
    stepped_match::play(&options).unwrap_or_else(|line| panic!("the match did not start: {line}")).json()
}

#[test]
fn two_runs_with_one_seed_are_byte_identical_and_another_seed_is_another_match() {
    let first = json(5);
    assert_eq!(first, json(5));
    assert_ne!(first, json(6));
}

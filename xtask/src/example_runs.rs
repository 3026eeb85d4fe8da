//! Runs of the examples, which check what they promise, and of the lab.

use crate::{
    Outcome,
    commands::{built, cargo, expect, run},
};

/// Example, its arguments and its exit code. Those with code 1 are controls: without what it shows, an example must see
/// that its promise does not hold.
pub(crate) const RUNS: &[(&str, &[&str], i32)] = &[
    ("movement", &["--headless"], 0),
    ("teleport", &["--rtt", "300", "--loss", "10", "--force-correction"], 0),
    ("kart", &["--headless", "--seconds", "10", "--rates", "10"], 0),
    ("ai", &["--headless"], 0),
    ("classes", &["--headless"], 0),
    ("simple_shooter", &["--headless"], 0),
    ("own_character", &["--headless"], 0),
    ("hitboxes", &["--check", "assets/hitboxes/humanoid.hitboxes.ron"], 0),
    ("tutorial", &["--headless"], 0),
    ("ai", &["--no-push"], 1),
    ("classes", &["--mismatch"], 1),
    ("simple_shooter", &["--headless", "--no-rewind"], 1),
    ("own_character", &["--no-rewind"], 1),
];

/// A headless fight with bots on a bad link. Equal seeds give equal fights.
pub(crate) const FIGHT: &[&str] =
    &["--headless", "--seconds", "20", "--players", "4", "--preset", "Average (UE)", "--seed", "7"];

/// Topics of the lab that the gate measures; `.ci/long figures` measures the others.
pub(crate) const TOPICS: &[&str] = &["agreement", "open", "soak", "movement", "rewind", "load"];

/// Words of `cargo build`. All at once: a part of the workspace would build Bevy again with fewer features.
pub(crate) const BUILD: &[&str] = &["--release", "--workspace", "--bins", "--examples"];

/// Runs the examples without a window.
pub(crate) fn examples(_: &[String]) -> Outcome {
    build()?;
    for (example, words, code) in RUNS {
        expect(built(&format!("examples/{example}")).args(*words), *code)?;
    }
    expect(built("examples/shooter").args(FIGHT).args(["--min-agreement", "99"]), 0)?;
    expect(built("examples/shooter").args(FIGHT).args(["--rewind", "off", "--min-agreement", "50"]), 1)
}

/// Prints the quick figures of some topics. `.ci/run` also holds them to their bounds.
pub(crate) fn figures(topics: &[String]) -> Outcome {
    build()?;
    let topics: Vec<&str> =
        if topics.is_empty() { TOPICS.to_vec() } else { topics.iter().map(String::as_str).collect() };
    for topic in topics {
        run(built("unlag_lab").args([topic, "--quick"]))?;
    }
    Ok(())
}

fn build() -> Outcome {
    run(cargo("build").args(BUILD))
}

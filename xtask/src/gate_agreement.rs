//! Agreement of the lists of this program with those of `.ci/run` and `.ci/long`: a change of one alone fails.

use std::{collections::BTreeSet, fs};

use crate::{
    CLIPPY, DOC, FEATURES,
    commands::repository,
    example_runs::{BUILD, FIGHT, RUNS, TOPICS},
};

/// Start of a command that runs an example in `.ci/run`.
const EXAMPLE: &str = "\"$target/release/examples/";

fn script(name: &str) -> String {
    let file = repository().join(".ci").join(name);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns the words as bash reads them.
fn shell(words: &[&str]) -> String {
    let mut line = Vec::new();
    for &word in words {
        let is_plain = !word.is_empty() && !word.contains([' ', '(', ')']);
        line.push(if is_plain { word.to_owned() } else { format!("\"{word}\"") });
    }
    line.join(" ")
}

/// Returns the text between the first `start` and the next `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let found = text.split_once(start).and_then(|(_, rest)| rest.split_once(end));
    found.unwrap_or_else(|| panic!("nothing between {start:?} and {end:?}")).0
}

fn assert_has_line(script: &str, line: &str) {
    assert!(script.lines().any(|found| found.trim() == line), "the script has no line: {line}");
}

/// Returns the runs of examples in a script as lines: the expected exit code, the example, its arguments.
fn example_runs(script: &str) -> BTreeSet<String> {
    let mut runs = BTreeSet::new();
    let mut names: Vec<&str> = Vec::new();
    for line in script.lines().map(str::trim) {
        if let Some(list) = line.strip_prefix("for example in ") {
            names = list.trim_end_matches("; do").split(' ').collect();
        }
        let Some((before, run)) = line.split_once(EXAMPLE) else { continue };
        let code = match before.split(' ').next() {
            Some("") => 0,
            Some("expect_1") => 1,
            _ => continue,
        };
        let (name, words) = run.split_once('"').expect("the path is quoted");
        let words = words.trim_end_matches('&').trim();
        let named = if name == "$example" { names.clone() } else { vec![name] };
        runs.extend(named.iter().map(|name| format!("{code} {name} {words}")));
    }
    runs
}

#[test]
fn commands_are_those_of_the_gate() {
    let gate = script("run");
    assert_has_line(&gate, &format!("cargo clippy {}", shell(CLIPPY)));
    assert_has_line(&gate, &format!("RUSTDOCFLAGS=\"-D warnings\" cargo doc {}", shell(DOC)));
    assert_has_line(&gate, &format!("cargo build {}", shell(BUILD)));
    assert_has_line(&gate, &format!("fight=({})", shell(FIGHT)));
}

#[test]
fn examples_and_their_controls_are_those_of_the_gate() {
    let runs = RUNS.iter().map(|&(name, words, code)| format!("{code} {name} {}", shell(words)));
    assert_eq!(runs.collect::<BTreeSet<_>>(), example_runs(&script("run")));
}

#[test]
fn topics_of_the_lab_are_those_of_the_gate() {
    let gate = script("run");
    let lists = ["\ntogether=(", "\nalone=("].map(|start| between(&gate, start, ")"));
    let topics: Vec<&str> = lists.iter().flat_map(|list| list.split_whitespace()).collect();
    assert_eq!(topics, TOPICS);
}

#[test]
fn features_that_are_linted_alone_are_those_of_the_second_tier() {
    let (second_tier, mut packages) = (script("long"), BTreeSet::new());
    let body = between(&second_tier, "\nfeatures() {\n", "\n}\n");
    for &(package, parts) in FEATURES {
        assert!(body.contains(&format!("for part in {}; do", shell(parts))), "{package}: {parts:?}");
        packages.insert(package);
    }
    let linted = body.split("--features \"$part\"").count() - 1;
    assert_eq!(packages.len(), linted, "packages whose features .ci/long lints one by one");
}

#[test]
fn run_that_only_one_list_has_is_seen() {
    let script = "for example in a b; do\n    \"$target/release/examples/$example\" --headless\ndone\n\
        expect_1 \"a\" \"$target/release/examples/a\" --off &\nexpect_2 \"c\" \"$target/release/examples/c\"\n";
    let expected = ["0 a --headless", "0 b --headless", "1 a --off"].map(str::to_owned);
    assert_eq!(example_runs(script), BTreeSet::from(expected));
    assert_eq!(shell(&["--preset", "Average (UE)", ""]), "--preset \"Average (UE)\" \"\"");
}

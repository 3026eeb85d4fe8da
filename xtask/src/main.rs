//! Named steps of the gate, the same on Linux, Windows and macOS: `cargo xtask list`.
//!
//! The commands and settings are those of `.ci/run`, so that neither builds again what the other has built.

mod api_links;
mod book;
mod commands;
mod example_runs;
mod files;
#[cfg(test)]
mod gate_agreement;
mod line_width;
mod links;
mod packages;
mod test_selection;
#[cfg(test)]
mod tutorial_pages;
mod web;
mod wording;

use std::{env, process::ExitCode, time::Instant};

use commands::{cargo, command, plain_cargo, repository, run};

/// Result of a step. The error says what to do.
type Outcome = Result<(), String>;

/// Named part of the gate: its name, the words that may follow, a description, and what it does.
struct Step(&'static str, &'static str, &'static str, fn(&[String]) -> Outcome);

const STEPS: &[Step] = &[
    Step("fmt", "", "formatting, lines of at most 120 characters, wording", fmt),
    Step("clippy", "", "lints of all targets with all features", clippy),
    Step("doc", "", "API documentation", doc),
    Step("test", "[CRATE | scenarios | docs] [FILTER]", "tests: all, or some", test_selection::test),
    Step("examples", "", "promises of the examples", example_runs::examples),
    Step("figures", "[TOPIC...]", "quick data of the lab", example_runs::figures),
    Step("features", "", "lints with some of the features", features),
    Step("links", "", "links of the documents", links::links),
    Step("book", "", "words of the book, and its pages as HTML; needs mdbook", book::book),
    Step("typos", "", "spelling; needs typos", typos),
    Step("deny", "", "licences and advisories; needs cargo-deny", deny),
    Step("package", "[--verify]", "tarballs of the published crates, or a build of each", packages::package),
    Step("web", "", "the shooter's client as a web page in target/web-page; needs wasm-bindgen", web::web),
    Step("list", "", "this list", list),
];

/// Words of `cargo clippy`.
const CLIPPY: &[&str] =
    &["--release", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];

/// Words of `cargo doc`. Of the whole workspace: with a part of it, Cargo would unify features otherwise and check
/// dependencies again.
const DOC: &[&str] = &["--release", "--workspace", "--no-deps", "--all-features"];

/// Packages and the features with which each is linted, without its default features.
const FEATURES: &[(&str, &[&str])] = &[
    ("bevy_unlag_lightyear", &["", "prediction", "smoothing", "prediction,smoothing", "rewind", "record"]),
    ("bevy_unlag_server", &["", "admin", "metrics"]),
];

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "list".to_owned());
    let words: Vec<String> = words.collect();
    let Some(Step(.., run_step)) = STEPS.iter().find(|step| step.0 == name) else {
        eprintln!("error: there is no step {name:?}; `cargo xtask list` names them");
        return ExitCode::from(2);
    };
    if let Err(error) = env::set_current_dir(repository()) {
        eprintln!("error: {}: {error}", repository().display());
        return ExitCode::from(2);
    }
    let start = Instant::now();
    let outcome = run_step(&words);
    println!("{name}: {:.1} s", start.elapsed().as_secs_f32());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("failed: {name}: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn list(_: &[String]) -> Outcome {
    for Step(name, words, description, _) in STEPS {
        let command = format!("{name} {words}");
        println!("cargo xtask {command:<42}{description}");
    }
    Ok(())
}

fn fmt(words: &[String]) -> Outcome {
    run(plain_cargo().args(["fmt", "--all", "--check"]))?;
    run(plain_cargo().args(["fmt", "--manifest-path", "tests/guests/Cargo.toml", "--check"]))?;
    line_width::line_width(words)?;
    wording::wording()
}

fn clippy(_: &[String]) -> Outcome {
    run(cargo("clippy").args(CLIPPY))
}

fn doc(_: &[String]) -> Outcome {
    run(cargo("doc").args(DOC).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Lints packages without the features that the rest of the workspace gives them. The list is that of `.ci/long`.
fn features(_: &[String]) -> Outcome {
    let lint =
        |words: &[&str]| run(cargo("clippy").arg("--release").args(words).args(["--", "-D", "warnings"]));
    lint(&["-p", "unlag_examples", "--no-default-features", "--example", "server"])?;
    for &(package, parts) in FEATURES {
        for &part in parts {
            lint(&["-p", package, "--no-default-features", "--features", part])?;
        }
    }
    lint(&["-p", "bevy_unlag_movement", "-p", "bevy_unlag_rewind"])
}

fn typos(_: &[String]) -> Outcome {
    run(&mut command("typos")).map_err(|problem| format!("{problem}; to install it: cargo install typos-cli"))
}

fn deny(_: &[String]) -> Outcome {
    run(plain_cargo().args(["deny", "check"]))
        .map_err(|problem| format!("{problem}; to install it: cargo install cargo-deny"))
}

//! Tests of the whole workspace, of one crate, of the scenarios, or of the code in the documents.

use std::{fs, path::Path, thread};

use crate::{
    Outcome,
    commands::{cargo, repository, run},
};

/// Beside another package the lab gives shared dependencies the features that the whole workspace gives them; without
/// it Cargo would build Bevy again. It has no library and no test files, so nothing of its own is built.
const LAB: &str = "unlag_lab";

/// Runs all tests, or those that the words select: a crate, with or without its prefix, `scenarios` or `docs`, and a
/// filter. Any other first word is a filter of the scenarios.
pub(crate) fn test(words: &[String]) -> Outcome {
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let (selection, filter) = select(words)?;
    // One thread more than cores: some tests wait for real time.
    run(cargo("test")
        .env("RUST_TEST_THREADS", (threads + 1).to_string())
        .arg("--release")
        .args(selection)
        .arg("--")
        .args(filter))
}

/// Returns Cargo's selection of packages and targets, and the words that remain as the filter.
fn select(words: &[String]) -> Result<(Vec<String>, &[String]), String> {
    let Some((first, rest)) = words.split_first() else {
        return Ok((owned(&["--workspace"]), words));
    };
    if first == "docs" {
        return Ok((owned(&["--doc", "-p", "unlag_tests", "-p", LAB]), rest));
    }
    if let Some((name, folder)) = package(first) {
        return Ok((targets(&name, &folder)?, rest));
    }
    // The whole workspace gives all dependencies their features; built is what this one target needs.
    let scenarios = owned(&["--workspace", "--test", "scenarios"]);
    Ok((scenarios, if first == "scenarios" { rest } else { words }))
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Finds the package that a word names: its full name, and its folder below the root of the repository.
fn package(word: &str) -> Option<(String, String)> {
    if matches!(word, "examples" | "recipes") {
        return Some((format!("unlag_{word}"), word.to_owned()));
    }
    let is_name = word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let names = [word.to_owned(), format!("bevy_unlag_{word}"), format!("unlag_{word}")];
    names
        .into_iter()
        .map(|name| (name.clone(), format!("crates/{name}")))
        .find(|(_, folder)| is_name && repository().join(folder).join("Cargo.toml").is_file())
}

/// Arguments that select the tests of a package and of no other one.
fn targets(name: &str, folder: &str) -> Result<Vec<String>, String> {
    if name == LAB {
        return Ok(owned(&["-p", LAB, "--bins"]));
    }
    let mut selection = owned(&["-p", name, "-p", LAB, "--lib"]);
    for target in test_targets(&repository().join(folder).join("tests"))? {
        selection.extend(["--test".to_owned(), target]);
    }
    Ok(selection)
}

/// Names of the test targets that Cargo finds in a folder, which may be missing.
fn test_targets(folder: &Path) -> Result<Vec<String>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut targets: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|ending| ending == "rs") || path.join("main.rs").is_file()
        })
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    targets.sort();
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (selection, filter) = select(&words).expect("folders of the repository");
        format!("{} -- {}", selection.join(" "), filter.join(" "))
    }

    #[test]
    fn crate_is_selected_by_its_short_and_its_full_name() {
        let rewind = "-p bevy_unlag_rewind -p unlag_lab --lib --test integration -- ";
        assert_eq!(selected("rewind"), rewind);
        assert_eq!(selected("bevy_unlag_rewind"), rewind);
        assert_eq!(selected("checked_ron marks"), "-p checked_ron -p unlag_lab --lib -- marks");
        assert_eq!(selected("recipes"), "-p unlag_recipes -p unlag_lab --lib --test recipes -- ");
        assert_eq!(selected("lab"), "-p unlag_lab --bins -- ");
    }

    #[test]
    fn word_that_names_no_crate_is_a_filter_of_the_scenarios() {
        assert_eq!(selected("ingress::kicks"), "--workspace --test scenarios -- ingress::kicks");
        assert_eq!(selected("scenarios session"), "--workspace --test scenarios -- session");
        assert_eq!(selected("../xtask"), "--workspace --test scenarios -- ../xtask");
        assert_eq!(selected(""), "--workspace -- ");
    }
}

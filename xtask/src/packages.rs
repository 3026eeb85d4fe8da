//! Packages of the published crates: their metadata, licences and READMEs, and their tarballs.

use std::{fs, path::Path};

use crate::{
    Outcome,
    commands::{output, plain_cargo, repository, run},
};

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Fields that the manifest of each published crate must have.
const FIELDS: [&str; 8] =
    ["description", "version", "rust-version", "license", "keywords", "categories", "readme", "include"];

/// Packs all published crates. `--verify` also builds each from its tarball, which takes as long as building Bevy.
pub(crate) fn package(words: &[String]) -> Outcome {
    let verify = match words {
        [] => false,
        [word] if word == "--verify" => true,
        _ => return Err("it takes --verify or nothing".to_owned()),
    };
    let crates = repository().join("crates");
    let packages = published(&crates)?;
    check(&crates, &packages)?;
    for package in &packages {
        let files = output(plain_cargo().args(["package", "--list", "--allow-dirty", "-p"]).arg(package))?;
        let files = files.replace('\\', "/");
        for file in ["README.md", "src/lib.rs"].iter().chain(&LICENCES) {
            if !files.lines().any(|line| line == *file) {
                return Err(format!("{package}: its tarball lacks {file}"));
            }
        }
    }
    let mut pack = plain_cargo();
    pack.args(["package", "--allow-dirty"]);
    if !verify {
        pack.arg("--no-verify");
    }
    for package in &packages {
        pack.arg("-p").arg(package);
    }
    run(&mut pack)
}

/// Names of the crates in a folder that are published.
fn published(crates: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| {
            let manifest = fs::read_to_string(entry.path().join("Cargo.toml"));
            manifest.is_ok_and(|text| !text.lines().any(|line| line == "publish = false"))
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

fn check(crates: &Path, packages: &[String]) -> Outcome {
    let problems: Vec<String> = packages.iter().flat_map(|name| problems(crates, name)).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Returns what a crate lacks to be published.
fn problems(crates: &Path, name: &str) -> Vec<String> {
    let folder = crates.join(name);
    let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    let (manifest, readme) = (text("Cargo.toml"), text("README.md"));
    let mut problems = Vec::new();
    for field in FIELDS {
        let has_field =
            |line: &str| line.strip_prefix(field).is_some_and(|rest| rest.starts_with([' ', '.']));
        if !manifest.lines().any(has_field) {
            problems.push(format!("{name}: Cargo.toml has no {field}"));
        }
    }
    for licence in LICENCES {
        // The original is in the root of the repository. A copy reaches the tarball on every system; a link would not.
        let original = fs::read_to_string(crates.join("..").join(licence)).unwrap_or_default();
        if original.is_empty() || text(licence) != original {
            problems.push(format!("{name}: {licence} is no copy of the one in the root of the repository"));
        }
    }
    if !readme.starts_with(&format!("# {name}\n")) || !readme.contains("```rust") {
        problems.push(format!("{name}: README.md must begin with the name and have a snippet"));
    }
    let library = text("src/lib.rs");
    let page = library.lines().filter(|line| line.starts_with("//!"));
    let pages: String = page.chain([readme.as_str()]).collect();
    for feature in unmentioned_features(&manifest, &pages) {
        problems.push(format!("{name}: neither src/lib.rs nor README.md documents the feature `{feature}`"));
    }
    if readme.contains("](../") {
        problems
            .push(format!("{name}: README.md has a link out of its package, where a registry cannot follow"));
    }
    problems
}

/// Names of the features in a manifest, other than `default`, that a text does not mention as code.
fn unmentioned_features<'a>(manifest: &'a str, text: &str) -> Vec<&'a str> {
    let section = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    // Comments and the further lines of a list begin otherwise.
    let features = section
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_alphanumeric()))
        .filter_map(|line| line.split_once(" = "));
    features
        .map(|(name, _)| name)
        .filter(|name| *name != "default" && !text.contains(&format!("`{name}`")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_crates_have_metadata_licences_and_a_readme() {
        let crates = repository().join("crates");
        let packages = published(&crates).expect("the crates");
        assert!(packages.iter().any(|name| name == "bevy_unlag"), "{packages:?}");
        assert!(!packages.iter().any(|name| name == "unlag_lab"), "it is not published: {packages:?}");
        assert_eq!(check(&crates, &packages), Ok(()));
    }

    #[test]
    fn feature_without_a_mention_is_named() {
        let manifest = "[features]\ndefault = [\"a\"]\n# For c = 1.\na = []\nb = [\n  \"dep:c\",\n]\n\n\
                        [dependencies]\nd = \"1\"\n";
        assert_eq!(unmentioned_features(manifest, "With `a`, b does more."), ["b"]);
        assert!(unmentioned_features("[dependencies]\nd = \"1\"\n", "").is_empty());
    }

    #[test]
    fn crate_without_licences_is_named() {
        let problems = problems(&repository().join("crates"), "unlag_lab");
        assert!(problems.iter().any(|problem| problem.contains("LICENSE-MIT")), "{problems:?}");
        assert!(problems.iter().any(|problem| problem.contains("include")), "{problems:?}");
    }
}

//! Allowed dependencies between the crates of the workspace.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

/// The dependencies of each crate of the workspace according to cargo: those whose kind fits. The kind is `None`, or
/// "dev" or "build".
fn dependencies(fits: impl Fn(Option<&str>) -> bool) -> BTreeMap<String, Vec<String>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--manifest-path", manifest])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            let fitting = list(&package["dependencies"]).into_iter().filter(|d| fits(d["kind"].as_str()));
            (text(&package["name"]), fitting.map(|d| text(&d["name"])).collect())
        })
        .collect()
}

#[test]
fn crates_have_only_their_allowed_dependencies() {
    // Crate, its allowed dependencies within the suite, and whether rapier and the network crates are
    // allowed. No crate may depend on the input crate leafwing.
    let core = &["bevy_unlag_core"][..];
    let below_glue = &[
        "bevy_unlag_core",
        "bevy_unlag_prediction",
        "bevy_unlag_smoothing",
        "bevy_unlag_rewind",
        "bevy_unlag_weapons",
        "bevy_unlag_record",
    ][..];
    let allowed = [
        ("bevy_unlag_core", &["bevy_unlag_derive"][..], false, false),
        ("bevy_unlag_movement", core, true, false),
        ("bevy_unlag_prediction", core, false, false),
        ("bevy_unlag_smoothing", core, false, false),
        ("bevy_unlag_rewind", &["bevy_unlag_core", "bevy_unlag_smoothing"][..], true, false),
        (
            "bevy_unlag_weapons",
            &["bevy_unlag_core", "bevy_unlag_smoothing", "bevy_unlag_rewind"][..],
            false,
            false,
        ),
        ("bevy_unlag_record", core, false, false),
        ("lightyear_guard", &[][..], false, true),
        ("bevy_unlag_lightyear", below_glue, false, true),
        ("bevy_unlag_agones", &["bevy_unlag_lightyear", "bevy_unlag_server"][..], false, true),
        // The crates below the glue for its metrics.
        (
            "bevy_unlag_server",
            &[
                "bevy_unlag_core",
                "bevy_unlag_lightyear",
                "bevy_unlag_prediction",
                "bevy_unlag_rewind",
                "bevy_unlag_weapons",
            ][..],
            false,
            true,
        ),
    ];
    let found = dependencies(|kind| kind.is_none());
    for (name, suite, rapier, network) in allowed {
        let found = found.get(name).unwrap_or_else(|| panic!("{name} is not in the workspace"));
        assert!(found.iter().any(|d| d == "bevy"), "the metadata was not read: {found:?}");
        for dependency in found {
            let d = dependency.as_str();
            assert!(!d.starts_with("bevy_unlag") || suite.contains(&d), "{name} must not depend on {d}");
            assert!(rapier || d != "bevy_rapier3d", "{name} must not depend on rapier");
            assert!(
                network || !(d.starts_with("lightyear") || d == "bevy_replicon"),
                "{name} must not depend on {d}"
            );
            assert!(!d.starts_with("leafwing"), "{name} must not depend on an input crate");
        }
    }
    let of_derive = &found["bevy_unlag_derive"];
    assert!(of_derive.iter().all(|d| !d.starts_with("bevy")), "a macro needs only syntax: {of_derive:?}");
}

#[test]
fn recipes_depend_on_bevy_and_the_suite_alone() {
    // Of every kind: the recipes show what a game can do with these two.
    let found = dependencies(|_| true);
    assert_eq!(
        found["unlag_recipes"],
        ["bevy", "bevy_unlag"],
        "export what is missing from bevy_unlag instead"
    );
    // The control: development dependencies are read.
    assert!(
        found["bevy_unlag_testkit"].iter().any(|d| d == "bevy_unlag"),
        "{:?}",
        found["bevy_unlag_testkit"]
    );
}

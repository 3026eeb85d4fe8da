//! Which crate may know which.

use std::{collections::BTreeMap, path::Path};

/// The dependencies of a crate's manifest, without its tests'.
fn dependencies(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("Cargo.toml");
    let manifest =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.starts_with("dependencies");
        } else if inside
            && let Some(dependency) =
                line.split(['.', ' ', '=']).next().filter(|d| !d.is_empty() && !d.starts_with('#'))
        {
            found.push(dependency.to_owned());
        }
    }
    found
}

#[test]
fn arrows_point_down() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("bevy_unlag_core", &[][..]),
        ("bevy_unlag_movement", &["bevy_unlag_core"][..]),
        ("bevy_unlag_prediction", &["bevy_unlag_core"][..]),
        ("bevy_unlag_smoothing", &["bevy_unlag_core"][..]),
        ("bevy_unlag_rewind", &["bevy_unlag_core"][..]),
        ("bevy_unlag_weapons", &["bevy_unlag_core", "bevy_unlag_rewind"][..]),
    ]);
    for (name, allowed) in allowed {
        let found = dependencies(name);
        assert!(found.iter().any(|d| d == "bevy"), "the manifest was not read: {found:?}");
        for dependency in found.iter().filter(|d| d.starts_with("bevy_unlag")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not know {dependency}");
        }
        let network = found.iter().find(|d| d.starts_with("lightyear") || *d == "bevy_replicon");
        assert_eq!(network, None, "{name} must not know the network");
        let leafwing = found.iter().find(|d| d.starts_with("leafwing"));
        assert_eq!(leafwing, None, "{name} must not know the keys");
        let physics = found.iter().any(|d| d == "bevy_rapier3d");
        let may = ["bevy_unlag_movement", "bevy_unlag_rewind", "bevy_unlag_weapons"].contains(&name);
        assert!(may || !physics, "{name} must not know rapier");
    }
}

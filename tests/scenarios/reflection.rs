//! Reflection of the suite: inspectors and the Bevy Remote Protocol show only what is registered.

use std::{fs, path::Path};

use bevy::reflect::TypeRegistry;
use unlag_examples::app;

use super::*;

/// Public types without reflection, and the reason.
const NOT_REFLECTED: [(&str, &str); 18] = [
    ("BoundMessages", "type ids of lightyear's registries"),
    ("ClassBodies", "a map with a model of what `HitBoxes` and `LimbRig` of a pawn show"),
    ("ComponentFilters", "replicon's filter bits"),
    ("GameMessageTypes", "functions that decode and deliver messages"),
    ("InterestRule", "a function of the game"),
    ("MessageTypeIndex", "an index into those"),
    ("MatchRecording", "a thread and what waits for it; `MatchRecording::stats` has its counters"),
    ("MovedColliders", "rapier colliders behind a lock"),
    ("MoverScene", "a spatial index of rapier colliders"),
    ("NetworkedPawn", "a marker with a model; `AuthorityPawn`, which it requires, is reflected"),
    ("CharacterPawn", "a marker with a model; `AuthorityPawn`, which it requires, is reflected"),
    ("HostCharacterPawn", "a marker with a model; `HostPawn`, which it requires, is reflected"),
    ("NpcPawn", "a marker with a model; `ServerPawn`, which it requires, is reflected"),
    ("Outgoing", "a buffer of encoded messages that each frame empties"),
    ("ProjectilesInFlight", "validation state; `DrawnProjectile` has what clients see"),
    ("ScreenRecording", "as `MatchRecording`"),
    ("SpectatorStream", "bytes that have arrived; its methods have the counters"),
    ("RewindTable", "a spatial index of recorded paths"),
];

/// Public types that a game registers itself, because they are generic over its types.
const REGISTERED_BY_GAMES: [&str; 2] = ["Received", "ValueRequest"];

/// Public types that are registered with the feature `web`, which has the transports of browsers.
const REGISTERED_WITH_WEB: [&str; 4] =
    ["ReloadCertificates", "SessionListeners", "WebSocketClient", "WebTransportClient"];

/// Returns the public types of `source` that derive an ECS trait, each with whether it derives `Reflect`.
fn ecs_types(source: &str) -> impl Iterator<Item = (&str, bool)> {
    source.split("#[derive(").skip(1).filter_map(|item| {
        let (derives, rest) = item.split_once(")]")?;
        let derives: Vec<&str> = derives.split(|c: char| !c.is_alphanumeric()).collect();
        let is_ecs = ["Component", "Resource", "Message", "Event", "EntityEvent"];
        let starts = ["pub struct ", "pub enum ", "pub(", "struct ", "enum "];
        let head = rest.lines().map(str::trim).find(|line| starts.iter().any(|s| line.starts_with(s)))?;
        let name = head.strip_prefix("pub struct ").or_else(|| head.strip_prefix("pub enum "))?;
        let name = name.split(|c: char| !c.is_alphanumeric()).next().filter(|name| !name.is_empty())?;
        is_ecs.iter().any(|kind| derives.contains(kind)).then(|| (name, derives.contains(&"Reflect")))
    })
}

/// Calls `with` with the text of each source file below `folder`, except for tests.
pub(super) fn for_each_source(folder: &Path, with: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a readable folder").path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        } else if path.is_dir() {
            for_each_source(&path, with);
        } else {
            with(&fs::read_to_string(&path).expect("UTF-8"));
        }
    }
}

fn is_registered(registry: &TypeRegistry, crate_name: &str, name: &str) -> bool {
    registry.iter().any(|kind| {
        let path = kind.type_info().type_path_table();
        path.crate_name() == Some(crate_name) && path.ident() == Some(name)
    })
}

#[test]
fn public_types_are_reflected_and_registered() {
    let client = app::scripted_client(3, Default::default());
    let apps = [app::server(Default::default()), client];
    let registries = apps.each_ref().map(|app| app.world().resource::<AppTypeRegistry>().read());
    // The tests of the other crates name their registered types.
    let registered = ["bevy_unlag", "bevy_unlag_lightyear", "lightyear_guard"];
    let others = ["core", "movement", "prediction", "smoothing", "rewind", "weapons", "server", "agones"];
    let others = others.map(|name| format!("bevy_unlag_{name}"));
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for crate_name in registered.into_iter().chain(others.iter().map(String::as_str)) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(crate_name).join("src");
        for_each_source(&folder, &mut |source| {
            for (name, reflects) in ecs_types(source) {
                found.push(name.to_owned());
                let exempt = NOT_REFLECTED.iter().any(|(exempt, _)| *exempt == name);
                if reflects == exempt {
                    faults.push(format!("{crate_name}: {name} is neither reflected nor exempt, or both"));
                }
                let by_others = REGISTERED_BY_GAMES.contains(&name)
                    || (!cfg!(feature = "web") && REGISTERED_WITH_WEB.contains(&name));
                let here = registered.contains(&crate_name) && !exempt && !by_others;
                if here && !registries.iter().any(|registry| is_registered(registry, crate_name, name)) {
                    faults.push(format!("{crate_name}: {name} is not registered"));
                }
            }
        });
    }
    assert_eq!(faults, [""; 0]);
    for (name, _) in NOT_REFLECTED {
        assert!(found.iter().any(|found| found == name), "{name} does not exist");
    }
    assert!(found.len() > 150, "only {} types were found", found.len());
}

//! Loading of the arsenal through Bevy's asset server, where there is one.

use bevy::prelude::*;
use checked_ron::RonAssetLoader;

use crate::arsenal::Arsenal;

/// Handle of the `*.weapons.ron` asset that becomes the app's [`Arsenal`] as soon as it is loaded, and again
/// whenever it changes; [`ArsenalReplaced`] reports it. Errors are logged and leave the arsenal unchanged.
///
/// Needs Bevy's [`AssetPlugin`], added before. A server without assets reads its file with
/// [`RonFile::from_ron`](checked_ron::RonFile::from_ron). Client and server compare arsenals when a client
/// joins, so load the asset before connecting.
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Debug)]
pub struct ArsenalAsset(pub Handle<Arsenal>);

/// Reports that the app's [`Arsenal`] has been replaced.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ArsenalReplaced {
    /// [`Arsenal::hash`] of the new one.
    pub hash: u32,
}

/// Registers the asset type and its loader; does nothing without an asset server.
pub(crate) fn add(app: &mut App) {
    app.add_message::<ArsenalReplaced>();
    // The plugin may be added for several models.
    if !app.world().contains_resource::<AssetServer>() || app.world().contains_resource::<Assets<Arsenal>>() {
        return;
    }
    app.init_asset::<Arsenal>()
        .init_asset_loader::<RonAssetLoader<Arsenal>>()
        .add_systems(PreUpdate, replace);
}

/// Replaces the arsenal between two ticks, so that every system of a tick reads the same weapons.
fn replace(
    mut changes: MessageReader<AssetEvent<Arsenal>>,
    wanted: Option<Res<ArsenalAsset>>,
    loaded: Res<Assets<Arsenal>>,
    mut arsenal: ResMut<Arsenal>,
    mut replaced: MessageWriter<ArsenalReplaced>,
) {
    let Some(wanted) = wanted else {
        changes.clear();
        return;
    };
    let id = wanted.0.id();
    let changed = changes.read().fold(false, |changed, event| {
        let this =
            matches!(event, AssetEvent::Added { id: of } | AssetEvent::Modified { id: of } if *of == id);
        changed || this
    });
    if !changed && !wanted.is_changed() {
        return;
    }
    let Some(new) = loaded.get(&wanted.0) else { return };
    if arsenal.set_if_neq(new.clone()) {
        info!("the arsenal was replaced: {} weapons", new.iter().len());
        replaced.write(ArsenalReplaced { hash: new.hash() });
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bevy::asset::AssetLoadFailedEvent;
    use checked_ron::{RonFile, broken_text::mangled};

    use super::*;

    const GOOD: &str = r#"[
    (
        name: "shotgun",
        shot: Pellets(count: 12, range: 60.0),
        interval: 0.8,
        spread: (still: 3.0),
        ammo: (magazine: 6, reserve: 24, reload: Rounds(first: 0.6, each: 0.4)),
        damage: (head: 16.0, body: 9.0, limb: 7.0, falloff: [(8.0, 1.0), (25.0, 0.3)]),
    ),
    (
        name: "rocket launcher",
        shot: Projectile((speed: 30.0, radius: 0.1, splash: Some((radius: 4.0, damage: 90.0)))),
        interval: 0.8,
        damage: (head: 100.0, body: 100.0, limb: 100.0),
    ),
]"#;

    #[derive(Resource, Default)]
    struct Received {
        replaced: Vec<u32>,
        failed: Vec<String>,
    }

    fn see(
        mut replaced: MessageReader<ArsenalReplaced>,
        mut failed: MessageReader<AssetLoadFailedEvent<Arsenal>>,
        mut seen: ResMut<Received>,
    ) {
        seen.replaced.extend(replaced.read().map(|message| message.hash));
        seen.failed.extend(failed.read().map(|failed| failed.error.to_string()));
    }

    fn app(folder: &str) -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, AssetPlugin { file_path: folder.to_owned(), ..default() }))
            .init_resource::<Arsenal>()
            .init_resource::<Received>()
            .add_systems(Update, see);
        add(&mut app);
        add(&mut app);
        app.finish();
        app.cleanup();
        app
    }

    fn names(app: &App) -> Vec<&str> {
        app.world().resource::<Arsenal>().iter().map(|(_, weapon)| weapon.name.as_str()).collect()
    }

    #[test]
    fn arsenal_follows_the_selected_asset_and_its_changes() {
        let mut app = app("");
        app.update();
        assert_eq!(names(&app), ["rifle"]);
        let good = Arsenal::from_ron(GOOD).expect("good");
        let handle = app.world_mut().resource_mut::<Assets<Arsenal>>().add(good.clone());
        let other = app.world_mut().resource_mut::<Assets<Arsenal>>().add(Arsenal::default());
        (0..3).for_each(|_| app.update());
        assert_eq!(names(&app), ["rifle"], "the asset is not selected yet");
        app.insert_resource(ArsenalAsset(handle.clone()));
        (0..3).for_each(|_| app.update());
        assert_eq!(names(&app), ["shotgun", "rocket launcher"]);
        assert_eq!(app.world().resource::<Received>().replaced, [good.hash()]);
        let next = Arsenal::from_ron(&GOOD.replace("shotgun", "blunderbuss")).expect("good");
        *app.world_mut().resource_mut::<Assets<Arsenal>>().get_mut(&handle).expect("there") = next.clone();
        *app.world_mut().resource_mut::<Assets<Arsenal>>().get_mut(&other).expect("there") = good.clone();
        (0..3).for_each(|_| app.update());
        assert_eq!(names(&app), ["blunderbuss", "rocket launcher"]);
        app.insert_resource(ArsenalAsset(other));
        (0..3).for_each(|_| app.update());
        assert_eq!(app.world().resource::<Received>().replaced, [good.hash(), next.hash(), good.hash()]);
    }

    #[test]
    fn invalid_file_reports_its_problem_and_keeps_the_arsenal() {
        let folder = std::env::temp_dir().join(format!("arsenals_{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("good.weapons.ron"), GOOD).expect("a file");
        std::fs::write(folder.join("bad.weapons.ron"), GOOD.replace("range: 60.0", "range: -60.0"))
            .expect("a file");
        std::fs::write(folder.join("binary.weapons.ron"), [0xff, 0xfe, 0x00]).expect("a file");
        let mut app = app(&folder.display().to_string());
        let load = |app: &mut App, file: &'static str| {
            let handle = app.world().resource::<AssetServer>().load::<Arsenal>(file);
            app.insert_resource(ArsenalAsset(handle));
            let before = app.world().resource::<Received>();
            let before = before.replaced.len() + before.failed.len();
            for _ in 0..5_000 {
                app.update();
                let seen = app.world().resource::<Received>();
                if seen.replaced.len() + seen.failed.len() > before {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        load(&mut app, "good.weapons.ron");
        assert_eq!(names(&app), ["shotgun", "rocket launcher"]);
        load(&mut app, "bad.weapons.ron");
        load(&mut app, "binary.weapons.ron");
        std::fs::remove_dir_all(&folder).expect("the folder can be removed");
        assert_eq!(names(&app), ["shotgun", "rocket launcher"], "the arsenal is unchanged");
        let seen = app.world().resource::<Received>();
        assert_eq!((seen.replaced.len(), seen.failed.len()), (1, 2));
        for part in ["bad.weapons.ron", "weapon 0", "shotgun", "shot.range", "-60", "0.1 to 10000"] {
            assert!(seen.failed[0].contains(part), "{part}: {}", seen.failed[0]);
        }
        assert!(seen.failed[1].contains("UTF-16"), "{}", seen.failed[1]);
    }

    #[test]
    fn parse_errors_name_the_place_and_the_allowed_values() {
        let wrong = |from: &str, to: &str, told: &[&str]| {
            assert!(GOOD.contains(from), "{from}");
            let error = Arsenal::from_ron(&GOOD.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(told.iter().all(|part| error.contains(part)), "{to}: {error}");
            assert!(!error.contains('\n'), "{error}");
        };
        // Syntax.
        wrong("]", "", &["line 8", "column"]);
        wrong("interval: 0.8,", "interval: 0.8", &["line 6", "comma"]);
        wrong("interval: 0.8", "interval: fast", &["line 5", "column", "float"]);
        wrong("\"shotgun\"", "shotgun", &["line 3", "string"]);
        // Unknown and missing fields.
        wrong("spread: (still", "spraed: (still", &["line 6", "spraed", "spread"]);
        wrong("(still: 3.0)", "(sitll: 3.0)", &["line 6", "sitll", "still"]);
        wrong("Pellets(", "Pelets(", &["line 4", "Pelets", "Pellets"]);
        wrong("interval: 0.8,", "", &["interval"]);
        wrong("head: 16.0, ", "", &["line 8", "head"]);
        // Numbers.
        wrong("interval: 0.8", "interval: NaN", &["weapon 0 (\"shotgun\")", "interval", "NaN", "0.01 to 60"]);
        wrong("interval: 0.8", "interval: inf", &["weapon 0", "interval", "inf"]);
        wrong("interval: 0.8", "interval: 0.0", &["weapon 0", "interval", "0.01 to 60"]);
        wrong("count: 12", "count: 17", &["weapon 0", "shot.count", "17", "16"]);
        wrong("count: 12", "count: 0", &["weapon 0", "shot.count", "0"]);
        wrong("count: 12", "count: 1200", &["line 4"]);
        wrong("magazine: 6", "magazine: 2000", &["weapon 0", "ammo.magazine", "1023"]);
        wrong("each: 0.4", "each: -1", &["weapon 0", "ammo.reload.each", "-1"]);
        wrong("(25.0, 0.3)", "(7.0, 0.3)", &["weapon 0", "falloff", "8 to 10000"]);
        wrong("(25.0, 0.3)", "(25.0, NaN)", &["weapon 0", "falloff", "NaN"]);
        wrong("head: 16.0", "head: 1e30", &["weapon 0", "damage.head"]);
        wrong("speed: 30.0", "speed: 1e9", &["weapon 1 (\"rocket launcher\")", "shot.speed"]);
        wrong("damage: 90.0", "damage: inf", &["weapon 1", "shot.splash.damage"]);
        // Names.
        wrong("\"rocket launcher\"", "\"shotgun\"", &["weapon 1 (\"shotgun\")", "name", "its own"]);
    }

    #[test]
    fn file_size_weapon_count_and_nesting_are_bounded() {
        let of = |count: usize| -> String {
            let one = |index| {
                format!(
                    "(name: \"w{index}\", shot: Ray(range: 9.0), interval: 1, damage: (head: 1, body: 1, limb: 1)),"
                )
            };
            let weapons: String = (0..count).map(one).collect();
            format!("[{weapons}]")
        };
        assert!(Arsenal::from_ron(&of(Arsenal::MAX_WEAPONS)).is_ok());
        let error = Arsenal::from_ron(&of(Arsenal::MAX_WEAPONS + 1)).expect_err("too many").to_string();
        assert!(error.contains("65 weapons") && error.contains("64"), "{error}");
        let error = Arsenal::from_ron(&" ".repeat(300_000)).expect_err("too long").to_string();
        assert!(error.contains("300000 bytes") && error.contains("262144"), "{error}");
        assert!(Arsenal::from_ron(&"[".repeat(100_000)).is_err(), "deep nesting does not overflow the stack");
        assert!(Arsenal::from_ron(&"[(shot:".repeat(10_000)).is_err());
    }

    #[test]
    fn arsenal_survives_a_round_trip_through_ron() {
        let arsenal = Arsenal::from_ron(GOOD).expect("good");
        let again = Arsenal::from_ron(&arsenal.to_ron().expect("text")).expect("it is read");
        assert_eq!((again.hash(), &again), (arsenal.hash(), &arsenal));
    }

    #[test]
    fn randomly_mangled_files_never_panic_and_stay_in_bounds() {
        let read: Vec<Arsenal> =
            mangled(GOOD, 10_000, 1).filter_map(|text| Arsenal::from_ron(&text).ok()).collect();
        assert!(read.len() > 100, "{}", read.len());
        for (_, weapon) in read.iter().flat_map(Arsenal::iter) {
            assert!(weapon.range().is_finite() && weapon.interval > 0.0, "{weapon:?}");
        }
    }
}

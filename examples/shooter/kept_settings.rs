//! Settings of the player that are kept between matches: mouse sensitivity and shown panels. In a browser they are in
//! the page's storage, under the name of the file.

#[cfg(target_family = "wasm")]
#[path = "kept_settings/in_browser.rs"]
mod storage;
#[cfg(not(target_family = "wasm"))]
#[path = "kept_settings/in_file.rs"]
mod storage;

use core::time::Duration;
use std::path::PathBuf;

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use bevy_unlag::PlayerControls;
use checked_ron::{OneLine, RonError, RonFile, parse, to_text};
use serde::{Deserialize, Serialize};

use crate::panel::{ShowsGraph, ShowsPanels};

/// Sensitivities that the slider offers, in radians per pixel.
pub const SENSITIVITIES: (f32, f32) = (0.0002, 0.008);
/// Time between two looks at what has changed.
const INTERVAL: Duration = Duration::from_secs(2);

/// Settings of the player.
#[derive(Resource, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(deny_unknown_fields, default)]
pub struct KeptSettings {
    /// Mouse sensitivity, in radians per pixel.
    pub sensitivity: f32,
    /// Whether the panels at the sides are shown.
    pub panels: bool,
    /// Whether the net graph is shown.
    pub net_graph: bool,
}

impl Default for KeptSettings {
    fn default() -> Self {
        Self { sensitivity: PlayerControls::default().sensitivity, panels: true, net_graph: true }
    }
}

impl RonFile for KeptSettings {
    const CONTENT: &'static str = "settings";
    const EXTENSIONS: &'static [&'static str] = &["settings.ron"];

    fn from_ron(text: &str) -> Result<Self, RonError> {
        let settings: Self = parse(text)?;
        let (least, most) = SENSITIVITIES;
        if !(least..=most).contains(&settings.sensitivity) {
            return Err(RonError::at("sensitivity", format!("must be from {least} to {most}")));
        }
        Ok(settings)
    }
}

/// File of the settings.
#[derive(Resource, Debug)]
struct SettingsFile {
    path: PathBuf,
    /// Settings that the file holds.
    written: KeptSettings,
}

/// Reads the settings from a file, applies them, and writes them to it when they have changed. A file that cannot be
/// read is left as it is, with a warning.
pub fn add(app: &mut App, file: PathBuf) {
    let settings = match storage::read(&file) {
        Ok(settings) => settings.unwrap_or_default(),
        Err(error) => {
            warn!("settings {}: {error}; the defaults are used", OneLine::path(&file));
            return;
        }
    };
    app.insert_resource(settings)
        .insert_resource(SettingsFile { path: file, written: settings })
        .add_systems(PreStartup, apply)
        .add_systems(Update, (follow, keep.run_if(on_real_timer(INTERVAL))).chain())
        .add_systems(Last, keep.run_if(on_message::<AppExit>))
        .add_observer(set_sensitivity);
}

/// Returns the file that a player's settings have by default; `None` on a system that names no folder for it.
pub fn default_file() -> Option<PathBuf> {
    Some(storage::folder()?.join("bevy_unlag_shooter.settings.ron"))
}

fn apply(settings: Res<KeptSettings>, mut panels: ResMut<ShowsPanels>, mut graph: ResMut<ShowsGraph>) {
    // `--no-panels` hides them all the same.
    panels.0 &= settings.panels;
    graph.0 &= settings.net_graph;
}

fn set_sensitivity(
    added: On<Add, PlayerControls>,
    settings: Res<KeptSettings>,
    mut controls: Query<&mut PlayerControls>,
) {
    if let Ok(mut controls) = controls.get_mut(added.entity) {
        controls.sensitivity = settings.sensitivity;
    }
}

/// Notes what the player has changed. `--no-panels` is no change.
fn follow(
    mut settings: ResMut<KeptSettings>,
    (panels, graph): (Res<ShowsPanels>, Res<ShowsGraph>),
    mut shown: Local<Option<(bool, bool)>>,
    controls: Query<&PlayerControls>,
) {
    let mut now = *settings;
    let before = shown.replace((panels.0, graph.0)).unwrap_or((panels.0, graph.0));
    if before.0 != panels.0 {
        now.panels = panels.0;
    }
    if before.1 != graph.0 {
        now.net_graph = graph.0;
    }
    if let Some(controls) = controls.iter().next() {
        now.sensitivity = controls.sensitivity.clamp(SENSITIVITIES.0, SENSITIVITIES.1);
    }
    settings.set_if_neq(now);
}

fn keep(settings: Res<KeptSettings>, mut file: ResMut<SettingsFile>) {
    if file.written == *settings {
        return;
    }
    file.written = *settings;
    let text = to_text(&*settings, 1).map_err(|error| error.to_string());
    if let Err(error) = text.and_then(|text| storage::write(&file.path, &text)) {
        warn!("settings {} cannot be written: {error}", OneLine::path(&file.path));
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    fn settings_are_read_back_and_nonsense_is_refused() {
        let settings = KeptSettings { sensitivity: 0.004, panels: false, ..default() };
        let text = to_text(&settings, 1).expect("plain values");
        assert_eq!(KeptSettings::from_ron(&text), Ok(settings));
        assert_eq!(KeptSettings::from_ron("()"), Ok(KeptSettings::default()));
        for nonsense in ["(sensitivity: nan)", "(sensitivity: 1e9)", "(volume: 3)", "", "\u{0}"] {
            assert!(KeptSettings::from_ron(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn change_in_the_first_frames_is_kept_and_a_broken_file_is_left_alone() {
        let folder = env::temp_dir().join(format!("bevy_unlag_settings_{}", std::process::id()));
        let file = folder.join("own.settings.ron");
        let _ = fs::remove_dir_all(&folder);
        let app_with = |panels: bool| {
            let mut app = App::new();
            app.add_plugins(MinimalPlugins)
                .insert_resource(ShowsPanels(panels))
                .insert_resource(ShowsGraph(true));
            add(&mut app, file.clone());
            app
        };
        let mut app = app_with(true);
        app.update();
        app.world_mut().resource_mut::<ShowsPanels>().0 = false;
        app.update();
        app.world_mut().write_message(AppExit::Success);
        app.update();
        let kept = KeptSettings::read(&file);
        assert!(kept.as_ref().is_ok_and(|kept| !kept.panels && kept.net_graph), "{kept:?}");
        // Read again, and unchanged by `--no-panels`.
        let mut app = app_with(true);
        app.update();
        assert!(!app.world().resource::<ShowsPanels>().0);
        fs::write(&file, "nonsense").expect("the folder is there");
        let mut app = app_with(true);
        app.update();
        app.world_mut().resource_mut::<ShowsPanels>().0 = false;
        app.world_mut().write_message(AppExit::Success);
        app.update();
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("nonsense"));
        let _ = fs::remove_dir_all(&folder);
    }
}

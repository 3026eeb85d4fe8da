//! Settings of the player that are kept between matches: mouse sensitivity and shown panels.

use core::time::Duration;
use std::{env, fs, path::PathBuf};

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
struct SettingsFile(PathBuf);

/// Reads the settings from a file, applies them, and writes them to it when they have changed. A file that is not there
/// is written; one that cannot be read is left as it is, with a warning.
pub fn add(app: &mut App, file: PathBuf) {
    let settings = match KeptSettings::read(&file) {
        Ok(settings) => settings,
        Err(_) if !file.exists() => KeptSettings::default(),
        Err(error) => {
            warn!("settings {}: {error}; the defaults are used", OneLine::path(&file));
            return;
        }
    };
    app.insert_resource(settings)
        .insert_resource(SettingsFile(file))
        .add_systems(PreStartup, apply)
        .add_systems(Update, (follow, keep.run_if(on_real_timer(INTERVAL))).chain())
        .add_observer(set_sensitivity);
}

/// Returns the file that a player's settings have by default; `None` on a system that names no folder for it.
pub fn default_file() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder("XDG_CONFIG_HOME")
        .or_else(|| folder("APPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("bevy_unlag_shooter.settings.ron"))
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

/// Writes the settings, to a file beside it first, so that a crash leaves the old ones.
fn keep(settings: Res<KeptSettings>, file: Res<SettingsFile>, mut written: Local<Option<KeptSettings>>) {
    let before = written.get_or_insert(*settings);
    if *before == *settings {
        return;
    }
    *before = *settings;
    let beside = file.0.with_extension("new");
    let written = file
        .0
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&beside, to_text(&*settings, 1).unwrap_or_default()))
        .and_then(|()| fs::rename(&beside, &file.0));
    if let Err(error) = written {
        warn!("settings {} cannot be written: {error}", OneLine::path(&file.0));
    }
}

#[cfg(test)]
mod tests {
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
}

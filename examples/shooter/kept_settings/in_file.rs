//! Settings in a file.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use checked_ron::RonFile;

use super::KeptSettings;

/// Returns the folder of a player's settings, if the system names one.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("XDG_CONFIG_HOME")
        .or_else(|| folder("APPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".config")))
}

/// Reads the settings; `None` without a file.
pub(super) fn read(file: &Path) -> Result<Option<KeptSettings>, String> {
    match KeptSettings::read(file) {
        Ok(settings) => Ok(Some(settings)),
        Err(_) if !file.exists() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes them, to a file beside it first, so that a crash leaves the old ones.
pub(super) fn write(file: &Path, text: &str) -> Result<(), String> {
    let write = || {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let beside = file.with_extension("new");
        fs::write(&beside, text)?;
        fs::rename(&beside, file)
    };
    write().map_err(|error| error.to_string())
}

//! Settings in the storage that a browser has for a page.

use std::path::{Path, PathBuf};

use checked_ron::RonFile;

use super::KeptSettings;
use crate::web::page::Page;

/// Returns the folder of a player's settings: the page has one storage.
#[expect(clippy::unnecessary_wraps, reason = "other systems may have none")]
pub(super) fn folder() -> Option<PathBuf> {
    Some(PathBuf::new())
}

/// Reads the settings; `None` if none are kept.
pub(super) fn read(file: &Path) -> Result<Option<KeptSettings>, String> {
    let text = Page::find().and_then(|page| page.kept(&file.to_string_lossy()));
    text.map(|text| KeptSettings::from_ron(&text).map_err(|error| error.to_string())).transpose()
}

/// Writes them.
pub(super) fn write(file: &Path, text: &str) -> Result<(), String> {
    match Page::find().is_some_and(|page| page.keep(&file.to_string_lossy(), text)) {
        true => Ok(()),
        false => Err("the browser keeps nothing for this page".to_owned()),
    }
}

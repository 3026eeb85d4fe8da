//! Files of the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Outcome;

/// Adds the files below a folder whose path is wanted, without build outputs and hidden folders other than `.ci` and
/// `.github`.
pub(crate) fn collect(
    folder: &Path,
    is_wanted: impl Fn(&Path) -> bool + Copy,
    files: &mut Vec<PathBuf>,
) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        let is_skipped = name == "target" || (name.starts_with('.') && name != ".ci" && name != ".github");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !is_skipped {
                collect(&path, is_wanted, files)?;
            }
        } else if is_wanted(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the text of a file.
///
/// # Errors
/// A line with its path.
pub(crate) fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

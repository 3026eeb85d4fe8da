//! Values of the command lines, read and explained.

use bevy_unlag::prelude::{LinkPreset, LinkPresets, RonFile};

/// A window's size, such as `1280x720`.
///
/// # Errors
/// What to write instead.
pub fn size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once('x').ok_or("write it like 1280x720")?;
    let side = |text: &str| match text.parse() {
        Ok(pixels) if (200..=8_192).contains(&pixels) => Ok(pixels),
        _ => Err("each side must be 200 to 8192".to_owned()),
    };
    Ok((side(width)?, side(height)?))
}

/// Seconds, up to a day.
///
/// # Errors
/// What they must be.
pub fn seconds(text: &str) -> Result<f64, String> {
    number(text, 0.1, 86_400.0)
}

/// A share of a hundred.
///
/// # Errors
/// What it must be.
pub fn percent(text: &str) -> Result<f64, String> {
    number(text, 0.0, 100.0)
}

/// A number within bounds.
///
/// # Errors
/// What it must be.
pub fn number(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (least..=most).contains(&value) { Ok(value) } else { Err(format!("must be {least} to {most}")) }
}

/// The name of a simulated link.
///
/// # Errors
/// Which names there are.
pub fn preset(name: &str) -> Result<&'static LinkPreset, String> {
    LinkPreset::find(name).map_err(|error| error.to_string())
}

/// The simulated links that there are: the library's, and those in a file.
///
/// # Errors
/// What is wrong with the file, where, and what to do.
pub fn presets(file: &str) -> Result<LinkPresets, String> {
    let mut presets = LinkPresets::default();
    presets.extend(LinkPresets::read(file).map_err(|error| error.to_string())?);
    Ok(presets)
}

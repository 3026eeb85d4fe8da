//! Parsers and validators of command-line values, and exit codes.

use core::{fmt::Display, str::FromStr};
use std::path::Path;
#[cfg(not(target_family = "wasm"))]
use std::process::ExitCode;

use bevy_unlag::{
    guard::ConnectTokenRequest,
    link_conditioner::{LinkPreset, LinkPresets, RonFile},
};
#[cfg(not(target_family = "wasm"))]
use bevy_unlag_server::say_error;
use checked_ron::OneLine;

/// Returns the exit code of a run. An error is printed in one line; its code is 2.
#[cfg(not(target_family = "wasm"))]
#[must_use]
pub fn exit_code(run: Result<ExitCode, String>) -> ExitCode {
    run.unwrap_or_else(|line| {
        say_error(format_args!("error: {line}"));
        ExitCode::from(2)
    })
}

/// Parses a window size, such as `1280x720`.
///
/// # Errors
/// Returns the expected format.
pub fn size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once('x').ok_or("expected a size like 1280x720")?;
    let side = |text: &str| match text.parse() {
        Ok(pixels) if (200..=8_192).contains(&pixels) => Ok(pixels),
        _ => Err("each side must be 200 to 8192 pixels".to_owned()),
    };
    Ok((side(width)?, side(height)?))
}

/// Parses a time in seconds, from 0.1 s to a day.
///
/// # Errors
/// Returns the valid range.
pub fn seconds(text: &str) -> Result<f64, String> {
    number(text, 0.1, 86_400.0)
}

/// Parses a percentage.
///
/// # Errors
/// Returns the valid range.
pub fn percent(text: &str) -> Result<f64, String> {
    number(text, 0.0, 100.0)
}

/// Parses a number between `least` and `most`, both included.
///
/// # Errors
/// Returns the valid range.
pub fn number<T: Copy + Display + FromStr + PartialOrd>(text: &str, least: T, most: T) -> Result<T, String> {
    let value: T = text.parse().map_err(|_| "expected a number".to_owned())?;
    if (least..=most).contains(&value) { Ok(value) } else { Err(format!("must be {least} to {most}")) }
}

/// Parses the name of a server or a match, which goes into tokens and logs.
///
/// # Errors
/// Returns what a name may have.
pub fn id(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if (1..=ConnectTokenRequest::MAX_ID).contains(&text.len()) && text.bytes().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("a name has 1 to 63 letters, digits, '.', '_' and '-'".to_owned())
    }
}

/// Finds a link preset of the library by its name.
///
/// # Errors
/// Returns the names of all presets.
pub fn preset(name: &str) -> Result<&'static LinkPreset, String> {
    LinkPreset::find(name).map_err(|error| error.to_string())
}

/// Reads a file with link presets, and adds them to the library's.
///
/// # Errors
/// Returns in one line what is wrong with the file, where, and what to do.
pub fn presets(file: &Path) -> Result<LinkPresets, String> {
    let mut presets = LinkPresets::default();
    let problem = |error| format!("--presets {}: {error}", OneLine::path(file));
    presets.extend(LinkPresets::read(file).map_err(problem)?);
    Ok(presets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_short_and_plain() {
        for name in ["eu-1", "fleet-x7k.2_b", "A", &"a".repeat(63)] {
            assert_eq!(id(name), Ok(name.to_owned()));
        }
        for name in ["", "eu 1", "é", "a/b", "a\nb", &"a".repeat(64)] {
            assert!(id(name).is_err(), "{name}");
        }
    }

    #[test]
    fn presets_of_an_unreadable_file_name_it_in_one_line() {
        let error = presets(Path::new("no/such\n\u{1b}[2Jfile")).expect_err("no such file");
        assert!(error.starts_with("--presets no/such\\n\\u{1b}[2Jfile: "), "{error}");
        if Path::new("/dev/zero").exists() {
            let error = presets(Path::new("/dev/zero")).expect_err("a device");
            assert!(error.contains("/dev/zero: it is a device"), "{error}");
        }
    }
}

//! Links of the documents into the API documentation of the suite's crates: they name items that the crates export.

use std::path::Path;

use crate::{
    Outcome,
    files::{collect, read},
};

/// Start of all links into API documentation.
const HOST: &str = "https://docs.rs/";

/// Checks a link to a crate of the repository, or to one of its items. Other links, and those to crates of others, are
/// not looked at.
pub(crate) fn follow(root: &Path, target: &str) -> Outcome {
    let Some(path) = target.strip_prefix(HOST) else { return Ok(()) };
    let (name, page) = path.split_once('/').unwrap_or((path, ""));
    let sources = root.join("crates").join(name).join("src");
    if name.is_empty() || !sources.is_dir() {
        return Ok(());
    }
    if page.is_empty() {
        return Ok(());
    }
    let Some((modules, kind, item)) = parse(page, name) else {
        return Err(format!("the address is not {HOST}{name}/latest/{name}/[MODULE/]KIND.ITEM.html"));
    };
    if is_exported(&sources, modules, item)? && is_defined(&sources, kind, item)? {
        return Ok(());
    }
    Err(format!("{name} exports no {kind} {item} there"))
}

/// Returns the module, the kind and the name of an item, by the path of its page: `latest/NAME/MODULE/KIND.ITEM.html`.
fn parse<'a>(page: &'a str, name: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let path = page.strip_prefix("latest/")?.strip_prefix(name)?.strip_prefix('/')?.strip_suffix(".html")?;
    let (modules, file) = path.rsplit_once('/').unwrap_or(("", path));
    let (kind, item) = file.split_once('.')?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name(kind) && is_name(item)).then_some((modules, kind, item))
}

/// Whether a public module names an item: the crate itself if `modules` is empty.
fn is_exported(sources: &Path, modules: &str, item: &str) -> Result<bool, String> {
    let file = if modules.is_empty() { "lib".to_owned() } else { modules.to_owned() };
    let file = sources.join(file).with_extension("rs");
    if !file.is_file() {
        return Ok(false);
    }
    let text = read(&file)?;
    let exports = text.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    Ok(exports.flat_map(words).any(|word| word == item))
}

/// Whether a source file defines an item of this kind.
fn is_defined(sources: &Path, kind: &str, item: &str) -> Result<bool, String> {
    let keyword = if kind == "constant" { "const" } else { kind };
    let mut files = Vec::new();
    collect(sources, |file| file.extension().is_some_and(|extension| extension == "rs"), &mut files)?;
    for file in &files {
        let text = read(file)?;
        let defines = |line: &str| {
            let mut words = words(line);
            words.next() == Some("pub") && words.any(|word| word == keyword) && words.next() == Some(item)
        };
        if text.lines().any(defines) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::repository;

    fn outcome(path: &str) -> Outcome {
        follow(&repository(), &format!("{HOST}{path}"))
    }

    #[test]
    fn exported_items_are_found() {
        for path in [
            "bevy_unlag_rewind",
            "bevy_unlag_rewind/latest/bevy_unlag_rewind/struct.RewindLimits.html",
            "bevy_unlag_core/latest/bevy_unlag_core/trait.MoveModel.html",
            "bevy_unlag_movement/latest/bevy_unlag_movement/struct.CapsuleConfig.html",
            "bevy_unlag_movement/latest/bevy_unlag_movement/abilities/struct.Dash.html",
            "bevy_unlag_testkit/latest/bevy_unlag_testkit/fn.join.html",
            "serde/latest/serde/trait.Nothing.html",
        ] {
            assert_eq!(outcome(path), Ok(()), "{path}");
        }
        assert_eq!(follow(&repository(), "https://example.org/bevy_unlag_core/latest"), Ok(()));
    }

    #[test]
    fn items_of_another_name_kind_or_place_are_not() {
        for path in [
            "bevy_unlag_rewind/latest/bevy_unlag_rewind/struct.RewindLimit.html",
            "bevy_unlag_rewind/latest/bevy_unlag_rewind/enum.RewindLimits.html",
            "bevy_unlag_rewind/latest/bevy_unlag_core/struct.Snapshot.html",
            "bevy_unlag_movement/latest/bevy_unlag_movement/struct.Dash.html",
            "bevy_unlag_rewind/latest/bevy_unlag_rewind/struct.FrameRing.html",
            "bevy_unlag_core/trait.MoveModel.html",
        ] {
            assert!(outcome(path).is_err(), "{path}");
        }
    }
}

//! Width of lines: rustfmt breaks code, but neither comments nor strings, and knows no Markdown.

use std::path::Path;

use crate::{
    Outcome,
    commands::repository,
    files::{collect, read},
};

/// Maximum width of a line, in characters.
const MAX_WIDTH: usize = 120;

/// Checks the width of Rust code, of the documents at the root, the READMEs of crates and the design, and of comments
/// in `.ci`. Of `docs` only the design and the decisions are checked.
pub(crate) fn line_width(_: &[String]) -> Outcome {
    let lines = check(&repository())?;
    println!("{lines} lines have at most {MAX_WIDTH} characters");
    Ok(())
}

/// Checks the files below a folder, and returns the number of their lines.
///
/// # Errors
/// A line for each line that is too wide.
fn check(root: &Path) -> Result<usize, String> {
    let mut files = Vec::new();
    collect(root, |file| Kind::of(file).is_some(), &mut files)?;
    let (mut lines, mut wide) = (0, Vec::new());
    for file in &files {
        let Some(kind) = Kind::of(file) else { continue };
        for (index, line) in read(file)?.lines().enumerate() {
            lines += 1;
            let width = line.chars().count();
            if width > MAX_WIDTH && !kind.may_be_wide(line) {
                let file = file.strip_prefix(root).unwrap_or(file).display();
                wide.push(format!("{file}:{}: {width} characters instead of {MAX_WIDTH}", index + 1));
            }
        }
    }
    if wide.is_empty() { Ok(lines) } else { Err(wide.join("\n")) }
}

/// Kind of a file that is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Rust,
    Markdown,
    Script,
}

impl Kind {
    fn of(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_string_lossy();
        let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
        if name.ends_with(".rs") {
            Some(Self::Rust)
        } else if name.ends_with(".md") {
            (folder != "docs" || name == "design.md").then_some(Self::Markdown)
        } else {
            (folder == ".ci").then_some(Self::Script)
        }
    }

    /// Whether a line of such a file may exceed the width: a row of a table, a link, the code of a script.
    fn may_be_wide(self, line: &str) -> bool {
        let line = line.trim_start();
        match self {
            Self::Rust => {
                let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
                comment.is_some_and(|comment| comment.starts_with(" |") || is_link(comment))
            }
            Self::Markdown => line.starts_with('|') || is_link(line),
            Self::Script => !line.starts_with('#'),
        }
    }
}

/// Whether a line is a link alone, which cannot be broken.
fn is_link(line: &str) -> bool {
    let words = line.trim_start_matches("- ").split_whitespace().count();
    words == 1 || (line.starts_with("![") && line.ends_with(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_more_than_120_characters_is_named_with_its_number() {
        let folder = std::env::temp_dir().join(format!("xtask_line_width_{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (limit, wide) = ("é".repeat(120), "x ".repeat(61));
        std::fs::write(folder.join("a.rs"), format!("{limit}\n// {wide}\n")).expect("a file");
        std::fs::write(folder.join("a.txt"), &wide).expect("a file");
        let problems = check(&folder);
        std::fs::remove_dir_all(&folder).expect("it goes");
        assert_eq!(problems, Err("a.rs:2: 125 characters instead of 120".to_owned()));
    }

    #[test]
    fn only_tables_links_and_the_code_of_scripts_may_be_wider() {
        let words = "word ".repeat(25);
        let link = format!("<https://example.org/{}>", "a".repeat(110));
        let cases = [
            ("src/a.rs", format!("// {words}"), false),
            ("src/a.rs", format!("/// {words}"), false),
            ("src/a.rs", format!("    /// | {words} |"), true),
            ("src/a.rs", format!("let text = \"{words}\";"), false),
            ("src/a.rs", format!("//! {link}"), true),
            ("a.md", words.clone(), false),
            ("a.md", format!("| {words} |"), true),
            ("a.md", link, true),
            ("docs/design.md", words.clone(), false),
            (".ci/run", format!("# {words}"), false),
            (".ci/run", format!("echo {words}"), true),
        ];
        for (file, line, is_allowed) in cases {
            let kind = Kind::of(Path::new(file)).expect("it is checked");
            assert_eq!(kind.may_be_wide(&line), is_allowed, "{file}: {line}");
        }
        assert_eq!(Kind::of(Path::new("docs/figures.md")), None);
        assert_eq!(Kind::of(Path::new("Cargo.toml")), None);
    }
}

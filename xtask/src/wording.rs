//! Wording: phrases that are hard to read and have a plain replacement.

use std::path::Path;

use crate::{
    Outcome,
    commands::repository,
    files::{collect, read},
};

/// Phrases, and what to write instead. They are matched exactly.
const PHRASES: &[(&str, &str)] = &[
    (" anew", "\"again\""),
    ("thereby", "nothing, or \"so\""),
    ("so that who", "\"so clients that\""),
    ("is said", "who says it"),
    (" of late,", "\"recently\""),
    ("ever becomes of", "the condition"),
    ("nobody at the stick", "\"with neutral input\""),
    ("has a word in", "\"may supply\""),
    ("can be made again", "\"deterministic\""),
];

/// Checks the wording of code and documents.
pub(crate) fn wording() -> Outcome {
    let lines = check(&repository())?;
    println!("{lines} lines have none of {} phrases", PHRASES.len());
    Ok(())
}

/// Checks the files below a folder, and returns the number of their lines.
///
/// # Errors
/// A line for each phrase.
fn check(root: &Path) -> Result<usize, String> {
    let mut files = Vec::new();
    collect(root, is_checked, &mut files)?;
    let (mut lines, mut found) = (0, Vec::new());
    for file in &files {
        for (index, line) in read(file)?.lines().enumerate() {
            lines += 1;
            for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| line.contains(phrase)) {
                let file = file.strip_prefix(root).unwrap_or(file).display();
                let phrase = phrase.trim();
                found.push(format!("{file}:{}: \"{phrase}\": write {instead}", index + 1));
            }
        }
    }
    if found.is_empty() { Ok(lines) } else { Err(found.join("\n")) }
}

/// Whether a file is checked: code and documents, other than this list.
fn is_checked(file: &Path) -> bool {
    let is_text = file.extension().is_some_and(|extension| extension == "rs" || extension == "md");
    is_text && !file.ends_with("xtask/src/wording.rs")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn phrase_is_named_with_its_line() {
        let folder = std::env::temp_dir().join(format!("xtask_wording_{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("a.md"), "Of late clients.\nIt is drawn anew.\n").expect("a file");
        fs::write(folder.join("a.txt"), "It is drawn anew.\n").expect("a file");
        let problems = check(&folder);
        fs::remove_dir_all(&folder).expect("it goes");
        assert_eq!(problems, Err("a.md:2: \"anew\": write \"again\"".to_owned()));
    }

    #[test]
    fn texts_of_the_repository_have_no_such_phrase() {
        let lines = check(&repository()).unwrap_or_else(|found| panic!("{found}"));
        assert!(lines > 10_000, "the check sees only {lines} lines");
    }
}

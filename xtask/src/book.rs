//! The book: its words by part, and its pages as HTML.

use std::{collections::BTreeMap, path::Path};

use crate::{
    Outcome,
    commands::{command, repository, run},
    files::{collect, read},
};

/// Counts the words of the book, and builds it into `target/book`.
pub(crate) fn book(_: &[String]) -> Outcome {
    let mut parts = BTreeMap::<String, usize>::new();
    for page in pages(&repository().join("book/src"))? {
        let part = page.split_once('/').map_or("other pages", |(part, _)| part).to_owned();
        *parts.entry(part).or_default() += words(&read(&repository().join("book/src").join(&page))?);
    }
    for (part, words) in &parts {
        println!("{part:<14}{words:>8} words");
    }
    println!(
        "{:<14}{:>8} words, tables and names of fields included",
        "the book",
        parts.values().sum::<usize>()
    );
    run(command("mdbook").args(["build", "book", "--dest-dir", "../target/book"]))
        .map_err(|problem| format!("{problem}; to install it: cargo install mdbook"))
}

/// Returns the pages below a folder, with `/` between folders.
fn pages(folder: &Path) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    collect(folder, |file| file.extension().is_some_and(|extension| extension == "md"), &mut files)?;
    let name = |file: &Path| {
        let file = file.strip_prefix(folder).unwrap_or(file).to_string_lossy();
        file.replace(std::path::MAIN_SEPARATOR, "/")
    };
    Ok(files.iter().map(|file| name(file)).filter(|page| page != "SUMMARY.md").collect())
}

/// Counts the words outside of blocks of code.
fn words(page: &str) -> usize {
    let outside = page.split("```").step_by(2);
    outside
        .map(|text| text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_signs_are_no_words() {
        assert_eq!(words("Two words.\n\n```rust\nlet x = 1;\n```\n\n| a | `b` |\n| - | - |\n"), 4);
    }

    #[test]
    fn every_page_is_in_the_summary_once() {
        let folder = repository().join("book/src");
        let summary = read(&folder.join("SUMMARY.md")).expect("a summary");
        let pages = pages(&folder).expect("pages");
        assert!(pages.len() > 40, "{pages:?}");
        for page in pages {
            assert_eq!(summary.matches(&format!("]({page})")).count(), 1, "{page}");
        }
    }
}

//! The book: its words by part, and its pages as HTML.

use std::{collections::BTreeMap, path::Path};

use crate::{
    Outcome,
    commands::{command, repository, run},
    files::{collect, read},
};

/// Counts the words of the book, and builds it into `target/book`.
pub(crate) fn book(_: &[String]) -> Outcome {
    let mut parts = BTreeMap::<String, Words>::new();
    let mut whole = Words::default();
    for page in pages(&repository().join("book/src"))? {
        let part = page.split_once('/').map_or("other pages", |(part, _)| part).to_owned();
        let counted = Words::of(&read(&repository().join("book/src").join(&page))?);
        parts.entry(part).or_default().add(&counted);
        whole.add(&counted);
    }
    for (part, Words { text, tables }) in parts.iter().chain([(&"the book".to_owned(), &whole)]) {
        println!("{part:<14}{text:>8} words of text{tables:>8} in tables");
    }
    run(command("mdbook").args(["build", "book", "--dest-dir", "../target/book"]))
        .map_err(|problem| format!("{problem}; to install it: cargo install mdbook"))
}

/// Words outside of blocks of code: the text that one reads, and the tables in which one looks something up.
#[derive(Default, PartialEq, Debug)]
struct Words {
    text: usize,
    tables: usize,
}

impl Words {
    fn of(page: &str) -> Self {
        let mut words = Self::default();
        for line in page.split("```").step_by(2).flat_map(str::lines) {
            let count = line.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            let kind = if line.trim_start().starts_with('|') { &mut words.tables } else { &mut words.text };
            *kind += count;
        }
        words
    }

    fn add(&mut self, other: &Self) {
        self.text += other.text;
        self.tables += other.tables;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_signs_are_no_words() {
        let words = Words::of("Two words.\n\n```rust\nlet x = 1;\n```\n\n| a | `b` |\n| - | - |\n");
        assert_eq!(words, Words { text: 2, tables: 2 });
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

//! The book: its words by part, and its pages as HTML.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

use crate::{
    Outcome,
    commands::{command, repository, run},
    files::{collect, read},
};

/// Counts the words of the book, and builds it into `target/book`, together with the documents of `docs`.
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
    let target = repository().join("target");
    let source = target.join("book-source");
    assemble(&repository(), &source)?;
    run(command("mdbook").arg("build").arg(source).arg("--dest-dir").arg(target.join("book")))
        .map_err(|problem| format!("{problem}; to install it: cargo install mdbook"))
}

/// Copies the book to a folder, with the documents of `docs` as its last part, so that links to them stay in the book.
fn assemble(root: &Path, to: &Path) -> Outcome {
    let (docs, summary) = (root.join("docs"), to.join("src/SUMMARY.md"));
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(format!("{}: {error}", to.display()));
        }
        _ => {}
    }
    copy(&root.join("book"), to, ("../../docs/", "docs/"))?;
    copy(&docs, &to.join("src/docs"), ("../book/src/", "../"))?;
    let pages = read(&summary)?;
    let Some((pages, glossary)) = pages.split_once("\n---\n") else {
        return Err(format!("{}: no line before the glossary", summary.display()));
    };
    let pages = format!("{pages}\n# Figures and design\n\n{}\n---\n{glossary}", list(&docs)?);
    fs::write(&summary, pages).map_err(|error| format!("{}: {error}", summary.display()))
}

/// Copies a folder, and replaces the start of links in its pages. A `README.md` becomes the index of its folder.
fn copy(from: &Path, to: &Path, (start, replacement): (&str, &str)) -> Outcome {
    let mut files = Vec::new();
    collect(from, |_| true, &mut files)?;
    for file in &files {
        let copied = to.join(indexed(&file.strip_prefix(from).unwrap_or(file).to_string_lossy()));
        let write = || {
            fs::create_dir_all(copied.parent().unwrap_or(to))?;
            if file.extension().is_some_and(|extension| extension == "md") {
                fs::write(&copied, indexed(&fs::read_to_string(file)?).replace(start, replacement))
            } else {
                fs::copy(file, &copied).map(drop)
            }
        };
        write().map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// Returns a path, or a text with such paths, in which the list of decisions is the index of its folder.
fn indexed(text: &str) -> String {
    text.replace("README.md", "index.md")
}

/// Returns the lines of the summary for the pages of `docs`, each decision below their list.
fn list(docs: &Path) -> Result<String, String> {
    let mut pages = pages(docs)?;
    pages.sort_by_key(|page| (page.contains('/'), !page.ends_with("README.md"), page.clone()));
    let mut lines = String::new();
    for page in pages {
        let text = read(&docs.join(&page))?;
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        let indent = if page.contains('/') && !page.ends_with("README.md") { "  " } else { "" };
        lines += &format!("{indent}- [{title}](docs/{})\n", indexed(&page));
    }
    Ok(lines)
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
    use crate::links::{follow, targets};

    #[test]
    fn code_and_signs_are_no_words() {
        let words = Words::of("Two words.\n\n```rust\nlet x = 1;\n```\n\n| a | `b` |\n| - | - |\n");
        assert_eq!(words, Words { text: 2, tables: 2 });
    }

    #[test]
    fn only_the_link_to_the_contribution_guide_leaves_the_assembled_book() {
        let folder = std::env::temp_dir().join(format!("xtask_book_{}", std::process::id()));
        assemble(&repository(), &folder).expect("the folders of the repository");
        let (mut files, mut links, mut broken) = (Vec::new(), 0, Vec::new());
        let is_page = |file: &Path| file.extension().is_some_and(|extension| extension == "md");
        collect(&folder.join("src"), is_page, &mut files).expect("pages");
        for file in &files {
            for (_, target) in targets(&read(file).expect("a page")) {
                links += 1;
                if follow(file, target).is_err() {
                    broken.push(target.to_owned());
                }
            }
        }
        let summary = read(&folder.join("src/SUMMARY.md")).expect("a summary");
        fs::remove_dir_all(&folder).expect("it goes");
        assert_eq!(broken, ["../CONTRIBUTING.md#where-to-change-what"]);
        assert!(links > 200, "{links} links");
        assert!(summary.contains("\n- [Figures](docs/figures.md)\n"), "{summary}");
        assert!(summary.contains("\n- [Decisions](docs/decisions/index.md)\n  - [1. "), "{summary}");
        assert!(summary.ends_with("\n---\n\n[Glossary](glossary.md)\n"), "{summary}");
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

//! Links of the documents: relative targets, the headings that anchors name, and items of the API documentation; and
//! paths of the book in doc comments. No host is asked.

use std::{collections::HashSet, path::Path};

use crate::{
    Outcome, api_links,
    commands::repository,
    files::{collect, read},
};

/// Start of the paths of the book's pages, from the root of the repository.
const BOOK: &str = "book/src/";

/// Checks the links of all Markdown files of the repository, and the paths of the book in its crates.
pub(crate) fn links(_: &[String]) -> Outcome {
    let root = repository();
    let links = check(&root)?;
    println!("{links} links lead somewhere");
    let paths = check_doc_comments(&root)?;
    println!("{paths} paths of the book in doc comments exist");
    Ok(())
}

/// Checks the links of all Markdown files below a folder, and returns their number.
///
/// # Errors
/// A line for each link that leads nowhere.
fn check(root: &Path) -> Result<usize, String> {
    check_files((root, root), "md", targets, |file, target| {
        follow(file, target).and_then(|()| api_links::follow(root, target))
    })
}

/// Checks the paths of the book in the doc comments of the crates below a folder, and returns their number.
///
/// # Errors
/// A line for each path that does not exist.
fn check_doc_comments(root: &Path) -> Result<usize, String> {
    check_files((root, root.join("crates").as_path()), "rs", book_paths, |_, path| exists(&root.join(path)))
}

/// Finds targets in the files with an extension below a folder, follows them, and returns their number.
fn check_files(
    (root, folder): (&Path, &Path),
    extension: &str,
    find: impl Fn(&str) -> Vec<(usize, &str)>,
    follow: impl Fn(&Path, &str) -> Outcome,
) -> Result<usize, String> {
    let mut files = Vec::new();
    collect(folder, |file| file.extension().is_some_and(|found| found == extension), &mut files)?;
    let (mut count, mut broken) = (0, Vec::new());
    for file in &files {
        for (line, target) in find(&read(file)?) {
            count += 1;
            if let Err(problem) = follow(file, target) {
                let file = file.strip_prefix(root).unwrap_or(file).display();
                broken.push(format!("{file}:{line}: {target}: {problem}"));
            }
        }
    }
    if broken.is_empty() { Ok(count) } else { Err(broken.join("\n")) }
}

/// Paths of the book in doc comments, with the numbers of their lines: they are written as code.
fn book_paths(text: &str) -> Vec<(usize, &str)> {
    let mut paths = Vec::new();
    for (index, line) in text.lines().map(str::trim_start).enumerate() {
        if line.starts_with("//!") || line.starts_with("///") {
            let code = line.split('`').skip(1).step_by(2).filter(|code| code.starts_with(BOOK));
            paths.extend(code.map(|path| (index + 1, path)));
        }
    }
    paths
}

/// Lines outside of blocks of code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// Targets of links, with the numbers of their lines: what is between `](` and `)`, outside of code.
pub(crate) fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    for (line, text) in prose(text) {
        let outside_code = text.split('`').step_by(2);
        let links = outside_code.flat_map(|text| text.split("](").skip(1));
        targets.extend(links.filter_map(|rest| Some((line, rest.split_once(')')?.0))));
    }
    targets
}

/// Looks for the target of a link in a file.
pub(crate) fn follow(file: &Path, target: &str) -> Outcome {
    if target.contains("://") {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { file.to_path_buf() } else { file.with_file_name(path) };
    exists(&path)?;
    if anchor.is_empty() || anchors(&read(&path)?).contains(anchor) {
        return Ok(());
    }
    Err("the document has no such heading".to_owned())
}

fn exists(path: &Path) -> Outcome {
    if path.exists() { Ok(()) } else { Err("there is no such file".to_owned()) }
}

/// Anchors of the headings of a document, as hosting platforms name them.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let mut anchor = slug.clone();
        let mut repetition = 0;
        while !anchors.insert(anchor) {
            repetition += 1;
            anchor = format!("{slug}-{repetition}");
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_link_of_the_documents_leads_somewhere() {
        let links = check(&repository()).unwrap_or_else(|broken| panic!("{broken}"));
        assert!(links > 200, "the check sees only {links} links");
    }

    #[test]
    fn every_path_of_the_book_in_doc_comments_exists() {
        let paths = check_doc_comments(&repository()).unwrap_or_else(|broken| panic!("{broken}"));
        assert!(paths > 40, "the check sees only {paths} paths");
    }

    #[test]
    fn missing_page_in_a_doc_comment_is_named_with_its_line() {
        let folder = std::env::temp_dir().join(format!("xtask_doc_comments_{}", std::process::id()));
        fs::create_dir_all(folder.join("crates")).expect("a folder");
        let code =
            "//! `book/src/`\n// `book/src/a.md`\nstruct A {\n    /// `b`, `book/src/c.md`.\n    d: u8,\n}\n";
        fs::create_dir_all(folder.join(BOOK)).expect("a folder");
        fs::write(folder.join("crates").join("a.rs"), code).expect("a file");
        let problems = check_doc_comments(&folder);
        fs::remove_dir_all(&folder).expect("it goes");
        let file = Path::new("crates").join("a.rs");
        let expected = format!("{}:4: book/src/c.md: there is no such file", file.display());
        assert_eq!(problems, Err(expected));
    }

    #[test]
    fn link_to_a_missing_file_or_heading_is_named_with_its_line() {
        let folder = std::env::temp_dir().join(format!("xtask_links_{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let links = "[1](a.md#a-title-and-more) [2](b.md)\n```\n[3](c.md)\n```\n[4](#none) `[5](d.md)`\n";
        fs::write(folder.join("a.md"), format!("# A `title`, and more\n\n{links}")).expect("a file");
        let problems = check(&folder);
        fs::remove_dir_all(&folder).expect("it goes");
        let expected = "a.md:3: b.md: there is no such file\na.md:7: #none: the document has no such heading";
        assert_eq!(problems, Err(expected.to_owned()));
    }

    #[test]
    fn repeated_headings_are_numbered() {
        let anchors = anchors("## Errors\n### Errors\n#### Not `a::b`?\n");
        for anchor in ["errors", "errors-1", "not-ab"] {
            assert!(anchors.contains(anchor), "{anchor}: {anchors:?}");
        }
    }
}

//! Reference of the book: every setting of the suite, with its fields.

use std::{collections::HashMap, fs, path::Path};

use super::reflection::for_each_source;

/// Types that look like settings and are none, and the reason.
const NOT_SETTINGS: [(&str, &str); 5] = [
    ("BaseScheduleMailbox", "messages between crates"),
    ("DroppedPawnChanges", "counters"),
    ("DroppedSnapshots", "counters"),
    ("InvalidConfig", "an error"),
    ("Stall", "measured"),
];

/// A public struct with named fields.
struct Item<'a> {
    name: &'a str,
    is_resource: bool,
    /// Public fields, in the order of the source.
    fields: Vec<&'a str>,
}

impl Item<'_> {
    /// Whether the reference must have it: a resource that games write, or a part of one.
    fn is_setting(&self) -> bool {
        let ends = |endings: &[&str]| endings.iter().any(|ending| self.name.ends_with(ending));
        let exempt = NOT_SETTINGS.iter().any(|(exempt, _)| *exempt == self.name);
        let is_kind = ends(&["Config", "Limits", "Rules"]) || (self.is_resource && !ends(&["Stats"]));
        is_kind && !exempt && !self.fields.is_empty()
    }
}

/// Returns the public structs with named fields and a `derive` in a source file.
fn structs<'s>(source: &'s str) -> impl Iterator<Item = Item<'s>> {
    source.split("#[derive(").skip(1).filter_map(|item| {
        let (derives, rest) = item.split_once(")]")?;
        let heads = ["pub struct ", "pub enum ", "pub(", "struct ", "enum "];
        let is_head = |line: &str| heads.iter().any(|head| line.trim_start().starts_with(head));
        let mut lines = rest.lines().skip_while(|line| !is_head(line));
        let head = lines.next().filter(|line| line.ends_with('{'))?;
        let text = head.trim_start();
        let name = text.strip_prefix("pub struct ")?.split(|c: char| !c.is_alphanumeric()).next()?;
        let depth = head.len() - text.len();
        let inner = depth + 4;
        let (end, start) = (format!("{:depth$}}}", ""), format!("{:inner$}pub ", ""));
        let field = |line: &'s str| Some(line.strip_prefix(start.as_str())?.split_once(':')?.0);
        let fields = lines.take_while(|line| *line != end).filter_map(field).collect();
        let is_resource = derives.split(|c: char| !c.is_alphanumeric()).any(|derived| derived == "Resource");
        Some(Item { name, is_resource, fields })
    })
}

/// Returns the tables of fields in a page, each with the type in the heading above it.
fn tables(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut tables: Vec<(&str, Vec<&str>)> = Vec::new();
    let (mut heading, mut is_in_table) = ("", false);
    for line in page.lines() {
        if line.starts_with('#') {
            heading = line.trim_start_matches('#').trim().trim_matches('`');
        } else if line.starts_with("| Field |") {
            is_in_table = true;
            tables.push((heading, Vec::new()));
        } else if !line.starts_with('|') {
            is_in_table = false;
        } else if is_in_table
            && let Some((field, _)) = line.strip_prefix("| `").and_then(|rest| rest.split_once('`'))
            && let Some((_, fields)) = tables.last_mut()
        {
            fields.push(field);
        }
    }
    tables
}

#[test]
fn reference_has_every_field_of_every_setting() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut documented, mut problems) = (HashMap::new(), Vec::new());
    for page in fs::read_dir(root.join("book/src/reference")).expect("the reference") {
        let page = page.expect("a page").path();
        // Pages have pictures beside them.
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(page).expect("UTF-8");
        for (name, fields) in tables(&text) {
            let fields: Vec<String> = fields.into_iter().map(str::to_owned).collect();
            if documented.insert(name.to_owned(), fields).is_some() {
                problems.push(format!("{name} has two tables"));
            }
        }
    }
    let (mut unknown, mut settings) = (documented.clone(), 0);
    for crate_folder in fs::read_dir(root.join("crates")).expect("the crates") {
        let crate_folder = crate_folder.expect("a crate").path();
        let is_tool =
            crate_folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("unlag_"));
        let sources = crate_folder.join("src");
        if is_tool || !sources.is_dir() {
            continue;
        }
        for_each_source(&sources, &mut |source| {
            for item in structs(source) {
                settings += usize::from(item.is_setting());
                match documented.get(item.name) {
                    Some(fields) if *fields == item.fields => {
                        unknown.remove(item.name);
                    }
                    Some(fields) => problems.push(format!(
                        "{}: the reference has {fields:?}, the source has {:?}",
                        item.name, item.fields
                    )),
                    None if item.is_setting() => {
                        problems.push(format!("{} is not in the reference", item.name));
                    }
                    None => {}
                }
            }
        });
    }
    problems
        .extend(unknown.keys().map(|name| format!("{name}: there is no such type, or it has other fields")));
    assert_eq!(problems, [""; 0]);
    assert!(settings > 35, "only {settings} settings were found");
}

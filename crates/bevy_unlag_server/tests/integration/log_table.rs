//! Table of log lines in the handbook, compared with the source.

use std::{collections::BTreeSet, fs, path::Path};

/// Log line of the source, or row of the table.
#[derive(Debug)]
struct LogLine {
    target: String,
    /// In the table all its levels.
    level: String,
    /// In the table with `…` for any text.
    message: String,
    /// Names of its fields; in the table of those that it always has.
    fields: BTreeSet<String>,
    /// In the table, names of the fields in brackets.
    optional: BTreeSet<String>,
}

impl LogLine {
    /// Whether this row describes a line of the source. A message that is computed is not compared.
    fn describes(&self, line: &Self) -> bool {
        self.target == line.target
            && self.level.contains(line.level.as_str())
            && (line.message.starts_with('{') || self.has_message(&line.message))
            && self.fields.is_subset(&line.fields)
            && line.fields.iter().all(|field| self.fields.contains(field) || self.optional.contains(field))
    }

    fn has_message(&self, text: &str) -> bool {
        let mut pieces = self.message.split('…').map(str::trim);
        let Some(rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
        let rest = pieces.try_fold(rest, |rest, piece| Some(rest.split_once(piece)?.1));
        rest.is_some_and(|rest| rest.is_empty() || self.message.ends_with('…'))
    }
}

/// Returns the rows of the table.
fn rows(handbook: &str) -> Vec<LogLine> {
    let (table, _) = handbook.split_once("\n## Metrics").expect("the metrics follow the log lines");
    let mut target = "";
    // Without the table's head, of two lines.
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        if !cells[1].is_empty() {
            target = cells[1].trim_matches('`');
        }
        let names = cells[4].split('`').skip(1).step_by(2).map(str::to_owned);
        let (optional, fields) = names.partition(|name| cells[4].contains(&format!("[`{name}`]")));
        LogLine {
            target: target.to_owned(),
            level: cells[2].to_owned(),
            message: cells[3].to_owned(),
            fields,
            optional,
        }
    })
    .collect()
}

/// Returns the code of all files in a folder and below.
fn code(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |path: &Path| {
        if path.is_dir() {
            code(path)
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            fs::read_to_string(path).expect("code")
        } else {
            String::new()
        }
    };
    entries.map(|entry| read(&entry.expect("an entry").path())).collect()
}

/// Returns the next string literal.
fn literal(code: &str) -> String {
    let text = code.split('"').nth(1).expect("a literal");
    text.split("\\\n").map(str::trim_start).collect()
}

/// Returns the names of the fields before a message.
fn fields(code: &str) -> BTreeSet<String> {
    let (fields, _) = code.split_once('"').expect("a message");
    let mut depth = 0;
    // A comma in parentheses is none between fields.
    let parts = fields.split(|character| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    let names = parts.map(|part| part.split('=').next().unwrap_or_default().trim());
    names.map(|name| name.trim_start_matches(['?', '%']).to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Returns the lines of a crate that have a target, from level info on.
fn log_lines(code: &str) -> Vec<LogLine> {
    let mut lines = Vec::new();
    for (at, key) in code.match_indices("target:") {
        let call = code[..at].trim_end().strip_suffix("!(").unwrap_or_default().trim_end_matches("_once");
        let level = ["info", "warn", "error"].into_iter().find(|level| call.ends_with(*level));
        let Some(level) = level else { continue };
        let (target, rest) = code[at + key.len()..].split_once(',').expect("a message");
        let target = if target.contains('"') {
            literal(target)
        } else {
            let constant = format!("const {}: &str", target.trim().trim_start_matches("log_lines::"));
            let (_, value) = code.split_once(&constant).unwrap_or_else(|| panic!("no {constant}"));
            literal(value)
        };
        lines.push(LogLine {
            target,
            level: level.to_owned(),
            message: literal(rest),
            fields: fields(rest),
            optional: BTreeSet::new(),
        });
    }
    lines
}

#[test]
fn handbook_has_each_log_line_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let handbook = fs::read_to_string(root.join("book/src/operations/monitoring.md")).expect("a page");
    let rows = rows(&handbook);
    let crates = fs::read_dir(root.join("crates")).expect("the crates");
    let folders = crates.map(|entry| entry.expect("an entry").path()).chain([root.join("examples")]);
    let sources = folders.map(|folder| folder.join("src")).filter(|source| source.is_dir());
    let lines: Vec<_> = sources.flat_map(|source| log_lines(&code(&source))).collect();
    assert!(lines.len() > 50, "only {} lines are found", lines.len());
    for line in &lines {
        assert!(rows.iter().any(|row| row.describes(line)), "monitoring.md lacks {line:?}");
    }
    for row in &rows {
        let described: Vec<_> = lines.iter().filter(|line| row.describes(line)).collect();
        assert!(!described.is_empty(), "never logged: {row:?} of monitoring.md");
        let has = |field: &String| described.iter().any(|line| line.fields.contains(field));
        assert!(row.optional.iter().all(has), "a field is never logged: {row:?} of monitoring.md");
    }
}

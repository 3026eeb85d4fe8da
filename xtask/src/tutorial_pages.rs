//! Agreement of the tutorial in the book with the game in `examples/tutorial`, which is built and checked.

use std::{fs, path::Path};

use crate::commands::repository;

/// Chapters, and the files that each of them shows as a whole.
const CHAPTERS: &[(&str, &[&str])] = &[
    ("1_a_window_and_a_server.md", &["level.rs", "network.rs"]),
    ("2_your_pawn_moves.md", &["pawn.rs"]),
    ("3_other_pawns.md", &["others.rs"]),
    ("4_shooting.md", &["weapons.rs"]),
    ("5_a_bad_link.md", &["bad_link.rs"]),
    ("6_a_dedicated_server.md", &["tokens.rs"]),
];
/// Blocks that a reader copies. Others are tests of their own.
const FENCE: &str = "```rust,ignore\n";

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split(FENCE).skip(1).filter_map(|rest| rest.split_once("```")).map(|(code, _)| code)
}

/// Returns the first line of a block that is not in the program, in this order.
fn first_missing_line<'a>(block: &'a str, program: &str) -> Option<&'a str> {
    let mut program = program.lines().map(str::trim);
    let lines = block.lines().map(str::trim);
    let mut code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.find(|line| !program.any(|found| found == *line))
}

#[test]
fn code_of_the_tutorial_is_that_of_the_tested_game() {
    let (pages, game) = (repository().join("book/src/tutorial"), repository().join("examples/tutorial"));
    let main = read(&game.join("main.rs"));
    for (name, files) in CHAPTERS {
        let page = read(&pages.join(name));
        let mut files: Vec<(&str, String)> =
            files.iter().map(|file| (*file, read(&game.join(file)))).collect();
        for block in blocks(&page) {
            if let Some(shown) = files.iter().position(|(_, code)| code == block) {
                files.remove(shown);
            } else if let Some(line) = first_missing_line(block, &main) {
                panic!("{name}: neither a file of examples/tutorial nor a part of its main.rs: {line}");
            }
        }
        assert!(
            files.is_empty(),
            "{name} does not show {:?} as it is",
            files.iter().map(|(file, _)| file).collect::<Vec<_>>()
        );
    }
}

#[test]
fn line_that_the_program_lacks_is_found() {
    let program = "mod a;\nmod b;\n\nfn main() {\n    a::run();\n}\n";
    assert_eq!(first_missing_line("// At the top.\nmod b;\n\na::run();\n", program), None);
    assert_eq!(first_missing_line("a::run();\nmod b;\n", program), Some("mod b;"));
}

//! The README tells the truth.

#[test]
fn the_quick_start_is_the_minimal_example() {
    let readme = include_str!("../../README.md");
    let minimal = include_str!("../../examples/minimal.rs");
    assert!(
        readme.contains(&format!("```rust\n{minimal}```")),
        "copy examples/minimal.rs into the README again"
    );
    assert!(minimal.lines().count() < 80, "{} lines", minimal.lines().count());
}

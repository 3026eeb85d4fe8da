//! Consistency of the README with the examples.

#[test]
fn readme_quick_start_equals_the_minimal_example_and_both_stay_short() {
    let readme = include_str!("../../README.md");
    let minimal = include_str!("../../examples/minimal.rs");
    assert!(
        readme.contains(&format!("```rust\n{minimal}```")),
        "the README's quick start differs from examples/minimal.rs: copy it again"
    );
    assert!(minimal.lines().count() <= 40, "the example has {} lines, not 40", minimal.lines().count());
    assert!(readme.lines().count() <= 200, "the README has {} lines, not 200", readme.lines().count());
}

//! Lines for the operator, which may be lost: a closed pipe, a full disk or a missing terminal is ignored.

use core::fmt::Display;
use std::io::{self, Write};

/// Prints a line on standard output. A line that cannot be written is lost; `println!` would panic.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Prints a line on standard error. A line that cannot be written is lost; `eprintln!` would panic.
pub fn say_error(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

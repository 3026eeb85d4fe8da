//! Commands with the environment and the settings of the gate.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Outcome;

/// Root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A program with the environment of `.ci/run`.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("CARGO_INCREMENTAL", "0");
    if env::var_os("CARGO_PROFILE_RELEASE_LTO").is_none() {
        command.env("CARGO_PROFILE_RELEASE_LTO", "off");
    }
    command
}

/// Cargo for a subcommand that does not take the profile of the gate.
pub(crate) fn plain_cargo() -> Command {
    command("cargo")
}

/// Cargo with the profile of the gate, which stands behind the subcommand: `cargo clippy` starts another Cargo, and
/// passes on only what follows.
pub(crate) fn cargo(subcommand: &str) -> Command {
    let mut cargo = plain_cargo();
    cargo.args([subcommand, "--config", ".ci/cargo.toml"]);
    // A script for bash.
    if cfg!(unix) && ["build", "test"].contains(&subcommand) {
        cargo.env("RUSTC_WORKSPACE_WRAPPER", repository().join(".ci/rustc"));
    }
    cargo
}

/// A program that Cargo has built with the release profile: `examples/kart`.
pub(crate) fn built(program: &str) -> Command {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Command::new(target.join("release").join(format!("{program}{}", env::consts::EXE_SUFFIX)))
}

/// Runs a command that must end with code 0.
pub(crate) fn run(command: &mut Command) -> Outcome {
    expect(command, 0)
}

/// Prints and runs a command that must end with a certain code.
pub(crate) fn expect(command: &mut Command, code: i32) -> Outcome {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().map_err(|error| format!("{line}: {error}"))?;
    if status.code() == Some(code) {
        return Ok(());
    }
    Err(format!("{line}: {status} instead of code {code}"))
}

/// Runs a command that must end with code 0, and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let line = line(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{line}: {}", output.status))
}

/// The command as it is typed, for messages.
fn line(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for word in command.get_args() {
        line.push(' ');
        line.push_str(&word.to_string_lossy());
    }
    line
}

//! The shooter's client as a web page, in `target/web-page`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    Outcome,
    commands::{command, output, run},
};

/// Files of the page beside the program.
const PAGE: &str = "examples/shooter/web/index.html";
const TRIPLE: &str = "wasm32-unknown-unknown";

/// Builds the client with the profile `web`, and puts it with its page into `target/web-page`, which any web server can
/// serve. Prints the sizes. `target/web` is Cargo's own folder of the profile.
pub(crate) fn web(_: &[String]) -> Outcome {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = target.join("web-page");
    let version = locked_version("wasm-bindgen")?;
    let help = format!("install it with: cargo install wasm-bindgen-cli --version {version} --locked");
    let installed = output(Command::new("wasm-bindgen").arg("--version"))
        .map_err(|problem| format!("{problem}; {help}"))?;
    if installed.split_whitespace().nth(1) != Some(&version) {
        return Err(format!(
            "wasm-bindgen must be {version}, as in Cargo.lock, not {}; {help}",
            installed.trim()
        ));
    }
    // The script has the settings of the target, with and without rustup's.
    let build = [
        "cargo",
        "build",
        "--profile",
        "web",
        "--package",
        "unlag_examples",
        "--example",
        "shooter",
        "--features",
        "web",
    ];
    run(command(".ci/wasm").args(build).env_remove("CARGO_PROFILE_RELEASE_LTO"))?;
    let program = target.join(TRIPLE).join("web/examples/shooter.wasm");
    if !program.exists() {
        return Err(format!("the target is missing; install it with: rustup target add {TRIPLE}"));
    }
    run(Command::new("wasm-bindgen")
        .args(["--target", "web", "--no-typescript", "--out-name", "shooter", "--out-dir"])
        .args([&folder, &program]))?;
    let bytes = folder.join("shooter_bg.wasm");
    optimise(&bytes)?;
    fs::copy(PAGE, folder.join("index.html")).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{}: {}", folder.display(), sizes(&bytes)?);
    Ok(())
}

/// Makes the program smaller where Binaryen is installed.
fn optimise(program: &Path) -> Outcome {
    let is_installed = Command::new("wasm-opt").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_installed {
        println!("wasm-opt is not installed: the program stays about a tenth larger; it is part of Binaryen");
        return Ok(());
    }
    run(Command::new("wasm-opt").args(["-Os", "--all-features", "-o"]).args([program, program]))
}

/// Returns the size of a file, raw and compressed by gzip where that is installed.
fn sizes(file: &Path) -> Result<String, String> {
    let megabytes = |bytes: usize| format!("{:.1} MB", bytes as f64 / 1e6);
    let raw = fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?.len();
    let raw = megabytes(usize::try_from(raw).unwrap_or(usize::MAX));
    let gzip = Command::new("gzip").args(["-9", "--stdout"]).arg(file).stderr(Stdio::null()).output();
    Ok(match gzip {
        Ok(packed) if packed.status.success() => format!("{raw}, {} by gzip", megabytes(packed.stdout.len())),
        _ => raw,
    })
}

/// Returns the version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String, String> {
    let lock = fs::read_to_string("Cargo.lock").map_err(|error| format!("Cargo.lock: {error}"))?;
    version_in(&lock, package).ok_or_else(|| format!("Cargo.lock has no package {package}"))
}

fn version_in(lock: &str, package: &str) -> Option<String> {
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split_once('"').map(|(version, _)| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn version_is_of_the_very_package() {
        let lock = "name = \"a-b\"\nversion = \"2.0.0\"\n\nname = \"a\"\nversion = \"1.2.3\"\n";
        assert_eq!(version_in(lock, "a").as_deref(), Some("1.2.3"));
        assert_eq!(version_in(lock, "b"), None);
    }
}

//! The shooter's client as a web page, in `target/web-page`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    Outcome,
    commands::{command, output, run},
    files,
};

/// Name that wasm-bindgen gives the program.
const WASM: &str = "shooter_bg.wasm";
/// The page, its files beside the program, and the places in it for their folder and the program's size.
const PAGE: &str = "examples/shooter/web/index.html";
const FILES: [&str; 2] = ["examples/shooter/web/page.js", "examples/shooter/web/page.css"];
const FOLDER: &str = "FOLDER";
const BYTES: &str = "BYTES";
/// Largest program in bytes, compressed by gzip.
const MOST_PACKED: usize = 15_000_000;
const TRIPLE: &str = "wasm32-unknown-unknown";

/// Builds the client with the profile `web`, and puts it with its page into `target/web-page`, which any web server can
/// serve. All but the page are in a folder that is named after their content. Prints the sizes; a program that is too
/// large is an error. `target/web` is Cargo's own folder of the profile.
pub(crate) fn web(_: &[String]) -> Outcome {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let (folder, new) = (target.join("web-page"), target.join("web-page.new"));
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
    remove(&new)?;
    run(Command::new("wasm-bindgen")
        .args(["--target", "web", "--no-typescript", "--out-name", "shooter", "--out-dir"])
        .args([&new, &program]))?;
    let mut content = read_bytes(&new.join(WASM))?;
    let size = content.len();
    content.extend(read_bytes(&new.join("shooter.js"))?);
    for file in FILES.map(Path::new) {
        let bytes = read_bytes(file)?;
        fs::write(new.join(file.file_name().unwrap_or_default()), &bytes)
            .map_err(|error| format!("{}: {error}", new.display()))?;
        content.extend(bytes);
    }
    let name = format!("{:016x}", fingerprint(&content));
    let page = files::read(Path::new(PAGE))?;
    remove(&folder)?;
    fs::create_dir_all(&folder)
        .and_then(|()| fs::rename(&new, folder.join(&name)))
        .and_then(|()| fs::write(folder.join("index.html"), filled(&page, &name, size)))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let megabytes = |bytes: usize| format!("{:.1} MB", bytes as f64 / 1e6);
    let Some(packed) = packed_size(&folder.join(name).join(WASM)) else {
        println!("{}: {}", folder.display(), megabytes(size));
        return Ok(());
    };
    println!("{}: {}, {} by gzip", folder.display(), megabytes(size), megabytes(packed));
    if packed > MOST_PACKED {
        return Err(format!("the program has more than {} compressed", megabytes(MOST_PACKED)));
    }
    Ok(())
}

/// Returns the page with the name of its folder and the size of its program.
fn filled(page: &str, folder: &str, size: usize) -> String {
    // The comment at the top names the places.
    let (comment, rest) = page.split_once("-->").unwrap_or(("", page));
    let head = comment.split_once("<!--").map_or("", |(before, _)| before);
    format!("{head}{}", rest.trim_start().replace(FOLDER, folder).replace(BYTES, &size.to_string()))
}

/// Returns a number that tells contents apart, by the function FNV-1a.
fn fingerprint(content: &[u8]) -> u64 {
    content.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn read_bytes(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Removes a folder, if it is there.
fn remove(folder: &Path) -> Outcome {
    match fs::remove_dir_all(folder) {
        Err(error) if folder.exists() => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    }
}

/// Returns the size of a file that is compressed by gzip, where that is installed.
fn packed_size(file: &Path) -> Option<usize> {
    let gzip = Command::new("gzip").args(["-9", "--stdout"]).arg(file).stderr(Stdio::null()).output().ok()?;
    gzip.status.success().then_some(gzip.stdout.len())
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
    use super::{BYTES, FOLDER, PAGE, filled, fingerprint, version_in};

    #[test]
    fn page_names_its_folder_and_its_size() {
        let file = format!("{}/../{PAGE}", env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(file).expect("the page");
        let page = filled(&page, "0123abcd", 4_321);
        assert!(page.starts_with("<!doctype html>"), "{page}");
        assert!(page.contains("src=\"0123abcd/page.js\"") && page.contains("data-bytes=\"4321\""), "{page}");
        assert!(!page.contains(FOLDER) && !page.contains(BYTES), "{page}");
    }

    #[test]
    fn fingerprints_of_contents_differ() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_ne!(fingerprint(b"ab"), fingerprint(b"ba"));
    }

    #[test]
    fn version_is_of_the_very_package() {
        let lock = "name = \"a-b\"\nversion = \"2.0.0\"\n\nname = \"a\"\nversion = \"1.2.3\"\n";
        assert_eq!(version_in(lock, "a").as_deref(), Some("1.2.3"));
        assert_eq!(version_in(lock, "b"), None);
    }
}

//! Whether there is a screen to open a window on.

/// Makes sure that there is a screen. `instead` says what works without one.
///
/// # Errors
/// One line that says what is missing and what works without it.
pub fn display(instead: &'static str) -> Result<(), String> {
    // The examples are built for X11, and XWayland sets the same variable.
    if cfg!(target_os = "linux") {
        let display = std::env::var("DISPLAY").unwrap_or_default();
        if display.is_empty() {
            return Err(format!("there is no screen (DISPLAY is not set); {instead}"));
        }
        if !answers(&display) {
            return Err(format!("no screen answers at DISPLAY={display}; {instead}"));
        }
    }
    explain_missing_gpu(instead);
    Ok(())
}

/// Whether a local X server listens; a remote one is given the benefit of the doubt.
#[cfg(target_os = "linux")]
fn answers(display: &str) -> bool {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    };
    let Some(local) = display.strip_prefix(':') else { return true };
    let number = local.split('.').next().unwrap_or(local);
    let path = format!("/tmp/.X11-unix/X{number}");
    let named = SocketAddr::from_abstract_name(&path).and_then(|address| UnixStream::connect_addr(&address));
    named.is_ok() || UnixStream::connect(path).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn answers(_: &str) -> bool {
    true
}

/// Bevy panics when there is nothing to draw with; say what to do instead.
fn explain_missing_gpu(instead: &'static str) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if message.contains("Unable to find a GPU") {
            eprintln!(
                "error: there is nothing to draw with (no graphics adapter); install a Vulkan driver, such as \
                 Mesa's, or {instead}"
            );
            std::process::exit(2);
        }
        usual(info);
    }));
}

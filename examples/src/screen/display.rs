//! Check for a screen and a graphics adapter.

/// Checks that there is a screen to open a window on. `instead` names an alternative without a window.
///
/// # Errors
/// Returns one line that says what is missing and what works without it.
pub fn display(instead: &'static str) -> Result<(), String> {
    // The examples are built for X11, and XWayland sets the same variable.
    if cfg!(target_os = "linux") {
        let display = std::env::var("DISPLAY").unwrap_or_default();
        if display.is_empty() {
            return Err(format!("no screen is available (DISPLAY is not set); {instead}"));
        }
        if !x_server_responds(&display) {
            return Err(format!("no X server responds at DISPLAY={display}; {instead}"));
        }
    }
    explain_missing_gpu(instead);
    Ok(())
}

/// Returns whether a local X server accepts connections. A remote display is assumed to do so.
#[cfg(target_os = "linux")]
fn x_server_responds(display: &str) -> bool {
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
fn x_server_responds(_: &str) -> bool {
    true
}

/// Replaces Bevy's panic about a missing graphics adapter with a one-line error.
fn explain_missing_gpu(instead: &'static str) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if message.contains("Unable to find a GPU") {
            bevy_unlag_server::say_error(format_args!(
                "error: no graphics adapter was found; install a Vulkan driver, such as Mesa's, or {instead}"
            ));
            std::process::exit(2);
        }
        usual(info);
    }));
}

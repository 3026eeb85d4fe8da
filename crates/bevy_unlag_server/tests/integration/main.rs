//! Integration tests of `bevy_unlag_server`, in one binary: linking Bevy takes longer than most of them.

mod life_cycle;
mod reflection;
#[cfg(unix)]
mod signals;
mod watchdog;

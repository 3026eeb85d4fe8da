//! Integration tests of `bevy_unlag_server`, in one binary: linking Bevy takes longer than most of them.

#[cfg(feature = "admin")]
mod admin;
mod life_cycle;
mod log_table;
#[cfg(feature = "metrics")]
mod metrics;
mod reflection;
#[cfg(unix)]
mod signals;
mod watchdog;

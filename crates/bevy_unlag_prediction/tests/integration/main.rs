//! Integration tests of `bevy_unlag_prediction`, in one binary: linking Bevy takes longer than most of them.

mod client_server;
mod properties;
mod reflection;

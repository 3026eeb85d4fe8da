//! Integration tests of `bevy_unlag_agones`, in one binary: linking Bevy takes longer than most of them.

mod allocation;
mod health;
mod life_cycle;
mod players;
mod reflection;
mod server;
mod stand_in;
mod untrusted_sidecar;

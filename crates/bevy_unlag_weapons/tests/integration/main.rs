//! Integration tests of `bevy_unlag_weapons`, in one binary: linking Bevy takes longer than most of them.

mod adversaries;
mod health;
mod projectiles;
mod reflection;
mod rifle;
mod weapon_state;

//! Integration tests of `bevy_unlag_rewind`, in one binary: linking Bevy takes longer than most of them.

mod cover;
mod differential;
mod evidence;
mod humanoid_file;
mod level_copy;
mod moved_colliders;
mod reflection;
mod rewind;
mod shapes;
mod stamps;

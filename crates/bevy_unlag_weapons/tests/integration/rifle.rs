//! Weapons through the public API: a listen server host shoots a dummy.

mod falloff;
mod gravity;
mod range;
mod rounds;
mod setup_diagnostics;
mod shot_kinds;
mod teams;
mod trigger;

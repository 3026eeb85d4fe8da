//! Integration tests of the mover in small levels, through the public API.

mod common;

mod abilities;
mod air;
mod backend;
mod bad_input;
mod bases;
mod closed_forms;
mod engine_pitfalls;
mod fuzz;
mod input;
mod kart;
mod ledges;
mod modes;
mod nudge;
mod pawns;
mod proxies;
mod reflection;
mod replay;
mod time_dilation;
mod volumes;
mod walking;

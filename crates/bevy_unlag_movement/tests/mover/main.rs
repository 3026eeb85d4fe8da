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
mod kart;
mod modes;
mod pawns;
mod reflection;
mod replay;
mod volumes;
mod walking;

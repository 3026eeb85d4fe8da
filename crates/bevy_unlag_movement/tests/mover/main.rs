//! Integration tests of the mover in small levels, through the public API.

mod common;

mod abilities;
mod air;
mod backend;
mod bad_input;
mod bases;
mod fuzz;
mod kart;
mod modes;
mod pawns;
mod replay;
mod tables;
mod traps;
mod volumes;
mod walking;

//! Validation of client view claims: impossible view times are never accepted, honest claims pass
//! unchanged, and cheating gains nothing.

mod cheats;
mod fuzz;
mod honest_clients;
mod link;
mod sent_snapshots;
mod simulation;
mod strafer;
mod validation_rules;

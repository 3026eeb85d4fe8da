//! Validation of client view claims: impossible view times are never accepted, honest claims pass
//! unchanged, and cheating gains nothing.

mod client;
mod fuzz;
mod gain;
mod honest;
mod link;
mod policy;
mod sent;
mod strafer;

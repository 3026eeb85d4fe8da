//! What a client says of its screen, against what the server knows: nothing that cannot have been, every
//! honest claim as it is, and nothing to be gained by lying.

mod client;
mod fuzz;
mod gain;
mod honest;
mod link;
mod policy;
mod sent;
mod strafer;

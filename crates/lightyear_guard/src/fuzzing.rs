//! Entry points for fuzzers. Not part of the interface: they change without notice.

mod token;

pub use token::TokenProbe;

pub use crate::ingress::PacketFilterProbe;

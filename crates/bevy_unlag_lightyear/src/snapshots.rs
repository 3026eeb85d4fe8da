//! Pawn snapshots: from the server's frame history into messages, and on clients into the smoothing inboxes.
//!
//! Snapshots bypass replication, which retransmits a change until it is acknowledged and measures how long a
//! change has waited from its last acknowledgement. With latency that gives neither fixed rates nor
//! priorities. Here a lost snapshot is superseded by the next one.

mod deliver;
mod message;
mod priority;
mod publish;

pub use deliver::SnapshotsDropped;
pub(crate) use deliver::plugin as client_plugin;
pub use publish::UpdateInterval;
pub(crate) use publish::plugin as server_plugin;

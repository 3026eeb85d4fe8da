//! Pawn snapshots: from the server's frame history into messages, and on clients into the smoothing inboxes.
//!
//! Snapshots bypass replication, which retransmits a change until it is acknowledged and measures how long a
//! change has waited from its last acknowledgement. With latency that gives neither fixed rates nor
//! priorities. Here a lost snapshot is superseded by the next one.

mod priority;
mod publisher;
mod snapshot_message;
mod snapshot_receiver;

pub(crate) use priority::SnapshotQueue;
pub use priority::SnapshotWeight;
#[cfg(feature = "prediction")]
pub(crate) use publisher::Departing;
pub use publisher::UpdateInterval;
pub(crate) use publisher::plugin as server_plugin;
pub use snapshot_receiver::DroppedSnapshots;
pub(crate) use snapshot_receiver::plugin as client_plugin;

//! What clients see of pawns: from the server's memory into messages, and from there to smoothing.
//!
//! Not by replication: that sends a change again until it is acknowledged, and counts how long
//! something has waited from its last acknowledgement, so with latency it has neither rates nor
//! priorities. A snapshot that is lost is replaced by the next one.

mod budget;
mod deliver;
mod message;
mod publish;
mod visibility;

pub(crate) use budget::Outlet;
pub use budget::{DownlinkBudget, LinkBudget};
pub use deliver::SnapshotsDropped;
pub(crate) use deliver::{PawnNames, deliver, names, plugin as client_plugin};
pub use publish::UpdateInterval;
pub(crate) use publish::{plugin as server_plugin, publish};
pub use visibility::ComponentFilters;

//! System sets of the guard.

use bevy::prelude::*;

/// The systems of the guard.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GuardSystems {
    /// `PreUpdate`, between [`LinkSystems::Receive`](lightyear::link::LinkSystems::Receive) and
    /// [`ConnectionSystems::Receive`](lightyear::connection::ConnectionSystems::Receive): drops datagrams
    /// that netcode must not see. Other systems that touch received datagrams, such as a simulated link,
    /// belong before it.
    Datagrams,
    /// The same place, after [`Datagrams`](Self::Datagrams): checks connect tokens.
    Tokens,
    /// `PreUpdate`, between [`ConnectionSystems::Receive`](lightyear::connection::ConnectionSystems::Receive)
    /// and [`TransportSystems::Receive`](lightyear_transport::plugin::TransportSystems::Receive): drops
    /// decrypted packets that lightyear must not see.
    Packets,
    /// `PostUpdate`, between [`ConnectionSystems::Send`](lightyear::connection::ConnectionSystems::Send) and
    /// [`LinkSystems::Send`](lightyear::link::LinkSystems::Send): denials and disconnects leave.
    Answer,
}

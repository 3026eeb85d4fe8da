//! System sets of the transport.

use bevy::prelude::*;

/// System sets in which a game may take part, or which it may wait for.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NetSystems {
    /// In [`PreUpdate`], between lightyear's `LinkSystems::Receive` and `ConnectionSystems::Receive`:
    /// [`NetSim`](crate::NetSim) takes the packets that the transport has received and passes on those that
    /// are due.
    ReceiveSimulated,
    /// In [`PreUpdate`]: writes [`Received`](crate::Received) messages.
    DeliverMessages,
    /// In [`PreUpdate`] of a server: writes the owners' changes of predicted values into
    /// [`ValueRequest`](crate::ValueRequest)s.
    DeliverRequests,
    /// In [`PreUpdate`] of a server, after [`DeliverRequests`](Self::DeliverRequests): for systems of the game
    /// that refuse changes.
    ValidateRequests,
    /// In [`PreUpdate`] of a server, after [`ValidateRequests`](Self::ValidateRequests): applies the changes
    /// that were not refused.
    ApplyRequests,
    /// In [`PostUpdate`] of a server, before snapshots are sent: tells clients which pawns are hidden from now on.
    /// Write [`HiddenPawns`](crate::HiddenPawns) before.
    AnnounceHidden,
    /// In [`PostUpdate`]: sends what was put into an [`Outbox`](crate::Outbox).
    SendMessages,
    /// In [`PostUpdate`], between lightyear's `ConnectionSystems::Send` and `LinkSystems::Send`:
    /// [`NetSim`](crate::NetSim) takes the packets that the connection sends and passes on those that are due.
    SendSimulated,
}

/// Systems in [`PreUpdate`] that hand received messages to mailboxes, in this order.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ReceiveSystems {
    Roles,
    States,
    Moves,
    Snapshots,
    Shots,
}

/// Systems in [`PostUpdate`] that send mailboxes, in this order.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SendSystems {
    /// First: tracers use what snapshots leave of the budget.
    Snapshots,
    Acks,
    Shots,
}

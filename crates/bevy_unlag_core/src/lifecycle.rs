//! Events by which a transport resets the state of the other crates.
//!
//! The transport triggers them; each crate observes them and resets its own components and resources.

use bevy::prelude::*;

use crate::tick::Tick;

/// The owner of a pawn has reconnected over a new link: measurements of the old link no longer apply.
/// Triggered on servers, for the pawn.
#[derive(EntityEvent, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct OwnerReconnected {
    /// Pawn of the owner.
    pub entity: Entity,
}

/// A new match starts: paths, queued moves, projectiles and recorded frames of the old one are void. Ticks
/// continue. Triggered on servers and clients.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct MatchReset {
    /// Last tick of the old match.
    pub tick: Tick,
}

/// This client has left its server: the next server counts its own ticks. Triggered on clients.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct ServerLeft;

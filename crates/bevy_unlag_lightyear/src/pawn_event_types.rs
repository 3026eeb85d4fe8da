//! Registered types of pawn events.

use bevy::{ecs::world::EntityWorldMut, prelude::*};
use bevy_unlag_core::Tick;

/// Registered types, in the order of their numbers on the wire.
#[derive(Resource, Default)]
pub(crate) struct PawnEventTypes(pub Vec<PawnEventType>);

pub(crate) struct PawnEventType {
    pub name: &'static str,
    /// Takes an event that arrived. Returns whether its bytes are valid.
    pub receive: fn(&mut EntityWorldMut, Tick, &[u8]) -> bool,
}

impl PawnEventTypes {
    /// Returns the names of the types, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|known| known.name)
    }
}

//! Ids of pawns: their assignment, and the map from ids to entities.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::NetId;

use crate::pawn::ReplicatedPawn;

/// Map from pawn ids to entities.
#[derive(Resource, Default)]
pub(crate) struct NetIdMap(HashMap<NetId, Entity>);

impl NetIdMap {
    pub(crate) fn get(&self, name: NetId) -> Option<Entity> {
        self.0.get(&name).copied()
    }
}

/// On servers: the id that was assigned last.
#[derive(Resource, Default)]
struct LastAssigned(u16);

impl LastAssigned {
    /// Returns a free id for a pawn. An id is used again only after all others.
    fn advance(&mut self, pawn: Entity, map: &NetIdMap) -> Option<NetId> {
        let mut ids = (1..=u16::MAX).map(|step| NetId(self.0.wrapping_add(step)));
        let Some(id) = ids.find(|id| map.get(*id).is_none()) else {
            error!("pawn {pawn} gets no NetId: all are in use");
            return None;
        };
        self.0 = id.0;
        Some(id)
    }
}

/// Assigns a free id to a pawn that was spawned without one.
fn assign(
    added: On<Add, ReplicatedPawn>,
    pawns: Query<(), Without<NetId>>,
    map: Res<NetIdMap>,
    mut last: ResMut<LastAssigned>,
    mut commands: Commands,
) {
    if pawns.contains(added.entity)
        && let Some(id) = last.advance(added.entity, &map)
    {
        commands.entity(added.entity).insert(id);
    }
}

/// Enters an entity into the map. On a server a living pawn keeps its id, and a newer entity with the same one
/// gets a free id. On a client a despawn may arrive after the spawn that uses its id again.
fn enter(
    named: On<Insert, NetId>,
    names: Query<&NetId>,
    pawns: Query<(), With<ReplicatedPawn>>,
    mut map: ResMut<NetIdMap>,
    last: Option<ResMut<LastAssigned>>,
    mut commands: Commands,
) {
    let new = named.entity;
    let Ok(&id) = names.get(new) else { return };
    let older = map.get(id).filter(|older| *older != new && pawns.contains(*older));
    let (Some(older), Some(mut last)) = (older, last) else {
        map.0.insert(id, new);
        return;
    };
    let free = last.advance(new, &map);
    error!(
        "{new} was given {id:?}, which the living pawn {older} has: it gets {free:?} instead. Spawn pawns \
         without a NetId to get a free one, or choose ids that the server has not assigned; it counts upwards \
         from 1"
    );
    if let Some(free) = free {
        commands.entity(new).insert(free);
    }
}

/// Adds the assignment of ids to a server.
pub(crate) fn server_plugin(app: &mut App) {
    app.init_resource::<LastAssigned>().add_observer(assign);
}

/// Adds the map from pawn ids to entities. On both sides: game messages refer to pawns, too.
pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<NetIdMap>().add_observer(enter).add_observer(
        |gone: On<Discard, NetId>, names: Query<&NetId>, mut map: ResMut<NetIdMap>| {
            // A newer pawn may have the same id by now.
            if let Ok(name) = names.get(gone.entity)
                && map.0.get(name) == Some(&gone.entity)
            {
                map.0.remove(name);
            }
        },
    );
}

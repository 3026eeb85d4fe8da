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

/// The id that was assigned last.
#[derive(Resource, Default)]
struct LastAssigned(u16);

/// Assigns a free id to a pawn that was spawned without one. An id is used again only after all others.
fn assign(
    added: On<Add, ReplicatedPawn>,
    pawns: Query<(), Without<NetId>>,
    map: Res<NetIdMap>,
    mut last: ResMut<LastAssigned>,
    mut commands: Commands,
) {
    if !pawns.contains(added.entity) {
        return;
    }
    let free = (1..=u16::MAX).map(|step| last.0.wrapping_add(step)).find(|id| map.get(NetId(*id)).is_none());
    let Some(id) = free else {
        error!("pawn {} gets no NetId: all are in use", added.entity);
        return;
    };
    last.0 = id;
    commands.entity(added.entity).insert(NetId(id));
}

/// Adds the assignment of ids to a server.
pub(crate) fn server_plugin(app: &mut App) {
    app.init_resource::<LastAssigned>().add_observer(assign);
}

/// Adds the map from pawn ids to entities. On both sides: game messages refer to pawns, too.
pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<NetIdMap>()
        .add_observer(|named: On<Insert, NetId>, names: Query<&NetId>, mut map: ResMut<NetIdMap>| {
            if let Ok(name) = names.get(named.entity) {
                map.0.insert(*name, named.entity);
            }
        })
        .add_observer(|gone: On<Discard, NetId>, names: Query<&NetId>, mut map: ResMut<NetIdMap>| {
            // A newer pawn may have the same id by now.
            if let Ok(name) = names.get(gone.entity)
                && map.0.get(name) == Some(&gone.entity)
            {
                map.0.remove(name);
            }
        });
}

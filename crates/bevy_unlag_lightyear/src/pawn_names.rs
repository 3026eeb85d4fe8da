//! Map from the ids of pawns to their entities.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::NetId;

/// Map from pawn ids to entities.
#[derive(Resource, Default)]
pub(crate) struct NetIdMap(HashMap<NetId, Entity>);

impl NetIdMap {
    pub(crate) fn get(&self, name: NetId) -> Option<Entity> {
        self.0.get(&name).copied()
    }
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

//! Receiving snapshots on the client: from messages into the inboxes of pawns.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::{HeardTick, LocalControl, NetId};
use bevy_unlag_smoothing::SnapshotInbox;
use lightyear::prelude::*;

use super::message::Updates;
use crate::{Bandwidth, MessageClass, protocol::SnapshotMessage};

/// Maximum number of updates in an inbox that no system drains.
const MOST_WAITING: usize = 512;

/// Counters of received snapshots that could not be used. They only grow.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SnapshotsDropped {
    /// Updates of unknown pawns: not replicated yet, or despawned.
    pub unknown: u64,
    /// Messages with invalid data. The updates before the invalid part are used.
    pub malformed: u64,
}

/// Map from pawn ids to entities.
#[derive(Resource, Default)]
pub(crate) struct PawnNames(HashMap<NetId, Entity>);

impl PawnNames {
    pub(crate) fn get(&self, name: NetId) -> Option<Entity> {
        self.0.get(&name).copied()
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<SnapshotsDropped>().init_resource::<HeardTick>();
}

/// Adds the map from pawn ids to entities. On both sides: game messages refer to pawns, too.
pub(crate) fn names(app: &mut App) {
    app.init_resource::<PawnNames>()
        .add_observer(|named: On<Insert, NetId>, names: Query<&NetId>, mut map: ResMut<PawnNames>| {
            if let Ok(name) = names.get(named.entity) {
                map.0.insert(*name, named.entity);
            }
        })
        .add_observer(|gone: On<Discard, NetId>, names: Query<&NetId>, mut map: ResMut<PawnNames>| {
            // A newer pawn may have the same id by now.
            if let Ok(name) = names.get(gone.entity)
                && map.0.get(name) == Some(&gone.entity)
            {
                map.0.remove(name);
            }
        });
}

pub(crate) fn deliver(
    names: Res<PawnNames>,
    mut links: Query<&mut MessageReceiver<SnapshotMessage>, With<Client>>,
    mut pawns: Query<Option<&mut SnapshotInbox>, Without<LocalControl>>,
    mut dropped: ResMut<SnapshotsDropped>,
    mut heard: ResMut<HeardTick>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for mut link in &mut links {
        for message in link.receive() {
            bandwidth.count(MessageClass::Snapshots, message.0.len(), 1);
            let Ok(updates) = Updates::read(&message.0) else {
                dropped.malformed += 1;
                continue;
            };
            heard.arrived(updates.base());
            for one in updates {
                let Ok((name, update)) = one else {
                    dropped.malformed += 1;
                    break;
                };
                let Some(pawn) = names.0.get(&name) else {
                    dropped.unknown += 1;
                    continue;
                };
                // The own pawn is predicted and not smoothed.
                match pawns.get_mut(*pawn) {
                    Ok(Some(mut inbox)) if inbox.0.len() < MOST_WAITING => inbox.0.push(update),
                    Ok(None) => dropped.unknown += 1,
                    _ => {}
                }
            }
        }
    }
}

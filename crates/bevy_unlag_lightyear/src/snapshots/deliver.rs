//! The client's half: from messages into the inboxes of pawns.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::{HeardTick, LocalControl, NetId};
use bevy_unlag_smoothing::SnapshotInbox;
use lightyear::prelude::*;

use super::message::Updates;
use crate::{Bandwidth, MessageClass, protocol::SnapshotMessage};

/// Updates that may wait in an inbox that nobody empties.
const MOST_WAITING: usize = 512;

/// What of snapshots was of no use here. The counters only grow.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SnapshotsDropped {
    /// Updates of pawns that are not here: not yet, because replication announces them, or no more.
    pub unknown: u64,
    /// Messages with bits that are no snapshots. What was read before them counts.
    pub malformed: u64,
}

/// Which pawn is meant by a name.
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

/// On both sides: a game's messages name pawns, too.
pub(crate) fn names(app: &mut App) {
    app.init_resource::<PawnNames>()
        .add_observer(|named: On<Insert, NetId>, names: Query<&NetId>, mut map: ResMut<PawnNames>| {
            if let Ok(name) = names.get(named.entity) {
                map.0.insert(*name, named.entity);
            }
        })
        .add_observer(|gone: On<Discard, NetId>, names: Query<&NetId>, mut map: ResMut<PawnNames>| {
            // A newer pawn may have the name by now.
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
                // What is left: the own pawn, which is predicted and not smoothed.
                match pawns.get_mut(*pawn) {
                    Ok(Some(mut inbox)) if inbox.0.len() < MOST_WAITING => inbox.0.push(update),
                    Ok(None) => dropped.unknown += 1,
                    _ => {}
                }
            }
        }
    }
}

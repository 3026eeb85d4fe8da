//! Receiving snapshots on the client: from messages into the inboxes of pawns.

use bevy::prelude::*;
use bevy_unlag_core::{LastReceivedSnapshot, LocalControl};
use bevy_unlag_smoothing::{SmoothingSystems, SnapshotInbox};

use super::snapshot_message::SnapshotReader;
use crate::{
    bandwidth::ServerMessages, net_ids::NetIdMap, protocol::SnapshotMessage, system_sets::ReceiveSystems,
};

/// Maximum number of updates in an inbox that no system drains.
const MAX_INBOX: usize = 512;

/// Counters of received snapshots that could not be used. They only grow.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DroppedSnapshots {
    /// Updates of unknown pawns: not replicated yet, or despawned.
    pub unknown: u64,
    /// Messages with invalid data. The updates before the invalid part are used.
    pub malformed: u64,
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<DroppedSnapshots>()
        .init_resource::<LastReceivedSnapshot>()
        .configure_sets(PreUpdate, ReceiveSystems::Snapshots.in_set(SmoothingSystems::Deliver))
        .add_systems(PreUpdate, deliver.in_set(ReceiveSystems::Snapshots));
}

fn deliver(
    names: Res<NetIdMap>,
    mut messages: ServerMessages<SnapshotMessage>,
    mut pawns: Query<(Option<&mut SnapshotInbox>, Has<LocalControl>)>,
    mut dropped: ResMut<DroppedSnapshots>,
    mut last_received: ResMut<LastReceivedSnapshot>,
    mut commands: Commands,
) {
    for message in messages.take() {
        let Ok(updates) = SnapshotReader::read(&message.0) else {
            dropped.malformed += 1;
            continue;
        };
        last_received.record(updates.base());
        for one in updates {
            let Ok((name, update)) = one else {
                dropped.malformed += 1;
                break;
            };
            let Some(pawn) = names.get(name) else {
                dropped.unknown += 1;
                continue;
            };
            match pawns.get_mut(pawn) {
                Ok((Some(mut inbox), _)) if inbox.0.len() < MAX_INBOX => inbox.0.push(update),
                // The own pawn is predicted and not smoothed, until shortly before its player leaves it.
                Ok((None, true)) => {
                    commands.entity(pawn).insert(SnapshotInbox(vec![update]));
                }
                Ok((None, false)) => dropped.unknown += 1,
                _ => {}
            }
        }
    }
}

//! Snapshot acknowledgements of the players.

use bevy::prelude::*;
use bevy_unlag_core::SnapshotAcks;
use bevy_unlag_record::PlayerAck;
use lightyear::prelude::ControlledBy;

use super::MatchRecording;

/// Records the packets of this tick.
pub(super) fn record(
    pawns: Query<(&SnapshotAcks, &ControlledBy)>,
    mut recording: ResMut<MatchRecording>,
    mut acks: Local<Vec<PlayerAck>>,
) {
    acks.clear();
    for (packets, owner) in &pawns {
        let Some(player) = recording.links.get(&owner.owner).copied() else { continue };
        acks.extend(packets.packets().iter().map(|ack| PlayerAck { player, ack: *ack }));
    }
    // Stable: the packets of a player stay in order.
    acks.sort_by_key(|ack| ack.player);
    if let Some(recorder) = recording.recorder() {
        recorder.acks(&acks);
    }
}

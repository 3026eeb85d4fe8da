//! Resets of a server's pawns: their owner has reconnected, or a new match starts.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, MatchReset, MoveModel, NetRole, OwnerReconnected, SnapshotAcks};

use crate::{
    mailbox::{IncomingMoves, OutgoingMoveAcks},
    move_queue::MoveQueue,
    scheduled_pushes::ScheduledPushes,
};

pub(crate) fn reset_connection<M: MoveModel>(
    reconnected: On<OwnerReconnected>,
    tick: Res<CurrentTick>,
    mut queues: Query<&mut MoveQueue<M>>,
    mut commands: Commands,
) {
    let pawn = reconnected.entity;
    if let Ok(mut queue) = queues.get_mut(pawn) {
        queue.start_new_epoch(tick.0);
        let mailboxes = (SnapshotAcks::default(), IncomingMoves::default(), OutgoingMoveAcks::default());
        commands.entity(pawn).try_insert(mailboxes);
    }
}

type Pawn<M> = (
    &'static NetRole,
    Option<&'static mut MoveQueue<M>>,
    Option<&'static mut ScheduledPushes<M>>,
    Option<&'static mut IncomingMoves>,
    Option<&'static mut OutgoingMoveAcks>,
);

/// Resets the pawns that this app has the authority over; a client's own pawn is corrected by the server.
pub(crate) fn reset_match<M: MoveModel>(reset: On<MatchReset>, mut pawns: Query<Pawn<M>>) {
    for (role, queue, pushes, moves, answers) in &mut pawns {
        if *role != NetRole::Authority {
            continue;
        }
        if let Some(mut queue) = queue {
            queue.start_new_epoch(reset.tick);
        }
        if let Some(mut pushes) = pushes {
            *pushes = ScheduledPushes::default();
        }
        if let Some(mut moves) = moves {
            *moves = IncomingMoves::default();
        }
        if let Some(mut answers) = answers {
            answers.0.clear();
        }
    }
}

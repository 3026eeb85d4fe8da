//! Resets of shots and projectiles: new matches, another server.

use bevy::prelude::*;
use bevy_unlag_core::{MatchReset, ServerLeft};

use crate::{
    missed_shots::{UnansweredShots, missing_move},
    projectile::{ClearProjectiles, ProjectilesInFlight},
    shot_messages::OutgoingShotMessages,
    verdict::ShotVerdict,
};

pub(crate) fn plugin(app: &mut App) {
    app.add_message::<ClearProjectiles>().add_observer(reset_match).add_observer(
        |_: On<ServerLeft>,
         mut forget: MessageWriter<ClearProjectiles>,
         mut unanswered: ResMut<UnansweredShots>,
         mut verdicts: MessageWriter<ShotVerdict>| {
            forget.write(ClearProjectiles);
            // No server will answer them any more.
            verdicts.write_batch(unanswered.take().into_iter().map(missing_move));
        },
    );
}

/// A host draws its projectiles as clients do, and never receives their ends.
fn reset_match(
    _: On<MatchReset>,
    flights: Option<ResMut<ProjectilesInFlight>>,
    mut mailboxes: Query<&mut OutgoingShotMessages>,
    mut forget: MessageWriter<ClearProjectiles>,
) {
    for mut mailbox in &mut mailboxes {
        mailbox.0.clear();
    }
    if let Some(mut flights) = flights {
        flights.clear();
    }
    forget.write(ClearProjectiles);
}

//! Resets of recorded frames and of view time validation: reconnects, new matches, another server.

use bevy::prelude::*;
use bevy_unlag_core::{MatchReset, OwnerReconnected, ServerLeft};

use crate::{
    history::FrameHistory, limits::MatchStart, table::RewindTable, view_time_validator::ViewTimeValidator,
};

pub(crate) fn plugin(app: &mut App) {
    app.add_observer(reset_connection).add_observer(reset_match).add_observer(
        |_: On<ServerLeft>, mut start: ResMut<MatchStart>| {
            start.0 = None;
        },
    );
}

fn reset_connection(reconnected: On<OwnerReconnected>, mut validators: Query<&mut ViewTimeValidator>) {
    if let Ok(mut validator) = validators.get_mut(reconnected.entity) {
        *validator = ViewTimeValidator::default();
    }
}

/// The table goes, too: it holds targets that were despawned in the old match.
fn reset_match(
    reset: On<MatchReset>,
    mut start: ResMut<MatchStart>,
    mut table: ResMut<RewindTable>,
    mut histories: Query<&mut FrameHistory>,
) {
    // The tick itself belongs to the old match.
    start.0 = Some(reset.tick.offset(1));
    *table = RewindTable::default();
    for mut history in &mut histories {
        *history = FrameHistory::default();
    }
}

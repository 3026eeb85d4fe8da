//! Replication of teams.

use bevy::prelude::*;
use bevy_unlag_rewind::Team;
use lightyear::prelude::AppComponentExt;

/// Sends the [`Team`] of every replicated entity to its clients when it spawns or they join, and again whenever
/// it changes or is removed. This function alone decides how a team travels.
pub(crate) fn plugin(app: &mut App) {
    app.component::<Team>().replicate();
}

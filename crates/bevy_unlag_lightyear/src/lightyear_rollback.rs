//! lightyear's rollback, which runs the fixed schedules again for entities that lightyear predicts.

use bevy::prelude::*;
use bevy_unlag_core::TickSystems;
use lightyear::prelude::is_in_rollback;

/// Skips all systems of the suite in lightyear's rollback: a move is made once, and replayed by the suite
/// itself. Costs one look-up per fixed schedule and tick.
pub(crate) fn plugin(app: &mut App) {
    let skipped = || TickSystems.run_if(not(is_in_rollback));
    app.configure_sets(FixedFirst, skipped())
        .configure_sets(FixedPreUpdate, skipped())
        .configure_sets(FixedUpdate, skipped())
        .configure_sets(FixedPostUpdate, skipped())
        .configure_sets(FixedLast, skipped());
}

//! Per-client visibility of pawns, based on replication.

use bevy::prelude::*;
use bevy_replicon::{
    prelude::VisibilityFilter,
    server::visibility::{
        client_visibility::ClientVisibility, filters_mask::FilterBit, registry::FilterRegistry,
    },
};
use lightyear::prelude::ControlledBy;

/// Visibility filters that hide single components of a pawn, but not the pawn itself.
///
/// Replication does not tell which of a game's [`VisibilityFilter`]s do that. So any filter that hides
/// something of a pawn from a client also withholds its snapshots, lest a hidden position leak. Register
/// filters with component scope here, otherwise pawns with such a filter stand still on those clients.
#[derive(Resource, Default, Debug)]
pub struct ComponentFilters(Vec<FilterBit>);

impl ComponentFilters {
    /// Registers a filter that was added before with `add_visibility_filter`. Ignores unknown filters.
    pub fn add<F: VisibilityFilter>(app: &mut App) {
        let Some(bit) = app.world().get_resource::<FilterRegistry>().and_then(FilterRegistry::get_bit::<F>)
        else {
            return;
        };
        let mut filters = app.world_mut().get_resource_or_init::<Self>();
        if !filters.0.contains(&bit) {
            filters.0.push(bit);
        }
    }

    /// Whether a client may know the position of a pawn.
    pub(crate) fn shows(&self, client: &ClientVisibility, pawn: Entity) -> bool {
        client.get(pawn).iter().all(|bit| self.0.contains(&bit))
    }
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<ComponentFilters>();
    // It hides `ControlledSend`, which marks a pawn as a client's own, from all clients but the owner.
    ComponentFilters::add::<ControlledBy>(app);
}

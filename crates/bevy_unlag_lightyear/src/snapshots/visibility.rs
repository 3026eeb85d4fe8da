//! Who may see whom, as replication has it.

use bevy::prelude::*;
use bevy_replicon::{
    prelude::VisibilityFilter,
    server::visibility::{
        client_visibility::ClientVisibility, filters_mask::FilterBit, registry::FilterRegistry,
    },
};
use lightyear::prelude::ControlledBy;

/// Visibility filters that hide single components of a pawn and not the pawn itself.
///
/// Replication does not say which of a game's own [`VisibilityFilter`]s do that, so any filter that hides
/// something of a pawn from a client also keeps its snapshots from it: nobody learns by mistake where
/// somebody hides. A filter whose scope is components is to be named here, or pawns that it is on stand
/// still for those clients.
#[derive(Resource, Default, Debug)]
pub struct ComponentFilters(Vec<FilterBit>);

impl ComponentFilters {
    /// Names a filter that was registered before with `add_visibility_filter`. One that was not is ignored.
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

    /// Whether a client may know where a pawn is.
    pub(crate) fn shows(&self, client: &ClientVisibility, pawn: Entity) -> bool {
        client.get(pawn).iter().all(|bit| self.0.contains(&bit))
    }
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<ComponentFilters>();
    // It tells the owner, and only the owner, that the pawn is its own.
    ComponentFilters::add::<ControlledBy>(app);
}

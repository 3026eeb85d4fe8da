//! Plugins and system sets.

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, PoseSampler, SetupDiagnostics, TickSystems, VisualSystems, require_plugin};
use bevy_unlag_smoothing::{
    PathRecordingPlugin, RecordTransform, SmoothingSystems, TransformRecordingPlugin,
};
use core::marker::PhantomData;

use crate::{
    bounds_check, drawn_query,
    evidence::EvidenceLog,
    history::{self, FrameHistory},
    limb_nodes,
    limb_plugin::LimbNodesPlugin,
    limits::{MatchStart, RewindLimits},
    missing_hit_boxes, reset,
    system_sets::RewindSystems,
    table::{self, RewindTable},
    view_time_validator::{self, ViewValidationConfig},
};

/// Plugin that records the frames of every pawn of the model `M` that has a [`FrameHistory`].
#[doc(alias = "lag compensation")]
pub struct RewindPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(RewindPlugin<M>);

impl<M: MoveModel> Plugin for RewindPlugin<M> {
    fn build(&self, app: &mut App) {
        require_plugin(app, RewindQueryPlugin);
        app.init_resource::<SetupDiagnostics>()
            .add_systems(Update, missing_hit_boxes::report_missing_hit_boxes);
        require_plugin(app, PathRecordingPlugin::<M>::default());
        // An error says only that the plugin of another model has done so.
        let _ = app.try_register_required_components::<RecordTransform, FrameHistory>();
    }
}

/// Plugin with everything that [`RewindQuery`](crate::RewindQuery) and [`DrawnQuery`](crate::DrawnQuery)
/// need, for servers and clients. [`RewindPlugin`] adds it, and so do the weapon plugins.
#[derive(Debug, Default)]
pub struct RewindQueryPlugin;

impl Plugin for RewindQueryPlugin {
    fn build(&self, app: &mut App) {
        require_plugin(app, TransformRecordingPlugin);
        require_plugin(app, LimbNodesPlugin);
        if cfg!(debug_assertions) {
            app.add_systems(
                PostUpdate,
                bounds_check::warn_about_boxes_out_of_bounds.after(RewindSystems::ReadLimbs),
            );
        }
        app.add_systems(PostUpdate, limb_nodes::record.in_set(RewindSystems::ReadLimbs));
        app.init_resource::<PoseSampler>()
            .init_resource::<RewindLimits>()
            .init_resource::<MatchStart>()
            .add_plugins(reset::plugin)
            .init_resource::<EvidenceLog>()
            .init_resource::<RewindTable>()
            .init_resource::<ViewValidationConfig>()
            .add_observer(table::on_despawn)
            .configure_sets(
                FixedPostUpdate,
                (RewindSystems::Record, RewindSystems::UpdateTable)
                    .chain()
                    .after(SmoothingSystems::Record)
                    .in_set(TickSystems),
            )
            .add_systems(
                FixedPostUpdate,
                (
                    history::record.in_set(RewindSystems::Record),
                    view_time_validator::receive_acknowledgements.in_set(RewindSystems::Record),
                    table::update_table.in_set(RewindSystems::UpdateTable),
                ),
            )
            .add_systems(Last, table::update_table.in_set(RewindSystems::UpdateTable))
            .add_systems(PostUpdate, drawn_query::set_base_view_time.after(VisualSystems::Draw));
        #[cfg(feature = "moved_colliders")]
        app.add_plugins(crate::query::moved_colliders_plugin);
    }
}

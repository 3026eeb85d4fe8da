//! Server-side rewind (lag compensation): the server keeps a history of every pawn and poses pawns for a
//! hit test as the shooter's screen showed them.
//!
//! * [`HitBoxes`] hold a pawn's limbs as rapier collider shapes, each in a [`HitGroup`]. They never enter
//!   the physics world, so no live collider is moved for a shot.
//! * Limb poses come from a [`LimbRig`](bevy_unlag_core::LimbRig), or from the [`LimbNodes`] of an
//!   animated model, which [`HitBoxBones`] finds by the names in a [`HitBoxFile`].
//! * [`FrameHistory`] stores the snapshots that were *sent*, because a client can only have drawn those,
//!   and the server's own poses of the last ticks.
//! * [`RecordTransform`] records entities without a movement model in the same way: AI characters, props,
//!   platforms.
//! * [`RewindQuery::at`] selects a moment. The [`Rewound`] that it returns casts rays and shapes against
//!   all candidates, posed by the [`PoseSampler`] that also draws them, and against the world: static
//!   geometry, and every [`Occluder`] where it was drawn.
//! * [`RewindLimits`] bound how far back a query may reach.
//! * [`DrawnQuery`] is the client's counterpart: it casts the same ray against what the local screen last
//!   showed.

mod body_bounds;
mod bones;
mod bounds_check;
mod cover;
mod drawn_query;
mod evidence;
mod frame;
mod history;
mod hit_box_asset;
mod hit_box_bones;
mod hit_box_file;
mod hit_boxes;
mod humanoid;
mod limb_nodes;
mod limits;
mod missing_hit_boxes;
mod moved_colliders;
mod query;
mod query_result;
mod reflection;
mod reset;
mod rewind_time_source;
#[cfg(feature = "gizmos")]
mod rewind_view;
mod shape;
mod swept_bounds;
mod table;
mod target;
mod view;
mod view_time_validator;
mod world;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, PoseSampler, SetupDiagnostics, VisualSystems};
use bevy_unlag_smoothing::{
    PathRecordingPlugin, RecordTransform, SmoothingSystems, TransformRecordingPlugin,
};

pub use body_bounds::sample_poses;
pub use checked_ron::{RonError, RonFile};
pub use cover::CoverProtection;
pub use drawn_query::DrawnQuery;
pub use evidence::{
    BaseEvidence, CandidateEvidence, DrawnBody, DrawnEvidence, DrawnFrames, EvidenceLog, EvidenceNotes,
    EvidencePart, OccluderEvidence, ShotEvidence,
};
pub use frame::Frame;
pub use history::FrameHistory;
pub use hit_box_asset::HitBoxAsset;
pub use hit_box_bones::HitBoxBones;
pub use hit_box_file::{Bone, FileBox, FileOffset, FileShape, HitBoxFile};
pub use hit_boxes::{BodyBounds, HitBox, HitBoxes, HitGroup};
pub use humanoid::{HUMANOID_LIMBS, humanoid_hit_boxes, humanoid_rig};
pub use limb_nodes::{DrawnLimbs, LimbNodes, LimbNodesPlugin, LimbRecordInterval, LimbSystems};
pub use limits::{HighPing, MatchStart, RewindLimits, RewindMode, RewindRefusal};
pub use moved_colliders::{MovedColliders, MovedPoses, RewindBackend};
pub use query::{
    Ballistic, BeamCache, BlastHit, ClaimedTarget, Flight, FlightStepHit, MeleeArc, MeleeHit, PelletCount,
    Pellets, PosedTargets, RewindQuery, Rewound, WallPenetration,
};
pub use query_result::{Miss, RewoundTime, TargetHit};
pub use rewind_time_source::RewindTimeSource;
#[cfg(feature = "gizmos")]
pub use rewind_view::{RewindGizmos, RewindView, RewindViewPlugin};
pub use table::RewindTable;
pub use view::{HitLayers, RewindFilter, RewindTime, StampOverride, Team, View};
pub use view_time_validator::{
    ValidatedOverrides, ValidatedViewTime, ViewClaim, ViewMismatchAction, ViewTimeError, ViewTimeStats,
    ViewTimeValidator, ViewValidationConfig,
};
pub use world::{Occluder, WallContact, WorldHit, WorldTrace};

/// System sets that record frames and keep the [`RewindTable`] up to date.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RewindSystems {
    /// In [`FixedPostUpdate`], after all movement has settled: writes the present state of every pawn
    /// into its [`FrameHistory`].
    Record,
    /// In [`FixedPostUpdate`] after [`Record`](Self::Record), and in [`Last`] after snapshots were sent:
    /// updates the [`RewindTable`]. Run queries after this set.
    Follow,
}

/// Plugin that records the frames of every pawn of the model `M` that has a [`FrameHistory`].
#[doc(alias = "lag compensation")]
#[derive(Debug)]
pub struct RewindPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for RewindPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for RewindPlugin<M> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<RewindQueryPlugin>() {
            app.add_plugins(RewindQueryPlugin);
        }
        app.init_resource::<SetupDiagnostics>()
            .add_systems(Update, missing_hit_boxes::report_missing_hit_boxes);
        if !app.is_plugin_added::<PathRecordingPlugin<M>>() {
            app.add_plugins(PathRecordingPlugin::<M>::default());
        }
        // An error says only that the plugin of another model has done so.
        let _ = app.try_register_required_components::<RecordTransform, FrameHistory>();
    }
}

/// Plugin with everything that [`RewindQuery`] and [`DrawnQuery`] need, for servers and clients.
/// [`RewindPlugin`] adds it, and so do the weapon plugins.
#[derive(Debug, Default)]
pub struct RewindQueryPlugin;

impl Plugin for RewindQueryPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<TransformRecordingPlugin>() {
            app.add_plugins(TransformRecordingPlugin);
        }
        if !app.is_plugin_added::<LimbNodesPlugin>() {
            app.add_plugins(LimbNodesPlugin);
        }
        if cfg!(debug_assertions) {
            app.add_systems(
                PostUpdate,
                bounds_check::warn_about_boxes_out_of_bounds.after(LimbSystems::Read),
            );
        }
        app.add_systems(PostUpdate, limb_nodes::record.in_set(LimbSystems::Read));
        app.init_resource::<PoseSampler>()
            .init_resource::<RewindLimits>()
            .init_resource::<MatchStart>()
            .add_plugins(reset::plugin)
            .init_resource::<EvidenceLog>()
            .init_resource::<RewindTable>()
            .init_resource::<ViewValidationConfig>()
            .init_resource::<RewindBackend>()
            .init_resource::<MovedColliders>()
            .add_observer(table::on_despawn)
            .configure_sets(
                FixedPostUpdate,
                (RewindSystems::Record, RewindSystems::Follow).chain().after(SmoothingSystems::Record),
            )
            .add_systems(
                FixedPostUpdate,
                (
                    history::record.in_set(RewindSystems::Record),
                    view_time_validator::listen.in_set(RewindSystems::Record),
                    (table::follow, moved_colliders::follow).chain().in_set(RewindSystems::Follow),
                ),
            )
            .add_systems(Last, table::follow.in_set(RewindSystems::Follow))
            .add_systems(PostUpdate, drawn_query::set_base_view_time.after(VisualSystems::Draw));
    }
}

//! What you saw is what you hit: the server keeps a history of every pawn and poses it as the
//! shooter's screen showed it.
//!
//! * [`HitBoxes`] are a pawn's limbs as rapier collider shapes, each in a [`HitGroup`]. They never
//!   enter the physics world: nothing live is moved for a shot.
//! * Their limbs are where a [`LimbRig`](bevy_unlag_core::LimbRig) poses them, or [`LimbNodes`] of an animated
//!   model, which [`HitBoxBones`] finds by the names in a [`HitBoxFile`].
//! * [`FrameHistory`] remembers the snapshots that were *sent*, because only those can have been
//!   drawn, and what the server itself knows of the last ticks.
//! * [`RecordTransform`] puts what is no model's on the same path: AI characters, props, platforms.
//! * [`RewindQuery::at`] goes to a moment: [`Rewound`] answers rays and shapes with all
//!   candidates posed by the [`Sampler`] that drew them, and with the world in between: what never moves,
//!   and every [`Occluder`] where it was drawn.
//! * [`RewindLimits`] say how far back that may be.
//! * [`DrawnQuery`] is the client's half: the same ray against what its own screen last showed.

mod answer;
mod bones;
mod bounds_check;
mod cover;
mod drawn;
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
mod measure;
mod moved;
mod query;
#[cfg(feature = "gizmos")]
mod rewind_view;
mod shape;
mod stamp_source;
mod swept;
mod table;
mod target;
mod view;
mod view_ledger;
mod watch;
mod world;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{Findings, MoveModel, Sampler, VisualSystems};
use bevy_unlag_smoothing::{
    PathRecordingPlugin, RecordTransform, SmoothingSystems, TransformRecordingPlugin,
};

pub use answer::{JudgedTime, Miss, TargetHit};
pub use checked_ron::{RonError, RonFile};
pub use cover::CoverProtection;
pub use drawn::DrawnQuery;
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
pub use limb_nodes::{BoneInterval, DrawnLimbs, LimbNodes, LimbNodesPlugin, LimbSystems};
pub use limits::{HighPing, RewindLimits, RewindMode, RewindRefusal, RoundStart};
pub use measure::usual_poses;
pub use moved::{MovedColliders, MovedPoses, RewindBackend};
pub use query::{
    Ballistic, BeamCache, BlastHit, ClaimedTarget, Flight, Meeting, MeleeArc, MeleeHit, PelletCount, Pellets,
    PosedTargets, RewindQuery, Rewound, Walls,
};
#[cfg(feature = "gizmos")]
pub use rewind_view::{RewindGizmos, RewindView, RewindViewPlugin};
pub use stamp_source::StampSource;
pub use table::RewindTable;
pub use view::{HitLayers, RewindFilter, RewindTime, StampOverride, Team, View};
pub use view_ledger::{
    Admitted, BelievedOverrides, Mismatch, ViewClaim, ViewCounts, ViewFault, ViewLedger, ViewTrust,
};
pub use world::{Occluder, WallTouch, WorldHit, WorldTrace};

/// When frames are recorded.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RewindSystems {
    /// In [`FixedPostUpdate`] after all movers settled: the present of every pawn goes into its
    /// [`FrameHistory`].
    Record,
    /// In [`FixedPostUpdate`] after that, and in [`Last`] after snapshots were sent: the [`RewindTable`]
    /// follows. Queries come after it.
    Follow,
}

/// Records the frames of every pawn of the model `M` that has a [`FrameHistory`].
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
        app.init_resource::<Findings>().add_systems(Update, watch::miss_hit_boxes);
        if !app.is_plugin_added::<PathRecordingPlugin<M>>() {
            app.add_plugins(PathRecordingPlugin::<M>::default());
        }
        // An error says only that the plugin of another model has done so.
        let _ = app.try_register_required_components::<RecordTransform, FrameHistory>();
    }
}

/// What [`RewindQuery`] and [`DrawnQuery`] need, on servers and on clients. [`RewindPlugin`] adds it, and so
/// do weapons.
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
            app.add_systems(PostUpdate, bounds_check::warn_about_strays.after(LimbSystems::Read));
        }
        app.add_systems(PostUpdate, limb_nodes::record.in_set(LimbSystems::Read));
        app.init_resource::<Sampler>()
            .init_resource::<RewindLimits>()
            .init_resource::<RoundStart>()
            .init_resource::<EvidenceLog>()
            .init_resource::<RewindTable>()
            .init_resource::<ViewTrust>()
            .init_resource::<RewindBackend>()
            .init_resource::<MovedColliders>()
            .add_observer(table::bury)
            .configure_sets(
                FixedPostUpdate,
                (RewindSystems::Record, RewindSystems::Follow).chain().after(SmoothingSystems::Record),
            )
            .add_systems(
                FixedPostUpdate,
                (
                    history::record.in_set(RewindSystems::Record),
                    view_ledger::listen.in_set(RewindSystems::Record),
                    (table::follow, moved::follow).chain().in_set(RewindSystems::Follow),
                ),
            )
            .add_systems(Last, table::follow.in_set(RewindSystems::Follow))
            .add_systems(PostUpdate, drawn::note_bases.after(VisualSystems::Draw));
    }
}

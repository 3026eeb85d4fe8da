//! Server-side rewind (lag compensation): the server keeps a history of every pawn and poses pawns for a
//! hit test as the shooter's screen showed them.
//!
//! ```text
//!  in every tick:  states ─► FrameHistory          snapshots sent ─► PublishedPath
//!                                │                                         │
//!                                └──────────────► RewindTable ◄────────────┘
//!                                                      │
//!  a shot:  view time ─► ViewTimeValidator ─► RewindQuery::at ─► Rewound::cast_ray ─► TargetHit, Miss
//!                          RewindLimits             ▲
//!                                           HitBoxes, Occluder, level
//! ```
//!
//! * [`HitBoxes`] hold a pawn's limbs as rapier collider shapes, each in a [`HitGroup`]. They never enter
//!   the physics world, so no live collider is moved for a shot.
//! * Limb poses come from a [`LimbRig`](bevy_unlag_core::LimbRig), or from the [`LimbNodes`] of an
//!   animated model, which [`HitBoxBones`] finds by the names in a [`HitBoxFile`].
//! * [`PublishedPath`](bevy_unlag_smoothing::PublishedPath) stores the snapshots that were *sent*, because a
//!   client can only have drawn those. [`FrameHistory`] stores the server's own poses of the last ticks, limb
//!   poses and earlier hit boxes.
//! * [`RecordTransform`](bevy_unlag_smoothing::RecordTransform) records entities without a movement model in the same
//!   way: AI characters, props, platforms.
//! * [`RewindQuery::at`] selects a moment. The [`Rewound`] that it returns casts rays and shapes against
//!   all candidates, posed by the [`PoseSampler`](bevy_unlag_core::PoseSampler) that also draws them, and against the
//!   world: static geometry, and every [`Occluder`] where it was drawn.
//! * [`RewindLimits`] bound how far back a query may reach.
//! * [`DrawnQuery`] is the client's counterpart: it casts the same ray against what the local screen last
//!   showed.
//!
//! # Example
//!
//! A system of a server that tests a shot against what the shooter's screen showed at a view time:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_core::ViewTime;
//! use bevy_unlag_rewind::{QueryView, RewindFilter, RewindQuery, RewindTime};
//!
//! fn shoot(query: RewindQuery, shooter: Entity, eye: Vec3, look: Vec3, seen: ViewTime) {
//!     let Ok(then) = query.at(RewindTime::View(QueryView::from(seen))) else { return };
//!     match then.with_filter(RewindFilter::exclude(shooter)).cast_ray(eye, look, 200.0) {
//!         Ok(hit) => info!("{:?} of {:?}, {:.1} m away", hit.group, hit.target, hit.distance),
//!         Err(miss) => info!("missed: {miss:?}"),
//!     }
//! }
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `gizmos` | no | `RewindViewPlugin`, a debug view of shots. |
//! | `moved_colliders` | no | `RewindBackend`, which selects ray casts that move colliders there and back, as in most tutorials, for comparison. |
//!
//! # In the book
//!
//! In the repository, `book/src/concepts/rewind.md` explains how it works, `book/src/reference/rewind.md` lists every
//! setting and the file format of hit boxes, and `book/src/concepts/trust.md` says what a cheat can gain.

mod body_bounds;
mod bounding_spheres;
mod bounds_check;
mod checked_floats;
mod convex_cast;
mod cover;
mod drawn_limbs;
mod drawn_query;
mod evidence;
mod file_shape;
mod frame;
mod history;
mod hit_box;
mod hit_box_asset;
mod hit_box_bones;
mod hit_box_file;
mod hit_boxes;
mod humanoid;
mod limb_history;
mod limb_nodes;
mod limb_plugin;
mod limits;
mod missing_hit_boxes;
#[cfg(feature = "moved_colliders")]
mod moved_colliders;
mod plugin;
mod query;
mod query_result;
mod reflection;
mod reset;
mod rewind_time_source;
#[cfg(feature = "gizmos")]
mod rewind_view;
mod shape;
mod swept_bounds;
mod system_sets;
mod table;
mod target;
mod target_entry;
mod team;
mod unit_ray;
mod validity;
mod view;
mod view_time_validator;
mod world;

pub use body_bounds::sample_poses;
pub use checked_ron::{RonError, RonFile};
pub use cover::CoverProtection;
pub use drawn_limbs::DrawnLimbs;
pub use drawn_query::DrawnQuery;
pub use evidence::{
    BaseEvidence, CandidateEvidence, DrawnBody, DrawnEvidence, DrawnFrames, EvidenceLog, EvidenceNotes,
    EvidencePart, OccluderEvidence, ShotEvidence,
};
pub use file_shape::FileShape;
pub use frame::Frame;
pub use history::FrameHistory;
pub use hit_box::{BodyBounds, HitBox, HitGroup};
pub use hit_box_asset::HitBoxAsset;
pub use hit_box_bones::HitBoxBones;
pub use hit_box_file::{Bone, FileBox, FileOffset, HitBoxFile};
pub use hit_boxes::HitBoxes;
pub use humanoid::{HUMANOID_LIMBS, humanoid_hit_boxes, humanoid_rig, scaled_humanoid_hit_boxes};
pub use limb_nodes::{LimbNodes, LimbRecordInterval};
pub use limb_plugin::LimbNodesPlugin;
pub use limits::{HighPing, MatchStart, RewindLimits, RewindMode, RewindRefusal};
#[cfg(feature = "moved_colliders")]
pub use moved_colliders::{MovedColliders, MovedPoses, RewindBackend};
pub use plugin::{RewindPlugin, RewindQueryPlugin};
pub use query::{
    Ballistic, BeamCache, BlastHit, ClaimedTarget, Flight, FlightStepHit, MeleeArc, MeleeHit, PelletCount,
    Pellets, PosedTargets, RewindQuery, Rewound, WallPenetration,
};
pub use query_result::{Miss, RewoundTime, TargetHit};
pub use rewind_time_source::RewindTimeSource;
#[cfg(feature = "gizmos")]
pub use rewind_view::{RewindGizmos, RewindView, RewindViewPlugin};
pub use system_sets::RewindSystems;
pub use table::RewindTable;
pub use team::Team;
pub use view::{HitLayers, QueryView, RewindFilter, RewindTime, StampOverride};
pub use view_time_validator::{
    ValidatedOverrides, ValidatedViewTime, ViewClaim, ViewMismatchAction, ViewTimeError, ViewTimeStats,
    ViewTimeValidator, ViewValidationConfig,
};
pub use world::{LevelChanges, LevelCopy, Occluder, WallContact, WallId, WallPiece, WorldHit, WorldTrace};

//! What you saw is what you hit: the server keeps a history of every pawn and poses it as the
//! shooter's screen showed it.
//!
//! * [`HitBoxes`] are a pawn's limbs as rapier collider shapes, each in a [`HitGroup`]. They never
//!   enter the physics world: nothing live is moved for a shot.
//! * [`FrameHistory`] remembers the snapshots that were *sent*, because only those can have been
//!   drawn, and the present.
//! * [`RecordTransform`] puts what is no model's on the same path: AI characters, props, platforms.
//! * [`RewindQuery`] answers one [`RewoundRay`]: all candidates are posed at the shooter's view
//!   time by the [`Sampler`] that drew them, the world is tested in
//!   between, the nearest pawn wins, and on it the head counts before the body.
//! * [`DrawnQuery`] is the client's half: the same ray against what its own screen last showed.

mod drawn;
mod history;
mod hit_boxes;
mod host;
mod humanoid;
mod limits;
mod query;
mod trace;
mod transform;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, DrawnBaseTime, DrawnViewTime, KnotConfig, MoveModel, MoveSystems, Sampler, TickPlugin,
    VisualPlugin, VisualSystems,
};

pub use drawn::DrawnQuery;
pub use history::FrameHistory;
pub use hit_boxes::{HitBox, HitBoxes, HitGroup};
pub use humanoid::{HUMANOID_LIMBS, humanoid_hit_boxes, humanoid_rig};
pub use limits::{RewindLimits, RewindMode, RewindRefusal};
pub use query::{RewindQuery, RewoundRay};
pub use trace::{RayHit, StampOverride, WorldTrace};
pub use transform::RecordTransform;

/// When frames are recorded, in [`FixedPostUpdate`].
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RewindSystems {
    /// After all movers settled: the present of every pawn goes into its [`FrameHistory`].
    Record,
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
        if !app.is_plugin_added::<SharedPlugin>() {
            app.add_plugins(SharedPlugin);
        }
        app.add_systems(
            FixedPostUpdate,
            history::record::<M>.in_set(RewindSystems::Record).after(MoveSystems::Show),
        );
    }
}

/// What all models share.
struct SharedPlugin;

impl Plugin for SharedPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<TickPlugin>() {
            app.add_plugins(TickPlugin);
        }
        if !app.is_plugin_added::<VisualPlugin>() {
            app.add_plugins(VisualPlugin);
        }
        app.init_resource::<Sampler>()
            .init_resource::<RewindLimits>()
            .init_resource::<DrawnViewTime>()
            .init_resource::<DrawnBaseTime>()
            .init_resource::<BasePoses>()
            .init_resource::<KnotConfig>()
            .add_systems(
                FixedPostUpdate,
                transform::record.in_set(RewindSystems::Record).after(MoveSystems::Show),
            )
            .add_systems(PostUpdate, host::draw.in_set(VisualSystems::Draw));
    }
}

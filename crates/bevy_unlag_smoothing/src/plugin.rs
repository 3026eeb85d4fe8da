//! Plugins and system sets.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, DrawnBaseTime, DrawnViewTime, GameClockPlugin, MoveModel, MoveSystems, PathKnotConfig,
    PawnSystems, PoseSampler, TickPlugin, TickSystems, VisualPlugin, VisualSystems, require_plugin,
};
use core::marker::PhantomData;

use crate::{
    config::PlayoutConfig, host_interpolation, inbox, jump_blending, jump_blending::BlendConfig,
    playout::PlayoutClocks, proxy_poses, published_path, record_transform, reflection, reset,
    server_clock::ServerClock, stats::SmoothingStats,
};

/// System sets of smoothing.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmoothingSystems {
    /// In [`FixedPostUpdate`] on servers, after all moves: records the published state of every pawn in its
    /// [`PublishedPath`](crate::PublishedPath).
    Record,
    /// In [`PreUpdate`]: the network integration fills inboxes.
    Deliver,
    /// After [`Deliver`](Self::Deliver): moves inboxes into histories. Fill inboxes before this set.
    Receive,
    /// In [`PostUpdate`], inside [`VisualSystems::Draw`]: advances clocks and samples the poses of proxies.
    Draw,
    /// After [`Draw`](Self::Draw): models simulate proxies to the server's present.
    Simulate,
    /// After [`Simulate`](Self::Simulate): blends visible jumps.
    Blend,
}

/// Records the paths of pawns on servers, so that they can be published: those of the model `M` with a
/// [`PublishedPath`](crate::PublishedPath), and everything with a [`RecordTransform`](crate::RecordTransform). Draws
/// remote pawns on the screen of a listen server.
///
/// It works without lag compensation: rewind reads the same paths.
pub struct PathRecordingPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(PathRecordingPlugin<M>);

impl<M: MoveModel> Plugin for PathRecordingPlugin<M> {
    fn build(&self, app: &mut App) {
        require_plugin(app, TransformRecordingPlugin);
        app.add_systems(
            FixedPostUpdate,
            published_path::record::<M>.in_set(SmoothingSystems::Record).in_set(PawnSystems::of::<M>()),
        );
    }
}

/// The part of [`PathRecordingPlugin`] that no model is needed for.
#[derive(Debug, Default)]
pub struct TransformRecordingPlugin;

impl Plugin for TransformRecordingPlugin {
    fn build(&self, app: &mut App) {
        require_plugin(app, TickPlugin);
        require_plugin(app, VisualPlugin);
        reflection::register_types(app);
        app.init_resource::<PoseSampler>()
            .init_resource::<DrawnViewTime>()
            .init_resource::<DrawnBaseTime>()
            .init_resource::<BasePoses>()
            .init_resource::<PathKnotConfig>()
            .add_plugins(reset::server_plugin)
            .configure_sets(
                FixedPostUpdate,
                SmoothingSystems::Record.after(MoveSystems::Publish).in_set(TickSystems),
            )
            .add_systems(FixedPostUpdate, record_transform::record.in_set(SmoothingSystems::Record))
            .add_systems(PostUpdate, host_interpolation::draw.in_set(VisualSystems::Draw));
    }
}

/// Draws simulated proxies from snapshots. It idles while no [`SnapshotInbox`](crate::SnapshotInbox) is filled.
#[doc(alias = "InterpolationPlugin")]
#[derive(Default)]
pub struct SmoothingPlugin;

impl Plugin for SmoothingPlugin {
    fn build(&self, app: &mut App) {
        require_plugin(app, VisualPlugin);
        require_plugin(app, GameClockPlugin);
        reflection::register_types(app);
        app.init_resource::<PoseSampler>()
            .init_resource::<DrawnViewTime>()
            .init_resource::<DrawnBaseTime>()
            .init_resource::<BasePoses>()
            .init_resource::<PlayoutConfig>()
            .init_resource::<BlendConfig>()
            .init_resource::<PlayoutClocks>()
            .init_resource::<ServerClock>()
            .init_resource::<SmoothingStats>()
            .add_plugins(reset::client_plugin)
            .configure_sets(PreUpdate, SmoothingSystems::Deliver.before(SmoothingSystems::Receive))
            .configure_sets(
                PostUpdate,
                (SmoothingSystems::Draw, SmoothingSystems::Simulate, SmoothingSystems::Blend)
                    .chain()
                    .in_set(VisualSystems::Draw),
            )
            .add_systems(PreUpdate, inbox::receive.in_set(SmoothingSystems::Receive))
            .add_systems(
                PostUpdate,
                (
                    (proxy_poses::advance, proxy_poses::draw).chain().in_set(SmoothingSystems::Draw),
                    jump_blending::blend.in_set(SmoothingSystems::Blend),
                ),
            );
    }
}

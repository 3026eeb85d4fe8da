//! Snapshot interpolation of remote pawns with an adaptive playout delay and cubic Hermite curves.
//!
//! * The network integration writes [`ProxyUpdate`](bevy_unlag_core::ProxyUpdate)s to a pawn's
//!   [`SnapshotInbox`].
//! * A [`PlayoutClock`] learns from their arrival times how large the playout delay (interpolation delay)
//!   must be to hide jitter and loss; [`PlayoutClocks`] has one clock per update rate.
//! * In each frame every [`SimulatedProxy`](bevy_unlag_core::NetRole::SimulatedProxy) gets its
//!   [`DrawnPose`](bevy_unlag_core::DrawnPose) at that moment from the shared [`PoseSampler`], according to its
//!   [`ProxySmoothing`](bevy_unlag_core::ProxySmoothing).
//! * Visible jumps, after a wrong guess or a late update, are blended by the pawn's
//!   [`VisualOffset`](bevy_unlag_core::VisualOffset): see [`BlendConfig`].
//! * [`ProxySimulationPlugin`] simulates proxies to the server's present, estimated by [`ServerClock`].
//! * [`SmoothedComponentPlugin`] interpolates components of the game in the same way.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_core::NetRole;
//! use bevy_unlag_smoothing::{SmoothingPlugin, SnapshotInbox};
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, SmoothingPlugin));
//! app.world_mut().spawn((NetRole::SimulatedProxy, SnapshotInbox::default()));
//! app.update();
//! ```

mod arrival_stats;
mod blend;
mod clock;
mod component;
mod config;
mod draw;
mod host_interpolation;
mod inbox;
mod playout;
mod proxy;
mod published_path;
mod record_transform;
mod reflection;
mod reset;
mod sent_snapshots;
mod server_clock;
mod simulate;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, DrawnBaseTime, DrawnViewTime, MoveModel, MoveSystems, PathKnotConfig, PoseSampler, TickPlugin,
    VisualPlugin, VisualSystems,
};

pub use blend::BlendConfig;
pub use clock::PlayoutClock;
pub use component::{ComponentHistory, ComponentInbox, SmoothedComponentPlugin};
pub use config::PlayoutConfig;
pub use inbox::SnapshotInbox;
pub use playout::PlayoutClocks;
pub use proxy::ProxyTime;
pub use published_path::PublishedPath;
pub use record_transform::RecordTransform;
pub use sent_snapshots::{IntervalSummary, SentSnapshots};
pub use server_clock::{ServerClock, ServerClockConfig};
pub use simulate::ProxySimulationPlugin;

/// System sets of smoothing.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmoothingSystems {
    /// On servers in [`FixedPostUpdate`], after all movers settled: what remote clients are to see of every pawn goes
    /// into its [`PublishedPath`].
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
/// [`PublishedPath`], and everything with a [`RecordTransform`]. Draws remote pawns on the screen of a listen server.
///
/// It works without lag compensation: rewind reads the same paths.
#[derive(Debug)]
pub struct PathRecordingPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for PathRecordingPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for PathRecordingPlugin<M> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<TransformRecordingPlugin>() {
            app.add_plugins(TransformRecordingPlugin);
        }
        app.add_systems(FixedPostUpdate, published_path::record::<M>.in_set(SmoothingSystems::Record));
    }
}

/// The part of [`PathRecordingPlugin`] that no model is needed for.
#[derive(Debug, Default)]
pub struct TransformRecordingPlugin;

impl Plugin for TransformRecordingPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<TickPlugin>() {
            app.add_plugins(TickPlugin);
        }
        if !app.is_plugin_added::<VisualPlugin>() {
            app.add_plugins(VisualPlugin);
        }
        reflection::register_types(app);
        app.init_resource::<PoseSampler>()
            .init_resource::<DrawnViewTime>()
            .init_resource::<DrawnBaseTime>()
            .init_resource::<BasePoses>()
            .init_resource::<PathKnotConfig>()
            .add_plugins(reset::server_plugin)
            .configure_sets(FixedPostUpdate, SmoothingSystems::Record.after(MoveSystems::Publish))
            .add_systems(FixedPostUpdate, record_transform::record.in_set(SmoothingSystems::Record))
            .add_systems(PostUpdate, host_interpolation::draw.in_set(VisualSystems::Draw));
    }
}

/// Statistics of smoothing. The counters never decrease; subtract two readings to measure a period.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct SmoothingStats {
    /// Proxies drawn, counted once per proxy and frame.
    pub drawn: u64,
    /// Those drawn beyond their newest snapshot. Simulated ones do not count.
    pub extrapolated: u64,
    /// Those extrapolated up to the limit and therefore standing still.
    pub held: u64,
    /// Updates that arrived after their moment was drawn. For a pawn simulated to the present these are all
    /// updates.
    pub late: u64,
    /// Dropped updates that were duplicates, or older than all snapshots of a full history.
    pub duplicates: u64,
    /// Dropped updates whose tick is implausibly far from the server's.
    pub implausible: u64,
    /// Frames in which the view time of a pawn stopped or jumped, because it was too far from its clock to
    /// catch up gradually: its update rate changed a lot, or the link did.
    pub resyncs: u64,
    /// Jumps hidden by a [`VisualOffset`](bevy_unlag_core::VisualOffset).
    pub blends: u64,
    /// Jumps too large to be hidden that were no teleport.
    pub snaps: u64,
    /// Current playout delay of most pawns relative to the fastest arrival, in milliseconds.
    pub delay_ms: f32,
    /// Speed of that clock relative to real time.
    pub speed: f32,
}

/// Draws simulated proxies from snapshots. It idles while no [`SnapshotInbox`] is filled.
#[doc(alias = "InterpolationPlugin")]
#[derive(Default)]
pub struct SmoothingPlugin;

impl Plugin for SmoothingPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<VisualPlugin>() {
            app.add_plugins(VisualPlugin);
        }
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
                    (draw::advance, draw::draw).chain().in_set(SmoothingSystems::Draw),
                    blend::blend.in_set(SmoothingSystems::Blend),
                ),
            );
    }
}

//! Simulated proxies that glide: snapshot buffer, adaptive playout clock, cubic Hermite.
//!
//! * The network puts [`ProxyUpdate`](bevy_unlag_core::ProxyUpdate)s into a pawn's
//!   [`SnapshotInbox`].
//! * A [`PlayoutClock`] learns from their arrival how far in the past proxies have to be drawn so
//!   that jitter and loss do not show; [`Playout`] has one for each rate of updates.
//! * Each frame every [`SimulatedProxy`](bevy_unlag_core::NetRole::SimulatedProxy) gets its
//!   [`DrawnPose`](bevy_unlag_core::DrawnPose) at that moment from the shared [`Sampler`], in the way
//!   that its [`ProxySmoothing`](bevy_unlag_core::ProxySmoothing) says.
//! * What would be seen to jump, because a guess was wrong or an update came late, is blended by the
//!   pawn's [`VisualOffset`](bevy_unlag_core::VisualOffset): [`BlendConfig`].
//! * [`ProxySimulationPlugin`] carries proxies on to the server's present, which [`ServerClock`]
//!   knows.
//! * [`SmoothedComponentPlugin`] draws a game's own components in the same way.
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

mod blend;
mod clock;
mod component;
mod config;
mod draw;
mod host;
mod inbox;
mod link;
mod playout;
mod proxy;
mod published_path;
mod record_transform;
mod sent_log;
mod server_clock;
mod simulate;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, DrawnBaseTime, DrawnViewTime, KnotConfig, MoveModel, MoveSystems, Sampler, TickPlugin,
    VisualPlugin, VisualSystems,
};

pub use blend::BlendConfig;
pub use clock::PlayoutClock;
pub use component::{ComponentHistory, ComponentInbox, SmoothedComponentPlugin};
pub use config::PlayoutConfig;
pub use inbox::SnapshotInbox;
pub use playout::Playout;
pub use proxy::ProxyTime;
pub use published_path::PublishedPath;
pub use record_transform::RecordTransform;
pub use sent_log::{Rates, SentLog};
pub use server_clock::{ServerClock, ServerClockConfig};
pub use simulate::ProxySimulationPlugin;

/// When smoothing does its work.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmoothingSystems {
    /// On servers in [`FixedPostUpdate`], after all movers settled: what remote clients are to see of every pawn goes
    /// into its [`PublishedPath`].
    Record,
    /// In [`PreUpdate`]: the network fills inboxes.
    Deliver,
    /// After [`Deliver`](Self::Deliver): inboxes are emptied into histories. Fill them before.
    Receive,
    /// In [`PostUpdate`], inside [`VisualSystems::Draw`]: clocks run on and proxies are posed.
    Draw,
    /// After [`Draw`](Self::Draw): models carry on what is simulated to the present.
    Simulate,
    /// After [`Simulate`](Self::Simulate): what would be seen to jump is hidden.
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
        app.init_resource::<Sampler>()
            .init_resource::<DrawnViewTime>()
            .init_resource::<DrawnBaseTime>()
            .init_resource::<BasePoses>()
            .init_resource::<KnotConfig>()
            .configure_sets(FixedPostUpdate, SmoothingSystems::Record.after(MoveSystems::Show))
            .add_systems(FixedPostUpdate, record_transform::record.in_set(SmoothingSystems::Record))
            .add_systems(PostUpdate, host::draw.in_set(VisualSystems::Draw));
    }
}

/// How smoothing fares. The counters only grow; what a span of time did is their difference.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct SmoothingStats {
    /// Proxies drawn, counted once per proxy and frame.
    pub drawn: u64,
    /// Those among them that were drawn beyond their newest snapshot, though they are not simulated.
    pub extrapolated: u64,
    /// Those among them that had been carried on for as long as is allowed, and stood.
    pub held: u64,
    /// Updates that arrived after their moment had been drawn; of a pawn that is simulated to the present,
    /// every one.
    pub late: u64,
    /// Updates that were dropped: they were known already, or older than all that is kept.
    pub duplicates: u64,
    /// Updates that were dropped because their tick is nowhere near this server's.
    pub absurd: u64,
    /// Frames in which a pawn's moment stood still or jumped, because it was too far from where its clock
    /// is to walk there: its rate changed a lot, or the link did.
    pub resyncs: u64,
    /// How often a step was hidden by a [`VisualOffset`](bevy_unlag_core::VisualOffset).
    pub blends: u64,
    /// How often a step was too large to be hidden, though it was no teleport.
    pub snaps: u64,
    /// How far playout of most pawns runs behind the fastest arrival, in milliseconds.
    pub delay_ms: f32,
    /// How fast that clock runs, in parts of real time.
    pub speed: f32,
}

/// Draws simulated proxies from snapshots. Where no [`SnapshotInbox`] is ever filled, it idles.
#[derive(Default)]
pub struct SmoothingPlugin;

impl Plugin for SmoothingPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<VisualPlugin>() {
            app.add_plugins(VisualPlugin);
        }
        app.init_resource::<Sampler>()
            .init_resource::<DrawnViewTime>()
            .init_resource::<DrawnBaseTime>()
            .init_resource::<BasePoses>()
            .init_resource::<PlayoutConfig>()
            .init_resource::<BlendConfig>()
            .init_resource::<Playout>()
            .init_resource::<ServerClock>()
            .init_resource::<SmoothingStats>()
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

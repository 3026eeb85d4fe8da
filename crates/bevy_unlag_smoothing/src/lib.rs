//! Simulated proxies that glide: snapshot buffer, adaptive playout clock, cubic Hermite.
//!
//! The network puts [`Snapshot`](bevy_unlag_core::Snapshot)s into a pawn's [`SnapshotInbox`].
//! [`PlayoutClock`] learns from their arrival how far in the past proxies have to be drawn so
//! that jitter and loss do not show. Each frame every
//! [`SimulatedProxy`](bevy_unlag_core::NetRole::SimulatedProxy) gets its
//! [`DrawnPose`](bevy_unlag_core::DrawnPose) at that one moment from the shared
//! [`Sampler`], whose `interpolation` also offers the baselines.
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

mod clock;
mod config;
mod draw;
mod inbox;
mod link;

use bevy::prelude::*;
use bevy_unlag_core::{DrawnViewTime, Sampler, VisualPlugin, VisualSystems};

pub use clock::PlayoutClock;
pub use config::PlayoutConfig;
pub use inbox::SnapshotInbox;

/// When smoothing does its work.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SmoothingSystems {
    /// In [`PreUpdate`]: inboxes are emptied into histories. Fill them before.
    Receive,
    /// In [`PostUpdate`], inside [`VisualSystems::Draw`]: the clock runs on and proxies are posed.
    Draw,
}

/// How smoothing fares. The counters only grow; what a span of time did is their difference.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct SmoothingStats {
    /// Proxies drawn, counted once per proxy and frame.
    pub drawn: u64,
    /// Those among them that were drawn beyond their newest snapshot.
    pub extrapolated: u64,
    /// Snapshots that arrived after their moment had been drawn.
    pub late: u64,
    /// Snapshots that were dropped: they were known already, or older than all that is kept.
    pub duplicates: u64,
    /// How far playout runs behind the fastest arrival, in milliseconds.
    pub delay_ms: f32,
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
            .init_resource::<PlayoutConfig>()
            .init_resource::<PlayoutClock>()
            .init_resource::<SmoothingStats>()
            .configure_sets(PostUpdate, SmoothingSystems::Draw.in_set(VisualSystems::Draw))
            .add_systems(PreUpdate, inbox::receive.in_set(SmoothingSystems::Receive))
            .add_systems(PostUpdate, (draw::advance, draw::draw).chain().in_set(SmoothingSystems::Draw));
    }
}

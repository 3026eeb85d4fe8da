//! Statistics of smoothing.

use bevy::prelude::*;

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
    /// Dropped updates that were duplicates, or older than all snapshots of a full history. The server sends
    /// updates twice that nobody can foresee, so there are some on any link.
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

//! What can be tuned about playout.

use bevy::prelude::*;

/// How proxies are played out. May be changed while the app runs. The defaults suit 10 to 60
/// snapshots a second.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct PlayoutConfig {
    /// The share of gaps between updates that the delay covers, from 0 to 1, at 20 updates a second.
    /// Default: 0.97. Pawns that are updated more often leave more gaps uncovered, because they are
    /// shorter, slower ones fewer: by the square root of the rate. Raising it draws proxies later in
    /// time; lowering it leaves more gaps to extrapolation, and who stops then is seen to overshoot.
    pub quantile: f64,
    /// When the longest gap is at most this many seconds longer than that share, it is covered as well:
    /// on a good link nobody is ever carried on. Default: 6 ms.
    pub slack: f64,
    /// Seconds added to the measured delay, because a frame does not fall exactly on an arrival.
    /// Default: 2 ms. Raising it draws proxies later by as much.
    pub margin: f64,
    /// The delay while only one snapshot is known, in seconds. Default: 0.1. Too little stutters at the
    /// beginning, too much is late for the first seconds.
    pub initial_delay: f64,
    /// The largest delay, in seconds. Default: 1. A gap that it could not cover is an outage and
    /// is not learnt from. Raising it follows worse links, and learns from longer outages.
    pub max_delay: f64,
    /// Slowest playout, in parts of real time. Default: 0.922.
    pub min_speed: f64,
    /// Fastest playout, in parts of real time. Default: 1.028.
    pub max_speed: f64,
    /// How much playout slows down per second that it is ahead, in 1/s. Default: 4, so that 20 ms
    /// too far ahead already run at the slowest speed: being late with the delay is visible.
    pub attack: f64,
    /// How much playout speeds up per second that it is behind, in 1/s. Default: 1. Lower than
    /// `attack`: being too careful for a while is not visible.
    pub release: f64,
    /// Seconds over which the fastest arrival is remembered; it is what delay is measured
    /// against. Default: 15. It has to outlive a congested phase, and to follow a new route.
    pub window: f64,
    /// Seconds over which gaps between updates are remembered, but at least 64 of them. Default: 10.
    /// Raising it forgets a bad phase later.
    pub memory: f64,
    /// An error beyond this many seconds is jumped over, not chased. Default: 0.5. Lowering it jumps,
    /// visibly, where it could have walked.
    pub snap: f64,
    /// Snapshots further than this many seconds from where they are expected belong to another
    /// server; when only such arrive for half a second, playout starts afresh. Default: 10.
    pub restart: f64,
}

impl Default for PlayoutConfig {
    fn default() -> Self {
        Self {
            quantile: 0.97,
            slack: 0.006,
            margin: 0.002,
            initial_delay: 0.1,
            max_delay: 1.0,
            min_speed: 0.922,
            max_speed: 1.028,
            attack: 4.0,
            release: 1.0,
            window: 15.0,
            memory: 10.0,
            snap: 0.5,
            restart: 10.0,
        }
    }
}

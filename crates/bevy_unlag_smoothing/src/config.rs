//! Settings of the playout clock.

use bevy::prelude::*;

/// Settings of playout. They may be changed at run time. The defaults suit 10 to 60 snapshots per second.
#[doc(alias = "InterpolationConfig")]
#[doc(alias = "cl_interp")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct PlayoutConfig {
    /// Fraction of the gaps between updates that the delay covers, from 0 to 1, at 20 updates per second.
    /// Default: 0.97. It is scaled by the square root of the rate: pawns that are updated more often leave
    /// more gaps uncovered, because their gaps are shorter, and slower ones fewer. Raising it increases the
    /// playout delay; lowering it causes more extrapolation and more overshoot of pawns that stop.
    pub quantile: f64,
    /// If the longest gap exceeds that quantile by at most this many seconds, it is covered as well, so that
    /// no pawn is ever extrapolated on a good link. Default: 0.006 (6 ms).
    pub slack: f64,
    /// Seconds added to the measured delay, because a frame does not coincide with an arrival. Default:
    /// 0.002 (2 ms). Raising it increases the delay by the same amount.
    pub margin: f64,
    /// Delay in seconds while only one snapshot has arrived. Default: 0.1. Too short a delay stutters at
    /// first, too long a one is late for the first seconds.
    pub initial_delay: f64,
    /// Maximum delay, in seconds. Default: 1. A gap that it could not cover is an outage and excluded from
    /// the statistics. Raising it copes with worse links, and includes longer outages.
    pub max_delay: f64,
    /// Minimum speed of playout relative to real time. Default: 0.922.
    pub min_speed: f64,
    /// Maximum speed of playout relative to real time. Default: 1.028.
    pub max_speed: f64,
    /// Deceleration of playout per second that it is ahead, in 1/s. Default: 4: playout reaches its minimum
    /// speed when it is 20 ms ahead, because too short a delay is visible.
    pub slow_down_rate: f64,
    /// Acceleration of playout per second that it is behind, in 1/s. Default: 1, lower than `slow_down_rate`,
    /// because too long a delay is hardly visible.
    pub speed_up_rate: f64,
    /// Seconds for which the fastest arrival is remembered, relative to which the delay is measured.
    /// Default: 15. It must exceed a phase of congestion, and be short enough to adapt to a new route.
    pub window: f64,
    /// Seconds for which gaps between updates are remembered, but at least 64 gaps. Default: 10. Raising it
    /// keeps the delay high for longer after a bad phase.
    pub gap_memory: f64,
    /// Error in seconds beyond which playout jumps instead of changing its speed. Default: 0.5. Lowering it
    /// causes visible jumps that could have been corrected gradually.
    pub snap: f64,
    /// Distance in seconds from the expected time beyond which a snapshot is another server's. If only such
    /// snapshots arrive for half a second, playout restarts. Default: 10.
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
            slow_down_rate: 4.0,
            speed_up_rate: 1.0,
            window: 15.0,
            gap_memory: 10.0,
            snap: 0.5,
            restart: 10.0,
        }
    }
}

//! What can be tuned about playout.

use bevy::prelude::*;

/// How proxies are played out. May be changed while the app runs. The defaults suit 10 to 60
/// snapshots a second.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct PlayoutConfig {
    /// The share of gaps between snapshots that the delay covers, from 0 to 1. Default: 0.99.
    /// Lowering it draws proxies later in time, and leaves more gaps to extrapolation.
    pub quantile: f64,
    /// Seconds by which the delay may be longer to cover not only that share but all gaps: on a good
    /// link, whose longest gap is not much longer than most, nobody is ever carried on. Default: 6 ms.
    pub slack: f64,
    /// Seconds added to the measured delay, because a frame does not fall exactly on an arrival.
    /// Default: 4 ms.
    pub margin: f64,
    /// The delay while only one snapshot is known, in seconds. Default: 0.1.
    pub initial_delay: f64,
    /// The largest delay, in seconds. Default: 1. A gap that it could not cover is an outage and
    /// is not learnt from.
    pub max_delay: f64,
    /// Slowest playout, in parts of real time. Default: 0.92.
    pub min_speed: f64,
    /// Fastest playout, in parts of real time. Default: 1.03.
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
    /// How many gaps between snapshots are remembered. Default: 200.
    pub samples: usize,
    /// An error beyond this many seconds is jumped over, not chased. Default: 0.5.
    pub snap: f64,
    /// Snapshots further than this many seconds from where they are expected belong to another
    /// server; when only such arrive for half a second, playout starts afresh. Default: 10.
    pub restart: f64,
}

impl Default for PlayoutConfig {
    fn default() -> Self {
        Self {
            quantile: 0.99,
            slack: 0.006,
            margin: 0.004,
            initial_delay: 0.1,
            max_delay: 1.0,
            min_speed: 0.92,
            max_speed: 1.03,
            attack: 4.0,
            release: 1.0,
            window: 15.0,
            samples: 200,
            snap: 0.5,
            restart: 10.0,
        }
    }
}

//! Settings of interest.

use bevy::prelude::*;

/// Settings of [`InterestPlugin`](crate::InterestPlugin). All may be changed at any time, except for
/// [`spacing`](Self::spacing) and [`max_points`](Self::max_points), which are read when the plugin is added.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct InterestConfig {
    /// Fastest speed of a pawn by its own power, in metres per second. Default: 9, the capsule's sprint. A pawn that
    /// is faster, such as one that was knocked away, counts with its own speed from then on. Too low a value shows
    /// pawns too late, a higher one tells modified clients more.
    pub max_speed: f32,
    /// Time constant in seconds with which a pawn's velocity follows its input. Default: 0.1, faster than the capsule
    /// on the ground. Lowering it is needed for pawns that turn more abruptly; 0 lets them turn at once.
    pub response_seconds: f32,
    /// Fastest vertical speed of a pawn by its own power, in metres per second. Default: 5.
    pub vertical_speed: f32,
    /// Height to which a pawn jumps, in metres. Default: 1.2. A pawn that rises or falls faster than
    /// [`vertical_speed`](Self::vertical_speed) counts with its own speed instead.
    pub jump_height: f32,
    /// Lowest and highest place of the eye above a pawn's root, in metres, crouched and standing. Default: 0.6 and 1.7.
    pub eyes: Vec2,
    /// Expected interpolation delay of clients, in seconds. Default: 0.1.
    pub playout_seconds: f32,
    /// Time in seconds by which pawns are shown earlier than necessary. Default: 0.03. Raising it tolerates more lost
    /// snapshots.
    pub margin_seconds: f32,
    /// Round trip in seconds up to which a client's latency is taken into account. Default: 0.3. It bounds what a
    /// client gains that delays its acknowledgements; beyond it pawns may appear late.
    pub max_round_trip: f32,
    /// Time in seconds for which a pawn is shown after it was last in sight. Default: 0.5.
    pub hold_seconds: f32,
    /// Ticks between two tests of a pair. Default: 2. Raising it saves processor time, and pawns are shown earlier to
    /// make up for it.
    pub interval_ticks: u32,
    /// Number of rays in a tick, of about a third of a microsecond each, after which no further line of sight is
    /// begun. Default: 400. The eight rays with which each pawn looks for the points around it do not count. What is
    /// not known yet counts as in sight.
    pub rays_per_tick: u32,
    /// Horizontal and vertical distance between points of the [`SightLattice`](crate::SightLattice), in metres.
    /// Default: 1 and 1.5. Openings narrower than a third of the horizontal one may be missed. Halving it takes 16
    /// times as many rays until a level is known.
    pub spacing: Vec2,
    /// Maximum number of points of the lattice. Default: 8,192, in 17 MB. When there are more, all is forgotten and the
    /// lattice starts over.
    pub max_points: usize,
    /// Whether teammates, by [`Team`](bevy_unlag_rewind::Team), always see each other. Default: true.
    pub teammates: bool,
}

impl Default for InterestConfig {
    fn default() -> Self {
        Self {
            max_speed: 9.0,
            response_seconds: 0.1,
            vertical_speed: 5.0,
            jump_height: 1.2,
            eyes: Vec2::new(0.6, 1.7),
            playout_seconds: 0.1,
            margin_seconds: 0.03,
            max_round_trip: 0.3,
            hold_seconds: 0.5,
            interval_ticks: 2,
            rays_per_tick: 400,
            spacing: Vec2::new(1.0, 1.5),
            max_points: 8_192,
            teammates: true,
        }
    }
}

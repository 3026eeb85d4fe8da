//! Settings of interest.

use bevy::prelude::*;
use bevy_unlag_core::RoundTrip;

/// Settings of [`InterestPlugin`](crate::InterestPlugin). All may be changed at any time.
///
/// The first five describe how the game's pawns move. Too low a value shows pawns too late, too high a one tells
/// modified clients more.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct InterestConfig {
    /// Fastest speed of a pawn by its own power, in metres per second. Default: 9, the capsule's sprint. A pawn that
    /// is faster, such as one that was knocked away, counts with its own speed from then on.
    pub max_speed: f32,
    /// Acceleration of a pawn by its input, in metres per second squared. Default: 20.48, the capsule's.
    pub acceleration: f32,
    /// Rate per second at which a pawn's velocity turns to its input. Default: 8, the capsule's `ground_friction`. With
    /// [`f32::INFINITY`] it turns at once.
    pub turn_rate: f32,
    /// Fastest vertical speed of a pawn by its own power, in metres per second. Default: 5.
    pub vertical_speed: f32,
    /// Height to which a pawn jumps, in metres. Default: 1.2. A pawn that rises or falls faster than
    /// [`vertical_speed`](Self::vertical_speed) counts with its own speed instead.
    pub jump_height: f32,
    /// Lowest and highest place of the eye above a pawn's root, in metres, crouched and standing. Default: 0.6 and 1.7.
    pub eyes: Vec2,
    /// Distance in metres from the eye within which the camera can be, such as the length of the arm on which a camera
    /// hangs behind its player. Default: 0, for first person. Raising it shows what such a camera sees around corners;
    /// every modified client knows that as well then. The camera must not be able to pass through walls.
    #[doc(alias = "spring arm")]
    #[doc(alias = "third person")]
    pub eye_radius: f32,
    /// Distance in metres from a pawn's axis within which parts of its body count as seen. Default: 0.35, its
    /// shoulders. The radius of its hit boxes bounds it. Raising it shows pawns as soon as their arms and weapons are
    /// in sight.
    pub body_radius: f32,
    /// Expected playout delay of clients, in seconds. Default: 0.1.
    pub playout_seconds: f32,
    /// Time in seconds by which pawns are shown earlier than necessary. Default: 0.01. Raising it tolerates longer
    /// frames of the server and lost snapshots.
    pub margin_seconds: f32,
    /// Round trip in seconds up to which a client's latency is taken into account. Default: 0.3. It bounds what a
    /// client gains that delays its acknowledgements; beyond it pawns may appear late.
    pub max_round_trip: f32,
    /// Time in seconds for which a pawn that is in sight, or soon, is shown before it is tested again. Default: 0.1.
    /// Raising it saves processor time and tells modified clients more.
    pub hold_seconds: f32,
    /// Ticks between two tests of a pair. Default: 3, the usual ticks between snapshots. Raising it saves processor
    /// time, and pawns are shown earlier to make up for it.
    pub interval_ticks: u32,
    /// Number of rays in a tick, of about 0.15 µs each, after which no further pair is tested: it counts as in sight
    /// until the next turn. Twenty lines against known walls count as one. Default: 3,000, about twice what 64 players
    /// need on average.
    pub rays_per_tick: u32,
    /// Whether teammates, by [`Team`](bevy_unlag_rewind::Team), always see each other. Default: true.
    pub teammates: bool,
}

impl InterestConfig {
    /// Returns the seconds from the newest move of a client that the server knows to the frame in which the client
    /// draws a snapshot of now.
    pub(super) fn seconds_until_drawn(&self, trip: Option<&RoundTrip>) -> f32 {
        let latency = trip.map_or(self.max_round_trip, |trip| {
            (trip.rtt.as_secs_f32() + 2.0 * trip.jitter.as_secs_f32()).min(self.max_round_trip)
        });
        (latency + self.playout_seconds + self.margin_seconds).max(0.0)
    }

    /// Returns for how many more ticks a pawn is known to be out of sight if it is not tested again at the next turn.
    pub(super) fn spare_ticks(&self) -> u32 {
        self.interval_ticks.clamp(1, 64) * 2
    }
}

impl Default for InterestConfig {
    fn default() -> Self {
        Self {
            max_speed: 9.0,
            acceleration: 20.48,
            turn_rate: 8.0,
            vertical_speed: 5.0,
            jump_height: 1.2,
            eyes: Vec2::new(0.6, 1.7),
            eye_radius: 0.0,
            body_radius: 0.35,
            playout_seconds: 0.1,
            margin_seconds: 0.01,
            max_round_trip: 0.3,
            hold_seconds: 0.1,
            interval_ticks: 3,
            rays_per_tick: 3_000,
            teammates: true,
        }
    }
}

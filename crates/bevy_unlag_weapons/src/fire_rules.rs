//! Server rules for accepting shots.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_rewind::RewindTimeSource;

use crate::hit_claims::HitClaims;

/// Server rules for accepting shots, for all weapons.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct FireRules {
    /// Time after a shooter's death in which its shots still count, because they were fired on a screen that
    /// showed it alive. Default: 500 ms, but never more than the shooter's round trip plus a quarter of a
    /// second for frames and buffers. Raising it makes more duels end with two deaths; with 0 the order of
    /// arrival at the server decides, which favours the better connection.
    pub trade_window: Duration,
    /// Maximum horizontal distance of the drawn eye from the server's eye position, in metres. Default: 0.75,
    /// a tick of running and an easing correction. A shot from farther away is traced from the nearest
    /// position within the tolerance. Raising it, up to 2, lets a cheat shoot from farther away, but never
    /// through a wall.
    pub eye_tolerance: f32,
    /// Maximum vertical distance of the drawn eye from the server's eye position, in metres, up to 2.
    /// Default: 1.25, an easing stance change and a tick of falling.
    pub eye_height_tolerance: f32,
    /// Maximum deviation of a shot's aim from the path of the view since the previous move, in degrees.
    /// Default: 10, a jerk of the mouse between two ticks. Raising it lets a cheat shoot in a direction in
    /// which it does not look.
    pub aim_tolerance: f32,
    /// Maximum turn rate of the view shortly before a shot, in degrees per second, for yaw and pitch alike.
    /// Default: 7,200, half a turn in 25 ms, which no player reaches. After a faster turn within a tick,
    /// shots are refused until the turn has decayed, at one full turn per second. Within a frame of several
    /// ticks, as seen from its packets, a client may turn by up to 2,500 degrees per second. Raising the
    /// limit lets a cheat snap to a target and fire immediately.
    pub max_turn: f32,
    /// Whether shots hit teammates. Default: yes.
    #[doc(alias = "mp_friendlyfire")]
    pub friendly_fire: bool,
    /// Source of the time to which the server rewinds for a shot. Default: the view time of the shooter's
    /// screen.
    pub stamp: RewindTimeSource,
    /// Tolerance for client hit claims. Default: none, claims are ignored.
    pub claims: HitClaims,
}

impl Default for FireRules {
    fn default() -> Self {
        Self {
            trade_window: Duration::from_millis(500),
            eye_tolerance: 0.75,
            eye_height_tolerance: 1.25,
            aim_tolerance: 10.0,
            max_turn: 7_200.0,
            friendly_fire: true,
            stamp: RewindTimeSource::Drawn,
            claims: HitClaims::default(),
        }
    }
}

impl FireRules {
    /// Returns the drawn eye, or the nearest position to it within a `share` of the tolerances around `own`.
    pub(crate) fn clamp_eye(&self, own: Vec3, drawn: Vec3, share: f32) -> Vec3 {
        let off = drawn - own;
        // With NaN there is no tolerance.
        let (most, up) = (self.eye_tolerance.max(0.0) * share, self.eye_height_tolerance.max(0.0) * share);
        let aside = off.with_y(0.0);
        if aside.length() <= most && off.y.abs() <= up {
            return drawn;
        }
        own + aside.clamp_length_max(most).with_y(off.y.clamp(-up, up))
    }
}

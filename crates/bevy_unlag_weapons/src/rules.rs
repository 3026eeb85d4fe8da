//! What the server honours of a shot.

use bevy::prelude::*;
use bevy_unlag_rewind::StampSource;

use crate::HitClaims;

/// What the server honours of a shot, whatever it was fired with.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct FireRules {
    /// Ticks after its death in which a shooter's shots still count: they were fired on a screen
    /// that showed it alive. Default 32, half a second at 64 Hz, and never more than the shooter's round trip and a
    /// quarter of a second for the frames and buffers around it. Raising it makes more duels end with two dead; 0
    /// lets the server's order of arrival decide, which favours the better link.
    pub trade_ticks: i32,
    /// How far the drawn eye may be beside the server's own, in metres. Default 0.75: a tick of
    /// running and a correction being eased. From farther off a shot is judged from the nearest place that is not.
    /// Raising it, up to 2, lets a cheat shoot from farther off; never through a wall.
    pub eye_tolerance: f32,
    /// How far the drawn eye may be above or below the server's own, in metres. Default 1.25: a
    /// change of stance being eased, and a tick of falling. Up to 2.
    pub eye_height_tolerance: f32,
    /// How far beside the way that the view took since the move before a shot may look, in degrees. Default 10: a
    /// hand that jerks between two ticks. Raising it lets a cheat shoot where it does not look.
    pub aim_tolerance: f32,
    /// How fast a view may turn in the moments before a shot, in degrees per second: sideways, or up and down.
    /// Default 7,200: half a turn in 25 ms, which no hand does. Whoever turned faster within a tick waits until that
    /// is forgotten, at a turn a second. In a frame of several ticks, as its packets show it, a client turns by up to
    /// 2,500 degrees per second. Raising it lets a cheat turn to a target and fire at once.
    pub max_turn: f32,
    /// Whether shots hit who is on the shooter's own side. Default: yes.
    pub friendly_fire: bool,
    /// Where the moment at which a shot is judged comes from. Default: what the shooter's screen showed.
    pub stamp: StampSource,
    /// What a shooter's word about whom it hit is worth. Default: nothing.
    pub claims: HitClaims,
}

impl Default for FireRules {
    fn default() -> Self {
        Self {
            trade_ticks: 32,
            eye_tolerance: 0.75,
            eye_height_tolerance: 1.25,
            aim_tolerance: 10.0,
            max_turn: 7_200.0,
            friendly_fire: true,
            stamp: StampSource::Drawn,
            claims: HitClaims::default(),
        }
    }
}

impl FireRules {
    /// The drawn eye, or the nearest place to it that is no farther from the `own` one than a `share` of the
    /// tolerances.
    pub(crate) fn nearest_eye(&self, own: Vec3, drawn: Vec3, share: f32) -> Vec3 {
        let off = drawn - own;
        // A NaN tolerates nothing.
        let (most, up) = (self.eye_tolerance.max(0.0) * share, self.eye_height_tolerance.max(0.0) * share);
        let aside = off.with_y(0.0);
        if aside.length() <= most && off.y.abs() <= up {
            return drawn;
        }
        own + aside.clamp_length_max(most).with_y(off.y.clamp(-up, up))
    }
}

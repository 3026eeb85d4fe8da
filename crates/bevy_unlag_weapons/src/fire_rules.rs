//! Server rules for accepting shots.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{Wire, split_height};
use bevy_unlag_rewind::RewindTimeSource;

use crate::{friendly_fire::FriendlyFire, hit_claims::HitClaims};

/// Server rules for accepting shots, for all weapons. Clients show their own shots by some of them: a transport
/// sends those as [`ScreenRules`], so it is enough to set and change the rules on the server.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_weapons::{FireRules, FriendlyFire};
///
/// // On the server.
/// App::new().insert_resource(FireRules { friendly_fire: FriendlyFire::PassThrough, ..default() });
/// ```
///
/// In the book: *Weapons and health*, `book/src/reference/weapons.md`.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct FireRules {
    /// Time after a shooter's death in which its shots still count, because they were fired on a screen that
    /// showed it alive. Default: 500 ms, but never more than the shooter's round trip plus a quarter of a
    /// second for frames and buffers. Raising it makes more duels end with two deaths; with 0 the order of
    /// arrival at the server decides, which favours the better connection.
    pub trade_window: Duration,
    /// Maximum level distance of the drawn eye from the server's eye position, in metres. Default: 0.75,
    /// a tick of running and an easing correction. A shot from farther away is traced from the nearest
    /// position within the tolerance. Raising it, up to 2, lets a cheat shoot from farther away, but never
    /// through a wall.
    pub eye_tolerance: f32,
    /// Maximum distance of the drawn eye from the server's eye position along the shooter's up direction, in
    /// metres, up to 2. Default: 1.25, an easing stance change and a tick of falling.
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
    /// Effect of shots on teammates. Default: [`FriendlyFire::Damage`].
    #[doc(alias = "mp_friendlyfire")]
    pub friendly_fire: FriendlyFire,
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
            friendly_fire: FriendlyFire::default(),
            stamp: RewindTimeSource::Drawn,
            claims: HitClaims::default(),
        }
    }
}

impl FireRules {
    /// Returns the drawn eye, or the nearest position to it within a `share` of the tolerances around `own`, the
    /// eye of a pawn with this up direction.
    pub(crate) fn clamp_eye(&self, (own, up): (Vec3, Vec3), drawn: Vec3, share: f32) -> Vec3 {
        // With NaN there is no tolerance.
        let (most, high) = (self.eye_tolerance.max(0.0) * share, self.eye_height_tolerance.max(0.0) * share);
        let (aside, height) = split_height(drawn - own, up);
        if aside.length() <= most && height.abs() <= high {
            return drawn;
        }
        let (aside, height) = (aside.clamp_length_max(most), height.clamp(-high, high));
        own + if up == Vec3::Y { aside.with_y(height) } else { aside + up * height }
    }
}

/// The part of the [`FireRules`] by which a client shows the hits of its own shots; 14 bytes.
#[derive(Wire, Clone, Copy, PartialEq, Debug)]
pub struct ScreenRules {
    eye_tolerance: f32,
    eye_height_tolerance: f32,
    claims: HitClaims,
    friendly_fire: FriendlyFire,
}

impl From<&FireRules> for ScreenRules {
    fn from(rules: &FireRules) -> Self {
        // NaN counts as 0 on both sides.
        let finite = |value: f32| if value.is_nan() { 0.0 } else { value.clamp(0.0, 1e6) };
        let HitClaims { padding, rounds } = rules.claims;
        Self {
            eye_tolerance: finite(rules.eye_tolerance),
            eye_height_tolerance: finite(rules.eye_height_tolerance),
            friendly_fire: rules.friendly_fire,
            claims: HitClaims { padding: finite(padding), rounds },
        }
    }
}

impl ScreenRules {
    /// Returns `own` with these values in it.
    #[must_use]
    pub fn within(&self, own: &FireRules) -> FireRules {
        let Self { eye_tolerance, eye_height_tolerance, friendly_fire, claims } = *self;
        FireRules { eye_tolerance, eye_height_tolerance, friendly_fire, claims, ..*own }
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter, WireError};

    use super::*;

    #[test]
    fn screen_rules_survive_the_wire_and_replace_only_what_screens_use() {
        for friendly_fire in [FriendlyFire::Damage, FriendlyFire::PassThrough, FriendlyFire::Block] {
            let server = FireRules {
                eye_tolerance: 0.5,
                eye_height_tolerance: f32::NAN,
                trade_window: Duration::from_millis(47),
                friendly_fire,
                claims: HitClaims::UNREAL_TOURNAMENT,
                ..FireRules::default()
            };
            let sent = ScreenRules::from(&server);
            let mut w = BitWriter::default();
            sent.write(&mut w);
            let bytes = w.finish();
            assert_eq!(bytes.len(), 14);
            assert_eq!(ScreenRules::read(&mut BitReader::new(&bytes)), Ok(sent));
            let client = sent.within(&FireRules::default());
            let expected =
                FireRules { eye_height_tolerance: 0.0, trade_window: Duration::from_millis(500), ..server };
            assert_eq!(client, expected);
        }
    }

    #[test]
    fn damaged_screen_rules_are_refused() {
        let mut w = BitWriter::default();
        ScreenRules::from(&FireRules::default()).write(&mut w);
        let bytes = w.finish();
        assert_eq!(ScreenRules::read(&mut BitReader::new(&bytes[..13])), Err(WireError::Ended));
        assert_eq!(ScreenRules::read(&mut BitReader::new(&[255; 14])), Err(WireError::Invalid));
    }
}

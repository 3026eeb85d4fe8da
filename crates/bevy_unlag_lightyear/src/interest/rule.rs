//! Exemptions from interest: what a game decides itself.

use core::fmt;

use bevy::prelude::*;

/// Marks a pawn that is never concealed: one that carries a flag, is marked by a scanner, or is an announcer. On the
/// server's pawn; may be inserted and removed at any time.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct AlwaysInSight;

/// Marks a client from which no pawn is concealed: a spectator, or a player during a kill-cam. On the server's end of
/// its link; may be inserted and removed at any time. Clients without a living pawn see everything anyway, because
/// their camera can be anywhere.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct SeesEverything;

/// A client and a pawn that might be concealed from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SightPair {
    /// The server's end of the client's link.
    pub client: Entity,
    /// The client's own pawn.
    pub viewer: Entity,
    /// The other pawn.
    pub pawn: Entity,
}

/// Answer of an [`InterestRule`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SightVerdict {
    /// The level decides.
    #[default]
    ByLevel,
    /// The pawn is shown.
    Show,
    /// The pawn is concealed, even in plain view. It disappears at once, without
    /// [`hold_seconds`](crate::InterestConfig::hold_seconds).
    Hide,
}

type Judge = dyn Fn(&SightPair) -> SightVerdict + Send + Sync;

/// A game's own rule for each client and pawn, after all other exemptions. Default: the level decides. It is called for
/// every pair every [`interval_ticks`](crate::InterestConfig::interval_ticks), so it must be cheap; replace the
/// resource when the rule needs new data.
#[derive(Resource)]
pub struct InterestRule(Box<Judge>);

impl InterestRule {
    /// Creates a rule.
    pub fn new(judge: impl Fn(&SightPair) -> SightVerdict + Send + Sync + 'static) -> Self {
        Self(Box::new(judge))
    }

    pub(super) fn judge(&self, pair: &SightPair) -> SightVerdict {
        (self.0)(pair)
    }
}

impl Default for InterestRule {
    fn default() -> Self {
        Self::new(|_| SightVerdict::ByLevel)
    }
}

impl fmt::Debug for InterestRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InterestRule")
    }
}

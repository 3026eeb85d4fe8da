//! Health, score and death state of pawns.

use bevy::prelude::*;
use bevy_unlag_core::{Interpolate, InterpolationSpan, Tick, Wire};
use serde::{Deserialize, Serialize};

/// Health of a pawn. Other clients know it as of the moment at which they draw the pawn, its owner at once.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_weapons::Health;
///
/// /// Length of a health bar, as a share of its full length.
/// #[derive(Component)]
/// struct HealthBar(f32);
///
/// /// On every client: updates the bars of the pawns whose health has changed.
/// fn update_bars(pawns: Query<(Entity, &Health), Changed<Health>>, mut commands: Commands) {
///     for (pawn, health) in &pawns {
///         commands.entity(pawn).insert(HealthBar(health.fraction()));
///     }
/// }
///
/// assert_eq!(Health { current: 30.0, max: 120.0 }.fraction(), 0.25);
/// ```
///
/// In the book: *Weapons and health*, `book/src/reference/weapons.md`.
#[doc(alias = "m_iHealth")]
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(LastAttacker)]
pub struct Health {
    /// Remaining points; at 0 the pawn is dead. To kill a pawn, write a [`Hazard`](crate::Hazard), so that
    /// [`Died`](crate::Died) is written as well.
    pub current: f32,
    /// Points at full health.
    pub max: f32,
}

impl Default for Health {
    fn default() -> Self {
        Self::full(100.0)
    }
}

impl Health {
    /// Full health of `max` points.
    #[must_use]
    pub fn full(max: f32) -> Self {
        Self { current: max, max }
    }

    /// Whether no health is left.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        // A non-finite value counts as dead.
        !self.current.is_finite() || self.current <= 0.0
    }

    /// Returns the remaining fraction, 0 to 1, for a health bar.
    #[must_use]
    pub fn fraction(&self) -> f32 {
        if self.is_dead() || self.max <= 0.0 { 0.0 } else { (self.current / self.max).clamp(0.0, 1.0) }
    }
}

/// Kills and deaths of a player. Optional: a pawn without it is just not scored.
#[doc(alias = "APlayerState")]
#[derive(Component, Wire, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PlayerScore {
    /// Number of kills; suicides and team kills do not count.
    pub kills: u16,
    /// Number of deaths.
    pub deaths: u16,
}

/// Not interpolated: the older health holds until the moment of the newer one.
impl Interpolate for Health {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// Not interpolated: the older score holds until the moment of the newer one.
impl Interpolate for PlayerScore {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// Marks a dead pawn; on the server.
#[doc(alias = "m_lifeState")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct Dead {
    /// Tick of the death.
    pub since: Tick,
    /// Tick in which the pawn is due to respawn. A game may change it, for instance to respawn a whole team
    /// together.
    pub until: Tick,
    pub(super) respawn_requested: bool,
}

impl Dead {
    pub(super) fn new(since: Tick, ticks: i32) -> Self {
        Self { since, until: since.offset(ticks), respawn_requested: false }
    }

    /// Whether the respawn time is over: for a game that found no spawn point when
    /// [`RespawnDue`](crate::RespawnDue) was written.
    #[must_use]
    pub fn is_due(&self, now: Tick) -> bool {
        now.since(self.until) >= 0
    }
}

/// Last attacker of a pawn; the pawn itself and its teammates do not count. On the server.
#[doc(alias = "LastHitBy")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct LastAttacker {
    /// The attacker and the tick of the attack; `None` since the last respawn.
    pub last: Option<(Entity, Tick)>,
}

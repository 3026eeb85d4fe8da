//! What there is to know of a pawn's life.

use bevy::prelude::*;
use bevy_unlag_core::Tick;
use serde::{Deserialize, Serialize};

/// How much a pawn can take.
#[derive(Component, Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[require(Hurt)]
pub struct Health {
    /// Points that are left; with 0 it is dead. To kill somebody write a [`Hazard`](crate::Hazard): then
    /// everyone learns of it.
    pub now: f32,
    /// Points of somebody who is well.
    pub max: f32,
}

impl Default for Health {
    fn default() -> Self {
        Self::full(100.0)
    }
}

impl Health {
    /// Somebody who is well.
    #[must_use]
    pub fn full(max: f32) -> Self {
        Self { now: max, max }
    }

    /// Whether there is none left.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        // What is no number is no life.
        !self.now.is_finite() || self.now <= 0.0
    }

    /// The part that is left, 0 to 1: for a bar.
    #[must_use]
    pub fn part(&self) -> f32 {
        if self.is_dead() || self.max <= 0.0 { 0.0 } else { (self.now / self.max).clamp(0.0, 1.0) }
    }
}

/// How a player does. A pawn without it just goes on.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Score {
    /// How many it has killed; neither itself nor its own side counts.
    pub kills: u16,
    /// How often it has died.
    pub deaths: u16,
}

/// Marks who is dead; on the server.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dead {
    /// When it died.
    pub since: Tick,
    /// When it is to come back. A game may change it, for instance to bring back a whole side together.
    pub until: Tick,
    pub(super) told: bool,
}

impl Dead {
    pub(super) fn new(since: Tick, ticks: i32) -> Self {
        Self { since, until: since.offset(ticks), told: false }
    }

    /// Whether it is to come back by now: for a game that found no place when [`RespawnDue`](crate::RespawnDue)
    /// was written.
    #[must_use]
    pub fn is_due(&self, now: Tick) -> bool {
        now.since(self.until) >= 0
    }
}

/// Who hurt a pawn last; neither itself nor its own side counts. On the server.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hurt {
    /// Who, and when; `None` since it came to life.
    pub last: Option<(Entity, Tick)>,
}

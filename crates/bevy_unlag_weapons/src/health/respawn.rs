//! Respawn and spawn protection.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, Tick};
use bevy_unlag_rewind::FrameHistory;

use super::{Dead, Health, LastAttacker, RespawnRules, ticks};

/// Spawn protection: the pawn takes no damage. The component is removed when the protection ends, so a client
/// that it is replicated to can show it.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, Reflect)]
#[reflect(Component, Debug)]
#[doc(alias = "spawn protection")]
pub struct SpawnProtection {
    /// First server tick in which the protection no longer holds.
    pub until: Tick,
}

impl SpawnProtection {
    /// Whether the protection holds in a tick.
    #[must_use]
    pub fn holds(&self, now: Tick) -> bool {
        self.until.is_newer_than(now)
    }
}

/// Requests that the game finds a spawn point for a dead pawn: its respawn time is over. Written on the
/// server, once per death.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct RespawnDue {
    /// The dead pawn.
    pub pawn: Entity,
}

/// Reports that the game has placed a living pawn: it gets full health and spawn protection. Games write it
/// on the server for a new pawn, for a dead one, or for all pawns when a round begins.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
#[doc(alias = "RestartPlayer")]
pub struct Respawn {
    /// The placed pawn.
    pub pawn: Entity,
}

/// Removes the protection when its time is over or its owner has fired.
pub(super) fn end_protection(
    tick: Res<CurrentTick>,
    rules: Res<RespawnRules>,
    mut pawns: Query<(Entity, &mut SpawnProtection, Option<&FrameHistory>)>,
    mut commands: Commands,
) {
    for (pawn, mut protected, history) in &mut pawns {
        let newest = history.and_then(|history| history.frames().next_back());
        let fired = newest.is_some_and(|frame| frame.fired && frame.tick == tick.0);
        if fired && rules.fire_ends_protection {
            // Immediately, so that damage of this very tick counts.
            protected.until = tick.0;
        }
        if !protected.holds(tick.0) {
            commands.entity(pawn).try_remove::<SpawnProtection>();
        }
    }
}

pub(super) fn respawn(
    mut placed: MessageReader<Respawn>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    rules: Res<RespawnRules>,
    mut pawns: Query<(&mut Health, &mut LastAttacker)>,
    mut commands: Commands,
) {
    for Respawn { pawn } in placed.read() {
        let Ok((mut health, mut hurt)) = pawns.get_mut(*pawn) else { continue };
        let full = Health::full(health.max);
        health.set_if_neq(full);
        *hurt = LastAttacker::default();
        let mut entity = commands.entity(*pawn);
        entity.try_remove::<Dead>();
        // The current tick is almost over and does not count.
        let length = ticks(rules.protection, fixed.timestep());
        if length > 0 {
            entity.try_insert(SpawnProtection { until: tick.0.offset(length + 1) });
        }
    }
}

pub(super) fn request_respawns(
    tick: Res<CurrentTick>,
    mut dead: Query<(Entity, &mut Dead)>,
    mut due: MessageWriter<RespawnDue>,
) {
    for (pawn, mut dead) in &mut dead {
        if dead.is_due(tick.0) && !dead.respawn_requested {
            dead.respawn_requested = true;
            due.write(RespawnDue { pawn });
        }
    }
}

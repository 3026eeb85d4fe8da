//! From death back to life.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, Tick};
use bevy_unlag_rewind::FrameHistory;

use super::{Dead, Health, Hurt, VitalsRules, ticks};

/// Nothing hurts this one; whoever has just come back. It is there for as long as it holds, so a client that
/// it is replicated to can show it.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Protected {
    /// The first tick, the server's, in which it no longer holds.
    pub until: Tick,
}

impl Protected {
    /// Whether it holds in a tick.
    #[must_use]
    pub fn holds(&self, now: Tick) -> bool {
        self.until.is_newer_than(now)
    }
}

/// Somebody's time of being dead is over: the game is to find a place for it. Written on the server, once for a
/// death.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct RespawnDue {
    /// Who.
    pub pawn: Entity,
}

/// Somebody was put on its feet: its health is full, and it is protected from now on. Games write it on the
/// server, when they placed a body: a new one, one of the dead, or all of them when a round begins.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Respawn {
    /// Who.
    pub pawn: Entity,
}

/// Protection ends with its time, and with the first shot.
pub(super) fn end_protection(
    tick: Res<CurrentTick>,
    rules: Res<VitalsRules>,
    mut pawns: Query<(Entity, &mut Protected, Option<&FrameHistory>)>,
    mut commands: Commands,
) {
    for (pawn, mut protected, history) in &mut pawns {
        let newest = history.and_then(|history| history.frames().next_back());
        let fired = newest.is_some_and(|frame| frame.fired && frame.tick == tick.0);
        if fired && rules.fire_ends_protection {
            // At once, for what hits it in this very tick.
            protected.until = tick.0;
        }
        if !protected.holds(tick.0) {
            commands.entity(pawn).try_remove::<Protected>();
        }
    }
}

pub(super) fn respawn(
    mut placed: MessageReader<Respawn>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    rules: Res<VitalsRules>,
    mut pawns: Query<(&mut Health, &mut Hurt)>,
    mut commands: Commands,
) {
    for Respawn { pawn } in placed.read() {
        let Ok((mut health, mut hurt)) = pawns.get_mut(*pawn) else { continue };
        let full = Health::full(health.max);
        health.set_if_neq(full);
        *hurt = Hurt::default();
        let mut entity = commands.entity(*pawn);
        entity.try_remove::<Dead>();
        // This tick is over.
        let length = ticks(rules.protection, fixed.timestep());
        if length > 0 {
            entity.try_insert(Protected { until: tick.0.offset(length + 1) });
        }
    }
}

pub(super) fn tell_due(
    tick: Res<CurrentTick>,
    mut dead: Query<(Entity, &mut Dead)>,
    mut due: MessageWriter<RespawnDue>,
) {
    for (pawn, mut dead) in &mut dead {
        if dead.is_due(tick.0) && !dead.told {
            dead.told = true;
            due.write(RespawnDue { pawn });
        }
    }
}

//! Damage application and kill attribution.
//!
//! All damage to a pawn in a tick is applied together, and an attacker's damage counts even if the attacker
//! dies in the same tick: two players who shoot each other in one tick both die. The result does not depend
//! on the order of the messages.

use core::cmp::Ordering;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, Tick};
use bevy_unlag_rewind::Team;

use super::{Dead, Health, LastAttacker, PlayerScore, RespawnRules, SpawnProtection, ticks};
use crate::verdict::Damage;

/// Damage or healing by the world: a fall, lava, the void. Games write it before
/// [`WeaponSystems::ApplyDamage`](crate::WeaponSystems::ApplyDamage).
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
#[doc(alias = "trigger_hurt")]
pub struct Hazard {
    /// The affected pawn.
    pub target: Entity,
    /// Damage in points; negative values heal. An infinite amount kills even a protected pawn.
    pub amount: f32,
    /// Game-defined identifier of the cause, reported in [`Died`].
    pub cause: u8,
}

/// Cause of a death.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub enum DeathCause {
    /// A shot, with its weapon, hits and direction.
    Shot(Damage),
    /// The world: [`Hazard::cause`].
    Hazard(u8),
}

/// Reports the death of a pawn; written on the server.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
#[doc(alias = "player_death")]
pub struct Died {
    /// The pawn that died.
    pub victim: Entity,
    /// The pawn that gets the kill: the source of the hardest blow of the tick or, if that was the world or
    /// the victim itself, the last attacker within [`RespawnRules::credit`]. `None` if there is no such pawn
    /// or it no longer exists. The killer may be dead as well.
    pub killer: Option<Entity>,
    /// Whether the killer is on the victim's team; such a kill does not count.
    pub team_kill: bool,
    /// The hardest blow.
    pub cause: DeathCause,
    /// Tick of the death.
    pub tick: Tick,
}

/// Damage or healing of one pawn from one source.
#[derive(Clone, Copy)]
pub(super) struct DamageEntry {
    target: Entity,
    by: Option<Entity>,
    amount: f32,
    cause: DeathCause,
}

impl DamageEntry {
    /// Orders by target, then hardest first, independent of the order of the messages.
    fn order(&self, other: &Self) -> Ordering {
        let rest = |blow: &Self| match blow.cause {
            DeathCause::Shot(damage) => (0, u32::from(damage.weapon.0), damage.shot.0),
            DeathCause::Hazard(cause) => (1, u32::from(cause), 0),
        };
        let target = self.target.cmp(&other.target);
        let hardest = other.amount.total_cmp(&self.amount);
        target.then(hardest).then(self.by.cmp(&other.by)).then_with(|| rest(self).cmp(&rest(other)))
    }

    fn is_valid(&self) -> bool {
        !self.amount.is_nan() && self.amount > f32::NEG_INFINITY
    }
}

type HealthQuery<'a> = (&'a mut Health, &'a mut LastAttacker, Option<&'a SpawnProtection>);

pub(super) fn apply_damage(
    mut damage: MessageReader<Damage>,
    mut hazards: MessageReader<Hazard>,
    (tick, fixed, rules): (Res<CurrentTick>, Res<Time<Fixed>>, Res<RespawnRules>),
    mut pawns: Query<HealthQuery>,
    mut scores: Query<&mut PlayerScore>,
    everyone: Query<Option<&Team>>,
    mut died: MessageWriter<Died>,
    mut commands: Commands,
    mut blows: Local<Vec<DamageEntry>>,
) {
    blows.clear();
    blows.extend(damage.read().map(|damage| DamageEntry {
        target: damage.target,
        by: Some(damage.shooter),
        amount: damage.amount,
        cause: DeathCause::Shot(*damage),
    }));
    blows.extend(hazards.read().map(|hazard| DamageEntry {
        target: hazard.target,
        by: None,
        amount: hazard.amount,
        cause: DeathCause::Hazard(hazard.cause),
    }));
    let team = |pawn: Entity| everyone.get(pawn).ok().flatten();
    blows.retain_mut(|blow| {
        if is_friend(blow, team) {
            blow.amount *= rules.team_damage;
        }
        blow.is_valid()
    });
    blows.sort_by(DamageEntry::order);
    let now = tick.0;
    for blows in blows.chunk_by(|a, b| a.target == b.target) {
        let target = blows[0].target;
        let Ok((mut health, mut hurt, protected)) = pawns.get_mut(target) else { continue };
        if health.is_dead() {
            continue;
        }
        let safe = protected.is_some_and(|protected| protected.holds(now));
        let counts = |blow: &&DamageEntry| !safe || blow.amount <= 0.0 || blow.amount.is_infinite();
        let lost: f32 = blows.iter().filter(counts).map(|blow| blow.amount).sum();
        let mut hard = blows.iter().filter(counts).filter(|blow| blow.amount > 0.0);
        let hardest = hard.clone().next();
        let foe = |blow: &&DamageEntry| blow.by.is_some_and(|by| by != target) && !is_friend(blow, team);
        if let Some(by) = hard.find(foe).and_then(|blow| blow.by) {
            hurt.last = Some((by, now));
        }
        // Health above the maximum is not capped by a hit.
        let left = (health.current - lost).clamp(0.0, health.max.max(health.current));
        if health.current != left {
            health.current = left;
        }
        let Some(last) = hardest.filter(|_| health.is_dead()) else { continue };
        let credit = ticks(rules.credit, fixed.timestep());
        let hurt_by = hurt.last.filter(|(_, at)| now.since(*at) <= credit).map(|(by, _)| by);
        let killer = last.by.filter(|by| *by != target).or(hurt_by).filter(|by| everyone.contains(*by));
        let team_kill = killer.is_some_and(|by| team(by).is_some_and(|side| team(target) == Some(side)));
        died.write(Died { victim: target, killer, team_kill, cause: last.cause, tick: now });
        if let Ok(mut score) = scores.get_mut(target) {
            score.deaths = score.deaths.saturating_add(1);
        }
        if let Some(mut score) = killer.filter(|_| !team_kill).and_then(|by| scores.get_mut(by).ok()) {
            score.kills = score.kills.saturating_add(1);
        }
        let dead = Dead::new(now, ticks(rules.respawn, fixed.timestep()));
        commands.entity(target).try_insert(dead).try_remove::<SpawnProtection>();
    }
}

/// Whether the blow comes from a teammate other than the target itself.
fn is_friend<'a>(blow: &DamageEntry, team: impl Fn(Entity) -> Option<&'a Team>) -> bool {
    let Some(by) = blow.by.filter(|by| *by != blow.target) else { return false };
    team(by).is_some_and(|side| team(blow.target) == Some(side))
}

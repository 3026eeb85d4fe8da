//! From damage to death.
//!
//! All that happened to somebody in a tick is taken together, and nobody's blow depends on whether the one who
//! dealt it lives: two who shoot each other in one tick are both dead, and in whatever order messages came, the
//! same ones die by the same hands.

use core::cmp::Ordering;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, Tick};
use bevy_unlag_rewind::Team;

use super::{Dead, Health, Hurt, Protected, Score, VitalsRules, ticks};
use crate::Damage;

/// The world hurts somebody: a fall, lava, the void. Games write it, before
/// [`VitalsSystems::Harm`](crate::VitalsSystems::Harm).
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Hazard {
    /// Whom.
    pub target: Entity,
    /// How much. Less than nothing heals. An infinite amount kills whatever protects.
    pub amount: f32,
    /// The game's own name for it: [`Died`] has it.
    pub cause: u8,
}

/// What somebody died of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DeathCause {
    /// A shot: with what, where, and from where it came.
    Shot(Damage),
    /// The world: [`Hazard::cause`].
    Hazard(u8),
}

/// Somebody died; written on the server.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Died {
    /// Who.
    pub victim: Entity,
    /// Who gets the credit: whoever dealt the hardest blow of the tick, or, when that was nobody or the victim
    /// itself, who hurt it last within [`VitalsRules::credit`]. `None` when there is nobody, or nobody any more.
    /// The killer may be dead as well.
    pub killer: Option<Entity>,
    /// Whether the killer is on the victim's own side: no kill then.
    pub team_kill: bool,
    /// The hardest blow.
    pub cause: DeathCause,
    /// When.
    pub tick: Tick,
}

/// Something that hurts or heals.
#[derive(Clone, Copy)]
pub(super) struct Blow {
    target: Entity,
    by: Option<Entity>,
    amount: f32,
    cause: DeathCause,
}

impl Blow {
    /// The hardest first, for each target; never as messages came.
    fn order(&self, other: &Self) -> Ordering {
        let rest = |blow: &Self| match blow.cause {
            DeathCause::Shot(damage) => (0, u32::from(damage.weapon.0), damage.shot.0),
            DeathCause::Hazard(cause) => (1, u32::from(cause), 0),
        };
        let target = self.target.cmp(&other.target);
        let hardest = other.amount.total_cmp(&self.amount);
        target.then(hardest).then(self.by.cmp(&other.by)).then_with(|| rest(self).cmp(&rest(other)))
    }

    fn makes_sense(&self) -> bool {
        !self.amount.is_nan() && self.amount > f32::NEG_INFINITY
    }
}

type Vitals<'a> = (&'a mut Health, &'a mut Hurt, Option<&'a Protected>);

pub(super) fn harm(
    mut damage: MessageReader<Damage>,
    mut hazards: MessageReader<Hazard>,
    (tick, fixed, rules): (Res<CurrentTick>, Res<Time<Fixed>>, Res<VitalsRules>),
    mut pawns: Query<Vitals>,
    mut scores: Query<&mut Score>,
    everyone: Query<Option<&Team>>,
    mut died: MessageWriter<Died>,
    mut commands: Commands,
    mut blows: Local<Vec<Blow>>,
) {
    blows.clear();
    blows.extend(damage.read().map(|damage| Blow {
        target: damage.target,
        by: Some(damage.shooter),
        amount: damage.amount,
        cause: DeathCause::Shot(*damage),
    }));
    blows.extend(hazards.read().map(|hazard| Blow {
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
        blow.makes_sense()
    });
    blows.sort_by(Blow::order);
    let now = tick.0;
    for blows in blows.chunk_by(|a, b| a.target == b.target) {
        let target = blows[0].target;
        let Ok((mut health, mut hurt, protected)) = pawns.get_mut(target) else { continue };
        if health.is_dead() {
            continue;
        }
        let safe = protected.is_some_and(|protected| protected.holds(now));
        let counts = |blow: &&Blow| !safe || blow.amount <= 0.0 || blow.amount.is_infinite();
        let lost: f32 = blows.iter().filter(counts).map(|blow| blow.amount).sum();
        let mut hard = blows.iter().filter(counts).filter(|blow| blow.amount > 0.0);
        let hardest = hard.clone().next();
        let foe = |blow: &&Blow| blow.by.is_some_and(|by| by != target) && !is_friend(blow, team);
        if let Some(by) = hard.find(foe).and_then(|blow| blow.by) {
            hurt.last = Some((by, now));
        }
        // Who has more than is usual does not lose it by being hit.
        let left = (health.now - lost).clamp(0.0, health.max.max(health.now));
        if health.now != left {
            health.now = left;
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
        commands.entity(target).try_insert(dead).try_remove::<Protected>();
    }
}

/// Whether it comes from somebody else on the target's own side.
fn is_friend<'a>(blow: &Blow, team: impl Fn(Entity) -> Option<&'a Team>) -> bool {
    let Some(by) = blow.by.filter(|by| *by != blow.target) else { return false };
    team(by).is_some_and(|side| team(blow.target) == Some(side))
}

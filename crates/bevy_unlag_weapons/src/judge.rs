//! Server-side validation of shots: each shot is validated exactly once.

mod beams;
mod checks;
mod hits;
mod sight;

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedEvent, LocalControl, MoveModel, NetId, NetRole, StepEvent};
use bevy_unlag_rewind::{
    EvidenceLog, EvidenceNotes, FrameHistory, RewindFilter, RewindQuery, RewindRefusal, RewindTime, Team,
};

use crate::{
    Armed, ArmsEvent, Arsenal, Damage, FireRules, HitList, Mailed, OutgoingVerdicts, RefusedShots, Round,
    Shot, ShotRefusal, ShotResult, ShotVerdict, SpreadSource, Tracer, Weapon,
    claim::LastClaims,
    projectile::{Launch, Launches, Seen},
};
use beams::Beams;
use hits::{Hits, Question};
pub(crate) use hits::{Struck, write_damage};
use sight::{Clocks, Shooter, ShooterItem};

/// Secret from which the server derives pawn seeds and the spread of [`SpreadSource::Server`] weapons.
/// Default: a random number per app.
#[derive(Resource, Clone, Copy, Debug)]
pub struct SpreadSecret(pub u64);

impl Default for SpreadSecret {
    fn default() -> Self {
        use core::hash::{BuildHasher, Hasher};
        // The hash seeds of std come from the system's random source.
        Self(std::collections::hash_map::RandomState::new().build_hasher().finish())
    }
}

/// Read-only context of shot validation.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Bench<'w, 's> {
    clocks: Clocks<'w>,
    arsenal: Res<'w, Arsenal>,
    rules: Res<'w, FireRules>,
    secret: Res<'w, SpreadSecret>,
    query: RewindQuery<'w, 's>,
    teams: Query<'w, 's, &'static Team>,
}

/// Outputs of shot validation.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Answers<'w, 's> {
    damage: MessageWriter<'w, Damage>,
    tracers: MessageWriter<'w, Tracer>,
    verdicts: MessageWriter<'w, ShotVerdict>,
    pawns: Query<
        'w,
        's,
        (Option<&'static mut OutgoingVerdicts>, Option<&'static mut RefusedShots>, Has<LocalControl>),
    >,
}

impl Answers<'_, '_> {
    /// Counts a refused shot.
    pub fn count(&mut self, shooter: Entity, why: ShotRefusal) {
        if let Ok((_, Some(mut refused), _)) = self.pawns.get_mut(shooter) {
            refused.count(why);
        }
    }

    /// Sends a verdict to the shooter, local or remote.
    pub fn tell(&mut self, shooter: Entity, verdict: ShotVerdict) {
        let Ok((mailbox, _, local)) = self.pawns.get_mut(shooter) else { return };
        if local {
            self.verdicts.write(verdict);
        } else if let Some(mut mailbox) = mailbox {
            mailbox.0.push(Mailed::Verdict(verdict));
        }
    }

    /// Sends a tracer to all other clients.
    fn show(&mut self, shooter: Entity, tracer: Tracer) {
        self.tracers.write(tracer);
        if let Ok((Some(mut mailbox), ..)) = self.pawns.get_mut(shooter) {
            mailbox.0.push(Mailed::Tracer(tracer));
        }
    }

    /// Queues a message for all clients; through another pawn's queue if the shooter no longer has one.
    pub fn mail(&mut self, shooter: Entity, mailed: Mailed) {
        if let Ok((Some(mut mailbox), ..)) = self.pawns.get_mut(shooter) {
            mailbox.0.push(mailed);
        } else if let Some(mut mailbox) = self.pawns.iter_mut().find_map(|(mailbox, ..)| mailbox) {
            mailbox.0.push(mailed);
        }
    }

    pub fn hurt(&mut self, damage: Damage) {
        self.damage.write(damage);
    }
}

/// State and buffers that persist between shots.
#[derive(Default)]
pub(crate) struct Desk {
    claims: LastClaims,
    beams: Beams,
    hits: Hits,
}

pub(crate) fn judge<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut shooters: Query<(&NetRole, &NetId, Shooter)>,
    model: Res<M::Config>,
    bench: Bench,
    mut answers: Answers,
    mut launches: ResMut<Launches>,
    mut log: Option<ResMut<EvidenceLog>>,
    mut desk: Local<Desk>,
) {
    desk.claims.keep(|shooter| shooters.contains(shooter));
    desk.beams.keep(|shooter| shooters.contains(shooter));
    for step in happened.read() {
        let ExtendedEvent::Extension(event) = &step.event else { continue };
        let Ok((NetRole::Authority, id, shooter)) = shooters.get_mut(step.entity) else { continue };
        match event {
            ArmsEvent::Fired(round) => {
                let Some(weapon) = bench.arsenal.get(round.weapon) else { continue };
                let asked = Asked { step, round, weapon, id: *id };
                let log = log.as_deref_mut().filter(|log| log.is_on());
                let judged = asked.judge(shooter, &model, &bench, &mut desk, log);
                asked.answer(judged, &mut desk, &bench, &mut answers, &mut launches);
            }
            ArmsEvent::NotFired { shot, why } => {
                let why = (*why).into();
                answers.count(step.entity, why);
                let result = ShotResult::Refused(why);
                answers.tell(step.entity, ShotVerdict { shot: *shot, result, clamped: false });
            }
            _ => {}
        }
    }
}

/// Marks frames in which a pawn fired.
pub(crate) fn mark<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut pawns: Query<&mut FrameHistory>,
) {
    for step in happened.read() {
        if let ExtendedEvent::Extension(ArmsEvent::Fired(_)) = step.event
            && let Ok(mut history) = pawns.get_mut(step.entity)
        {
            history.mark_shot();
        }
    }
}

/// A shot to be validated.
struct Asked<'a, M: MoveModel> {
    step: &'a StepEvent<Armed<M>>,
    round: &'a Round,
    weapon: &'a Weapon,
    id: NetId,
}

/// Result of a validated shot.
struct Judged {
    clamped: bool,
    /// Eye position that was used.
    eye: Vec3,
    /// Seed of the spread.
    seed: u16,
    /// The projectile to be launched, if any.
    launch: Option<Launch>,
}

impl<M: MoveModel> Asked<'_, M> {
    /// Validates the shot and resolves its hits into `desk.hits`.
    fn judge(
        &self,
        mut shooter: ShooterItem,
        model: &M::Config,
        bench: &Bench,
        desk: &mut Desk,
        log: Option<&mut EvidenceLog>,
    ) -> Result<Judged, ShotRefusal> {
        let Self { step, round, weapon, .. } = *self;
        desk.hits.clear();
        let arrived = bench.clocks.arrived(step.waited);
        let own = M::eye(model, &step.state.body);
        let seen = round.fire.sight(step.tick, arrived, own);
        // View times are tracked in order, including those of refused shots.
        let turned = step.tick.offset(-i32::from(round.turned.ago));
        let frames = shooter.frames([step.tick, turned], &bench.clocks);
        let unaware = shooter.unaware(&bench.rules, &bench.clocks);
        let flies = matches!(weapon.shot, Shot::Projectile(_));
        let admitted = shooter.admit(step, (&seen, flies), &bench.rules, &bench.clocks);
        let alive = M::snapshot(&step.state.body, default()).alive;
        if !alive && !bench.query.was_alive(step.entity, unaware) {
            return Err(ShotRefusal::Dead);
        }
        let eye = checks::eye(own, seen.eye, &bench.rules, &bench.query)?;
        checks::aim(round, frames, bench.clocks.dt(), &bench.rules)?;
        checks::pellets(round, weapon)?;
        let admitted = admitted?;
        let limits = sight::limits(weapon, bench.query.limits());
        let view = admitted.view(limits.as_ref());
        let time = view.map_or(RewindTime::Now, RewindTime::View);
        let then = bench.query.at(time).map_err(|refusal| match refusal {
            RewindRefusal::TooOld => ShotRefusal::TooOld,
            RewindRefusal::FromTheFuture => ShotRefusal::FromTheFuture,
        })?;
        let not_of = bench.teams.get(step.entity).ok().filter(|_| !bench.rules.friendly_fire).copied();
        let nobody = |_| false;
        let only: Option<&(dyn Fn(Entity) -> bool + Sync)> = admitted.blind.then_some(&nobody);
        let filter = RewindFilter { not_of, only, ..RewindFilter::without(step.entity) };
        let then = then.of(filter);
        let record = log.map(|log| {
            let way = round.cone.direction(Vec2::ZERO);
            (log, then.evidence(eye, way, weapon.range()).of_shot(self.id, round.shot.0))
        });
        let clamped = admitted.moved || then.time().clamped() || eye != seen.eye;
        let claimed = desk.claims.of(&bench.rules.claims, (step.entity, round.number), &round.fire);
        let seed = match weapon.spread.source {
            SpreadSource::Server => crate::spread::secret_seed(bench.secret.0, round.seed, round.number),
            _ => round.seed,
        };
        let launch = match weapon.shot {
            Shot::Projectile(_) => Some(Launch {
                shooter: step.entity,
                id: self.id,
                round: *round,
                not_of,
                from: eye,
                at: then.time().used,
                seen: Seen::of(view.as_ref()),
                clamped,
            }),
            _ => {
                let question = Question { weapon, round, eye, seed, claimed, dt: bench.clocks.dt() };
                desk.hits.ask(&then, &question);
                None
            }
        };
        if let Some((log, record)) = record {
            let hit = desk.hits.struck().first().map(|struck| struck.hit);
            let claim = claimed.map(|claimed| (claimed, hit.filter(|hit| hit.target == claimed.target)));
            log.record(record.with_notes(EvidenceNotes { claimed: seen.time, claim, refused: None }));
        }
        Ok(Judged { clamped, eye, seed, launch })
    }

    fn answer(
        &self,
        judged: Result<Judged, ShotRefusal>,
        Desk { hits, beams, .. }: &mut Desk,
        bench: &Bench,
        answers: &mut Answers,
        launches: &mut Launches,
    ) {
        let Self { step, round, weapon, id } = *self;
        let (shooter, shot) = (step.entity, round.shot);
        let mut tell = |answers: &mut Answers, result, clamped| {
            let verdict = ShotVerdict { shot, result, clamped };
            if !weapon.is_beam() || beams.is_news(shooter, &verdict) {
                answers.tell(shooter, verdict);
            }
        };
        let Judged { clamped, eye, seed, launch } = match judged {
            Ok(judged) => judged,
            Err(why) => {
                answers.count(shooter, why);
                tell(answers, ShotResult::Refused(why), false);
                return;
            }
        };
        if let Some(launch) = launch {
            launches.0.push(launch);
            return;
        }
        write_damage(hits.struck(), (shooter, round.weapon, shot), answers);
        let list: HitList = hits.struck().iter().map(|hit| (hit.hit.target, hit.hit.group)).collect();
        let result = if list.first().is_some() { ShotResult::Hit(list) } else { ShotResult::Miss };
        tell(answers, result, clamped);
        if let Some(trail) = hits.trail(round, weapon, (eye, seed), &bench.query) {
            answers.show(shooter, Tracer { shooter: id, weapon: round.weapon, trail });
        }
    }
}

//! Server-side validation of shots: each shot is validated exactly once.

mod beam_verdicts;
mod checks;
mod replay;
mod shot_hits;
mod view_time;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedEvent, LocalControl, MoveModel, NetId, NetRole, StepEvent, Tick};
use bevy_unlag_rewind::{
    EvidenceLog, EvidenceNotes, FrameHistory, RewindFilter, RewindQuery, RewindTime, ShotEvidence, TargetHit,
    Team,
};

use crate::{
    arsenal::Arsenal,
    fire_input::ShooterView,
    fire_rules::FireRules,
    friendly_fire::SparedTeam,
    hit_claims::LastClaims,
    projectile::{LaunchView, PendingLaunch, PendingLaunches},
    shot_detail::{ShotDetail, UsedView},
    shot_explanation::RecentShots,
    shot_journal::{JournalShot, ShotJournal},
    shot_messages::{OutgoingShotMessages, ShotMessage, Tracer},
    verdict::{Damage, RefusedShots, ShotRefusal, ShotResolved, ShotResult, ShotVerdict},
    weapon::{Shot, SpreadSource, Weapon},
    weapon_extension::{PredictedShot, WeaponEvent, WithWeapons},
};
use beam_verdicts::BeamVerdicts;
pub use replay::{RecordedRound, ShotReplay};
use shot_hits::{HitTest, HitTests};
pub(crate) use shot_hits::{ShotHit, write_damage};
use view_time::{Shooter, ShooterItem, ValidationClock};

/// Secret from which the server derives pawn seeds and the spread of [`SpreadSource::Server`] weapons.
/// Default: a random number per app.
#[derive(Resource, Clone, Copy, Debug, Reflect)]
#[reflect(Resource, Default)]
pub struct SpreadSecret(
    // Inspectors and remote protocols must not show it.
    #[reflect(ignore)] pub u64,
);

impl Default for SpreadSecret {
    fn default() -> Self {
        use core::hash::{BuildHasher, Hasher};
        // The hash seeds of std come from the system's random source.
        Self(std::collections::hash_map::RandomState::new().build_hasher().finish())
    }
}

/// Read-only context of shot validation.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct ShotContext<'w, 's> {
    clocks: ValidationClock<'w>,
    arsenal: Res<'w, Arsenal>,
    rules: Res<'w, FireRules>,
    secret: Res<'w, SpreadSecret>,
    query: RewindQuery<'w, 's>,
    teams: Query<'w, 's, &'static Team>,
}

/// Outputs of shot validation.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct ShotOutput<'w, 's> {
    damage: MessageWriter<'w, Damage>,
    tracers: MessageWriter<'w, Tracer>,
    verdicts: MessageWriter<'w, ShotVerdict>,
    resolved: MessageWriter<'w, ShotResolved>,
    pawns: Query<
        'w,
        's,
        (Option<&'static mut OutgoingShotMessages>, Option<&'static mut RefusedShots>, Has<LocalControl>),
    >,
}

impl ShotOutput<'_, '_> {
    /// Counts a refused shot.
    pub fn count(&mut self, shooter: Entity, why: ShotRefusal) {
        if let Ok((_, Some(mut refused), _)) = self.pawns.get_mut(shooter) {
            refused.count(why);
        }
    }

    /// Reports a result of a shot on this server, and sends its verdict to the shooter.
    pub fn resolve(&mut self, resolved: ShotResolved) {
        self.resolved.write(resolved);
        self.send_verdict(resolved.shooter, resolved.verdict);
    }

    /// Sends a verdict to the shooter, local or remote.
    fn send_verdict(&mut self, shooter: Entity, verdict: ShotVerdict) {
        let Ok((mailbox, _, local)) = self.pawns.get_mut(shooter) else { return };
        if local {
            self.verdicts.write(verdict);
        } else if let Some(mut mailbox) = mailbox {
            mailbox.0.push(ShotMessage::Verdict(verdict));
        }
    }

    /// Sends a tracer to all other clients.
    fn send_tracer(&mut self, shooter: Entity, tracer: Tracer) {
        self.tracers.write(tracer);
        if let Ok((Some(mut mailbox), ..)) = self.pawns.get_mut(shooter) {
            mailbox.0.push(ShotMessage::Tracer(tracer));
        }
    }

    /// Queues a message for all clients; through another pawn's queue if the shooter no longer has one.
    pub fn broadcast(&mut self, shooter: Entity, mailed: ShotMessage) {
        if let Ok((Some(mut mailbox), ..)) = self.pawns.get_mut(shooter) {
            mailbox.0.push(mailed);
        } else if let Some(mut mailbox) = self.pawns.iter_mut().find_map(|(mailbox, ..)| mailbox) {
            mailbox.0.push(mailed);
        }
    }
}

/// State and buffers that persist between shots.
#[derive(Default)]
pub(crate) struct ShotScratch {
    claims: LastClaims,
    beams: BeamVerdicts,
    hits: HitTests,
    /// Entry of the current shot for a [`ShotJournal`], if there is one.
    entry: Option<JournalShot>,
}

pub(crate) fn resolve_shots<M: MoveModel>(
    mut happened: MessageReader<StepEvent<WithWeapons<M>>>,
    mut shooters: Query<(&NetRole, &NetId, Shooter)>,
    model: Res<M::Config>,
    context: ShotContext,
    mut output: ShotOutput,
    mut launches: ResMut<PendingLaunches>,
    mut log: Option<ResMut<EvidenceLog>>,
    (mut journal, mut recent): (Option<ResMut<ShotJournal>>, Option<ResMut<RecentShots>>),
    mut scratch: Local<ShotScratch>,
) {
    scratch.claims.0.retain(|shooter, _| shooters.contains(*shooter));
    scratch.beams.0.retain(|shooter, _| shooters.contains(*shooter));
    for step in happened.read() {
        let ExtendedEvent::Extension(event) = &step.event else { continue };
        let Ok((NetRole::Authority, id, shooter)) = shooters.get_mut(step.entity) else { continue };
        match event {
            WeaponEvent::Fired(round) => {
                let Some(weapon) = context.arsenal.get(round.weapon) else { continue };
                let pending = PendingShot { step, round, weapon, id: *id };
                let log = log.as_deref_mut().filter(|log| log.is_on());
                let is_kept = journal.is_some() || recent.is_some();
                scratch.entry = is_kept.then(|| pending.journal_entry());
                let resolved = pending.resolve(shooter, &model, &context, &mut scratch, log);
                let verdict = pending.emit(resolved, &mut scratch, &context, &mut output, &mut launches);
                let Some(entry) = scratch.entry.take() else { continue };
                let entry = JournalShot { verdict, ..entry };
                if let Some(recent) = recent.as_deref_mut() {
                    recent.push(entry.clone());
                }
                if let Some(journal) = journal.as_deref_mut() {
                    journal.push(entry);
                }
            }
            WeaponEvent::NotFired { shot, why } => {
                let why = (*why).into();
                output.count(step.entity, why);
                let verdict = ShotVerdict { shot: *shot, result: ShotResult::Refused(why), clamped: false };
                let shooter = step.entity;
                output.resolve(ShotResolved { shooter, verdict, is_impact: false, rewind: None });
            }
            _ => {}
        }
    }
}

/// Marks frames in which a pawn fired.
pub(crate) fn mark_shots<M: MoveModel>(
    mut happened: MessageReader<StepEvent<WithWeapons<M>>>,
    mut pawns: Query<&mut FrameHistory>,
) {
    for step in happened.read() {
        if let ExtendedEvent::Extension(WeaponEvent::Fired(_)) = step.event
            && let Ok(mut history) = pawns.get_mut(step.entity)
        {
            history.mark_shot();
        }
    }
}

/// A shot to be validated.
struct PendingShot<'a, M: MoveModel> {
    step: &'a StepEvent<WithWeapons<M>>,
    round: &'a PredictedShot,
    weapon: &'a Weapon,
    id: NetId,
}

/// Result of a validated shot.
struct ResolvedShot {
    clamped: bool,
    /// Eye position that was used.
    eye: Vec3,
    /// Seed of the spread.
    seed: u16,
    /// Age of the poses against which it was tested; `None` for the present.
    rewind: Option<Duration>,
    /// The projectile to be launched, if any.
    launch: Option<PendingLaunch>,
}

impl<M: MoveModel> PendingShot<'_, M> {
    /// Returns the shot's entry for a journal, as far as it is known before it is examined.
    fn journal_entry(&self) -> JournalShot {
        JournalShot {
            shooter: self.step.entity,
            id: self.id,
            arrived: Tick::default(),
            weapon: self.round.weapon,
            seen: ShooterView::default(),
            eye: Vec3::ZERO,
            detail: ShotDetail::new(self.round),
            verdict: ShotVerdict { shot: self.round.shot, result: ShotResult::Miss, clamped: false },
        }
    }

    /// Validates the shot and resolves its hits into `scratch.hits`.
    fn resolve(
        &self,
        mut shooter: ShooterItem,
        model: &M::Config,
        context: &ShotContext,
        scratch: &mut ShotScratch,
        log: Option<&mut EvidenceLog>,
    ) -> Result<ResolvedShot, ShotRefusal> {
        let Self { step, round, weapon, .. } = *self;
        scratch.hits.clear();
        let arrived = context.clocks.arrived(step.queued_ticks);
        let own = M::eye(model, &step.state.body);
        let seen = round.fire.view(step.tick, arrived, own);
        if let Some(entry) = &mut scratch.entry {
            (entry.arrived, entry.seen, entry.eye) = (arrived, seen, seen.eye);
        }
        // View times are tracked in order, including those of refused shots.
        let turned = step.tick.offset(-i32::from(round.fastest_turn.ago));
        let frame_lengths = shooter.frame_lengths([step.tick, turned], &context.clocks);
        let death_grace_ticks = shooter.death_grace_ticks(&context.rules, &context.clocks);
        let flies = weapon.is_projectile();
        let admitted = shooter.admit(step, (&seen, flies), &context.rules, &context.clocks);
        let alive = M::snapshot(&step.state.body, default()).alive;
        if !alive && !context.query.was_alive(step.entity, death_grace_ticks) {
            return Err(ShotRefusal::Dead);
        }
        let up = M::view_frame(&step.state.body).up;
        let eye = checks::eye((own, up), seen.eye, &context.rules, &context.query)?;
        checks::aim(round, frame_lengths, context.clocks.dt(), &context.rules)?;
        checks::pellets(round, weapon)?;
        let admitted = admitted?;
        let limits = view_time::limits(weapon, context.query.limits());
        let view = admitted.view(limits.as_ref());
        if let Some(entry) = &mut scratch.entry {
            entry.eye = eye;
            entry.detail.is_blind = admitted.blind;
            entry.detail.view = view.as_ref().map(|view| UsedView {
                time: view.time,
                bases: view.bases.unwrap_or_default(),
                overrides: view.overrides.to_vec(),
                queued_ticks: view.queued_ticks,
                round_trip: view.round_trip,
            });
        }
        let time = view.map_or(RewindTime::Now, RewindTime::View);
        let then = context.query.at(time)?;
        let own_team = context.teams.get(step.entity).ok().copied();
        let spared = SparedTeam::new(context.rules.friendly_fire, own_team);
        let nobody = |_| false;
        let predicate: Option<&(dyn Fn(Entity) -> bool + Sync)> = admitted.blind.then_some(&nobody);
        let exclude_team = spared.passed();
        let filter = RewindFilter { exclude_team, predicate, ..RewindFilter::exclude(step.entity) };
        let then = then.with_filter(filter);
        let record = log.map(|log| {
            let way = round.cone.direction(Vec2::ZERO);
            (log, then.evidence(eye, way, weapon.range()))
        });
        let clamped = admitted.moved || then.time().clamped() || eye != seen.eye;
        let rewind = context.clocks.age(then.time().used);
        let claimed = scratch.claims.of(&context.rules.claims, (step.entity, round.number), &round.fire);
        let seed = match weapon.spread.source {
            SpreadSource::Server => crate::spread::secret_seed(context.secret.0, round.seed, round.number),
            _ => round.seed,
        };
        if let Some(entry) = &mut scratch.entry {
            entry.detail.server_seed = seed;
        }
        let launch = match weapon.shot {
            Shot::Projectile(_) => Some(PendingLaunch {
                shooter: step.entity,
                id: self.id,
                round: *round,
                spared,
                from: eye,
                at: then.time().used,
                rewind,
                seen: LaunchView::of(view.as_ref()),
                clamped,
            }),
            _ => {
                let blocks = |hit: &TargetHit| spared.is_blocked_by(context.query.team_of(hit));
                let dt = context.clocks.dt();
                let question = HitTest { weapon, round, eye, seed, claimed, dt, blocks: &blocks };
                scratch.hits.run(&then, &question);
                None
            }
        };
        if let Some((log, record)) = record {
            let hit = scratch.hits.struck().first().map(|struck| struck.hit);
            let claim = claimed.map(|claimed| (claimed, hit.filter(|hit| hit.target == claimed.target)));
            let notes = EvidenceNotes { claimed: seen.time, claim, refused: None };
            log.record(ShotEvidence { shooter: Some(self.id), shot: round.shot.0, notes, ..record });
        }
        Ok(ResolvedShot { clamped, eye, seed, rewind, launch })
    }

    /// Sends what a resolved shot causes. Returns its verdict.
    fn emit(
        &self,
        resolved: Result<ResolvedShot, ShotRefusal>,
        ShotScratch { hits, beams, .. }: &mut ShotScratch,
        context: &ShotContext,
        output: &mut ShotOutput,
        launches: &mut PendingLaunches,
    ) -> ShotVerdict {
        let Self { step, round, weapon, id } = *self;
        let (shooter, shot) = (step.entity, round.shot);
        let mut send_verdict = |output: &mut ShotOutput, result, clamped, rewind| {
            let verdict = ShotVerdict { shot, result, clamped };
            let resolved = ShotResolved { shooter, verdict, is_impact: false, rewind };
            if !weapon.is_beam() || beams.is_change(shooter, &verdict) {
                output.resolve(resolved);
            } else {
                // The shooter has the same verdict of an earlier tick.
                output.resolved.write(resolved);
            }
            verdict
        };
        let ResolvedShot { clamped, eye, seed, rewind, launch } = match resolved {
            Ok(resolved) => resolved,
            Err(why) => {
                output.count(shooter, why);
                return send_verdict(output, ShotResult::Refused(why), false, None);
            }
        };
        if let Some(launch) = launch {
            launches.0.push(launch);
            return ShotVerdict { shot, result: ShotResult::Launched, clamped };
        }
        write_damage(hits.struck(), (shooter, round.weapon, shot), output);
        let verdict = send_verdict(output, hits.result(), clamped, rewind);
        if let Some(trail) = hits.trail(round, weapon, (eye, seed), &context.query) {
            output.send_tracer(shooter, Tracer { shooter: id, weapon: round.weapon, trail });
        }
        verdict
    }
}

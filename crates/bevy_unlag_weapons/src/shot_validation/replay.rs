//! Recorded shots, resolved again by the code of live ones.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{PoseSampler, Tick};
use bevy_unlag_rewind::{QueryView, RewindFilter, RewindQuery, RewindTime, TargetHit, Team};
use bevy_unlag_smoothing::SentSnapshots;

use super::{
    shot_hits::{HitTest, HitTests},
    view_time,
};
use crate::{
    arsenal::Arsenal, fire_rules::FireRules, friendly_fire::SparedTeam, hit_claims::LastClaims,
    shot_detail::ShotDetail, verdict::ShotResult, weapon::WeaponId, weapon_extension::PredictedShot,
};

/// A recorded shot that was not refused before it was traced.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedRound {
    /// The shooter.
    pub shooter: Entity,
    /// Identifier of the shot.
    pub shot: Tick,
    /// Weapon that fired it.
    pub weapon: WeaponId,
    /// Eye position from which the server traced it, in metres.
    pub eye: Vec3,
    /// Everything else that the verdict depended on.
    pub detail: ShotDetail,
}

/// Resolves recorded shots again, in an app that has the pawns as they were in the tick of each shot: each with its
/// [`PublishedPath`](bevy_unlag_smoothing::PublishedPath) and hit boxes, shooters with their
/// [`SentSnapshots`], in the same level and with the same [`Arsenal`] and limits.
#[derive(SystemParam)]
pub struct ShotReplay<'w, 's> {
    arsenal: Res<'w, Arsenal>,
    rules: Res<'w, FireRules>,
    sampler: Res<'w, PoseSampler>,
    query: RewindQuery<'w, 's>,
    teams: Query<'w, 's, &'static Team>,
    sent: Query<'w, 's, &'static SentSnapshots>,
    scratch: Local<'s, ReplayScratch>,
}

/// State and buffers that persist between shots.
#[derive(Default)]
struct ReplayScratch {
    claims: LastClaims,
    hits: HitTests,
}

impl ShotReplay<'_, '_> {
    /// Resolves a shot. The shots of a match have to be passed in their order. `None` if the arsenal does not have its
    /// weapon.
    pub fn resolve(&mut self, recorded: &RecordedRound) -> Option<ShotResult> {
        let RecordedRound { shooter, shot, weapon: id, eye, detail } = recorded;
        let weapon = self.arsenal.get(*id)?;
        let round = PredictedShot {
            shot: *shot,
            number: detail.number,
            weapon: *id,
            fire: detail.fire,
            look: detail.look,
            before: None,
            fastest_turn: default(),
            cone: detail.cone,
            up: detail.up,
            seed: detail.seed,
            power: detail.power,
        };
        let ReplayScratch { claims, hits } = &mut *self.scratch;
        hits.clear();
        let limits = view_time::limits(weapon, self.query.limits());
        let view = detail.view.as_ref().map(|view| QueryView {
            time: view.time,
            overrides: &view.overrides,
            bases: Some(view.bases),
            queued_ticks: view.queued_ticks,
            round_trip: view.round_trip,
            sent: self.sent.get(*shooter).ok(),
            limits: limits.as_ref(),
        });
        let then = match self.query.at(view.map_or(RewindTime::Now, RewindTime::View)) {
            Ok(then) => then,
            Err(refusal) => return Some(ShotResult::Refused(refusal.into())),
        };
        let spared = SparedTeam::new(self.rules.friendly_fire, self.teams.get(*shooter).ok().copied());
        let nobody = |_| false;
        let predicate: Option<&(dyn Fn(Entity) -> bool + Sync)> = detail.is_blind.then_some(&nobody);
        let exclude_team = spared.passed();
        let then =
            then.with_filter(RewindFilter { exclude_team, predicate, ..RewindFilter::exclude(*shooter) });
        let claimed = claims.of(&self.rules.claims, (*shooter, round.number), &round.fire);
        if weapon.is_projectile() {
            return Some(ShotResult::Launched);
        }
        let blocks = |hit: &TargetHit| spared.is_blocked_by(self.query.team_of(hit));
        let (seed, dt) = (detail.server_seed, self.sampler.tick_seconds);
        hits.run(&then, &HitTest { weapon, round: &round, eye: *eye, seed, claimed, dt, blocks: &blocks });
        Some(hits.result())
    }
}

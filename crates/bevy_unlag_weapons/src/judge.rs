//! The server's side: every round is judged once.

use bevy::{math::Vec3Swizzles, prelude::*};
use bevy_unlag_core::{ExtendedEvent, LocalControl, MoveModel, NetId, NetRole, StepEvent};
use bevy_unlag_rewind::{
    ClaimedTarget, EvidenceLog, FrameHistory, Miss, RewindFilter, RewindQuery, RewindRefusal, RewindTime,
    TargetHit,
};

use crate::{
    Armed, Damage, DamageTable, FireInput, Mailed, OutgoingVerdicts, RifleConfig, RifleEvent, ShotRefusal,
    ShotResult, ShotVerdict, Tracer,
    claim::LastClaims,
    sight::{Clocks, Shooter, ShooterItem},
};

pub(crate) fn judge<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut shooters: Query<(&NetRole, &NetId, Option<&mut OutgoingVerdicts>, Has<LocalControl>, Shooter)>,
    clocks: Clocks,
    model: Res<M::Config>,
    config: Res<RifleConfig>,
    table: Res<DamageTable>,
    query: RewindQuery,
    mut damage: MessageWriter<Damage>,
    mut tracers: MessageWriter<Tracer>,
    mut verdicts: MessageWriter<ShotVerdict>,
    mut log: Option<ResMut<EvidenceLog>>,
    mut claims: Local<LastClaims>,
) {
    claims.keep(|shooter| shooters.contains(shooter));
    for step in happened.read() {
        let ExtendedEvent::Extension(RifleEvent::Fired { shot, fire }) = &step.event else { continue };
        let Ok((NetRole::Authority, id, mailbox, local, shooter)) = shooters.get_mut(step.entity) else {
            continue;
        };
        let log = log.as_deref_mut().filter(|log| log.is_on()).map(|log| (log, *id, *shot));
        let claimed = claims.of(&config.claims, (step.entity, *shot), fire);
        let judged = look::<M>(step, (fire, claimed), shooter, (&model, &config), &clocks, &query, log);
        let result = match judged {
            Err(refusal) => ShotResult::Refused(refusal),
            Ok((Err(_), _)) => ShotResult::Miss,
            Ok((Ok(hit), _)) => {
                let (weapon, group) = (config.weapon, hit.group);
                let amount = table.look_up(weapon, group) * hit.factor;
                damage.write(Damage { shooter: step.entity, target: hit.entity, weapon, group, amount });
                ShotResult::Hit { target: hit.target, group: hit.group }
            }
        };
        let clamped = judged.is_ok_and(|(_, clamped)| clamped);
        let verdict = ShotVerdict { shot: *shot, result, clamped };
        if local {
            verdicts.write(verdict);
        }
        let tracer = (!matches!(result, ShotResult::Refused(_))).then(|| {
            let (from, direction) = (fire.eye(), fire.aim.direction());
            let reach = match judged {
                Ok((Ok(hit), _)) => hit.distance,
                Ok((Err(Miss::Blocked { distance, .. }), _)) => distance,
                _ => query.world().cast(from, direction, config.range).unwrap_or(config.range),
            };
            Tracer { shooter: *id, from, to: from + direction * reach }
        });
        if let Some(tracer) = tracer {
            tracers.write(tracer);
        }
        if let Some(mut mailbox) = mailbox {
            mailbox.0.extend((!local).then_some(Mailed::Verdict(verdict)));
            mailbox.0.extend(tracer.map(Mailed::Tracer));
        }
    }
}

/// Notes down in which tick somebody fired.
pub(crate) fn mark<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut pawns: Query<&mut FrameHistory>,
) {
    for step in happened.read() {
        if let ExtendedEvent::Extension(RifleEvent::Fired { .. }) = step.event
            && let Ok(mut history) = pawns.get_mut(step.entity)
        {
            history.mark_shot();
        }
    }
}

/// Looks along a round as its shooter's screen showed it, and says whether limits moved the moment.
fn look<M: MoveModel>(
    step: &StepEvent<Armed<M>>,
    (fire, target): (&FireInput, Option<ClaimedTarget>),
    mut knowledge: ShooterItem,
    (model, config): (&M::Config, &RifleConfig),
    clocks: &Clocks,
    query: &RewindQuery,
    log: Option<(&mut EvidenceLog, NetId, u32)>,
) -> Result<(Result<TargetHit, Miss>, bool), ShotRefusal> {
    // Views are looked at in their order, also those of rounds that do not count.
    let sight = knowledge.sight::<M>(step, fire, config, clocks);
    // The body as this move left it: several moves may be run in one tick.
    let (shooter, body) = (step.entity, &step.state.body);
    if !M::snapshot(body, default()).alive && !query.was_alive(shooter, config.trade_ticks) {
        return Err(ShotRefusal::Dead);
    }
    let (own, claimed) = (M::eye(model, body), fire.eye());
    let off = (claimed - own).abs();
    let near = off.xz().length() <= config.eye_tolerance && off.y <= config.eye_height_tolerance;
    if !near || !query.world().clear(own, claimed) {
        return Err(ShotRefusal::Eye);
    }
    let sight = sight?;
    let time = sight.view.map_or(RewindTime::Now, RewindTime::View);
    let then = query.at(time).map_err(|refusal| match refusal {
        RewindRefusal::TooOld => ShotRefusal::TooOld,
        RewindRefusal::FromTheFuture => ShotRefusal::FromTheFuture,
    })?;
    let (then, direction) = (then.of(RewindFilter::without(shooter)), fire.aim.direction());
    if let Some((log, id, shot)) = log {
        log.record(then.evidence(claimed, direction, config.range).of_shot(id, shot));
    }
    let hit = match target {
        Some(target) => then.cast_ray_claimed(claimed, direction, config.range, target),
        None => then.cast_ray(claimed, direction, config.range),
    };
    Ok((hit, sight.moved || then.time().clamped()))
}

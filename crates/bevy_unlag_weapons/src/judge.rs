//! The server's side: every round is judged once.

use bevy::{math::Vec3Swizzles, prelude::*};
use bevy_unlag_core::{ExtendedEvent, ExtendedState, LocalControl, MoveModel, NetId, NetRole, StepEvent};
use bevy_unlag_rewind::{RayHit, RewindQuery, RewindRefusal, RewoundRay};

use crate::{
    Armed, Damage, FireInput, Mailed, OutgoingVerdicts, RifleConfig, RifleEvent, RifleState, ShotRefusal,
    ShotResult, ShotVerdict, Tracer,
};

pub(crate) fn judge<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut shooters: Query<(
        &NetRole,
        &NetId,
        &ExtendedState<M::State, RifleState>,
        Option<&mut OutgoingVerdicts>,
        Has<LocalControl>,
    )>,
    model: Res<M::Config>,
    config: Res<RifleConfig>,
    query: RewindQuery,
    mut damage: MessageWriter<Damage>,
    mut tracers: MessageWriter<Tracer>,
    mut verdicts: MessageWriter<ShotVerdict>,
) {
    for step in happened.read() {
        let ExtendedEvent::Extension(RifleEvent::Fired { shot, fire }) = &step.event else { continue };
        let Ok((NetRole::Authority, id, state, mailbox, local)) = shooters.get_mut(step.entity) else {
            continue;
        };
        let judged = look::<M>(step.entity, &state.body, fire, &model, &config, &query);
        let result = match judged {
            Err(refusal) => ShotResult::Refused(refusal),
            Ok(None) => ShotResult::Miss,
            Ok(Some(hit)) => {
                let amount = config.damage(hit.group);
                damage.write(Damage { shooter: step.entity, target: hit.entity, group: hit.group, amount });
                ShotResult::Hit { target: hit.target, group: hit.group }
            }
        };
        let verdict = ShotVerdict { shot: *shot, result };
        if local {
            verdicts.write(verdict);
        }
        let tracer = (!matches!(result, ShotResult::Refused(_))).then(|| {
            let (from, direction) = (fire.eye(), fire.aim.direction());
            let reach = judged.ok().flatten().map_or_else(
                || query.world().cast(from, direction, config.range).unwrap_or(config.range),
                |hit| hit.distance,
            );
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

/// Looks along a round as its shooter's screen showed it.
fn look<M: MoveModel>(
    shooter: Entity,
    body: &M::State,
    fire: &FireInput,
    model: &M::Config,
    config: &RifleConfig,
    query: &RewindQuery,
) -> Result<Option<RayHit>, ShotRefusal> {
    if !M::snapshot(body, default()).alive && !query.was_alive(shooter, config.trade_ticks) {
        return Err(ShotRefusal::Dead);
    }
    let (own, claimed) = (M::eye(model, body), fire.eye());
    let off = (claimed - own).abs();
    let near = off.xz().length() <= config.eye_tolerance && off.y <= config.eye_height_tolerance;
    if !near || !query.world().clear(own, claimed) {
        return Err(ShotRefusal::Eye);
    }
    let ray = RewoundRay {
        origin: claimed,
        direction: fire.aim.direction(),
        max_distance: config.range,
        time: fire.time,
        overrides: fire.overrides(),
        shooter,
    };
    query.cast_ray(&ray).map_err(|refusal| match refusal {
        RewindRefusal::TooOld => ShotRefusal::TooOld,
        RewindRefusal::FromTheFuture => ShotRefusal::FromTheFuture,
    })
}

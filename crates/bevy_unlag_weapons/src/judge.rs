//! The server's side: every round is judged once.

use bevy::{math::Vec3Swizzles, prelude::*};
use bevy_unlag_core::{
    ExtendedEvent, LocalControl, MoveModel, NetId, NetRole, SUB_TICKS, StepEvent, ViewTime,
};
use bevy_unlag_rewind::{RayHit, RewindQuery, RewindRefusal, RewoundRay};

use crate::{
    Armed, Damage, DamageTable, FireInput, Mailed, OutgoingVerdicts, RifleConfig, RifleEvent, ShotRefusal,
    ShotResult, ShotVerdict, Tracer,
};

/// Ticks before a move in which its shooter may have seen movement bases: a quarter of a second at 64
/// Hz, a frame of a very slow machine.
const MAX_BASE_LAG: i64 = 16;

pub(crate) fn judge<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut shooters: Query<(&NetRole, &NetId, Option<&mut OutgoingVerdicts>, Has<LocalControl>)>,
    model: Res<M::Config>,
    config: Res<RifleConfig>,
    table: Res<DamageTable>,
    query: RewindQuery,
    mut damage: MessageWriter<Damage>,
    mut tracers: MessageWriter<Tracer>,
    mut verdicts: MessageWriter<ShotVerdict>,
) {
    for step in happened.read() {
        let ExtendedEvent::Extension(RifleEvent::Fired { shot, fire }) = &step.event else { continue };
        let Ok((NetRole::Authority, id, mailbox, local)) = shooters.get_mut(step.entity) else {
            continue;
        };
        let judged = look::<M>(step, fire, &model, &config, &query);
        let result = match judged {
            Err(refusal) => ShotResult::Refused(refusal),
            Ok(None) => ShotResult::Miss,
            Ok(Some(hit)) => {
                let (weapon, group) = (config.weapon, hit.group);
                let amount = table.look_up(weapon, group);
                damage.write(Damage { shooter: step.entity, target: hit.entity, weapon, group, amount });
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
    step: &StepEvent<Armed<M>>,
    fire: &FireInput,
    model: &M::Config,
    config: &RifleConfig,
    query: &RewindQuery,
) -> Result<Option<RayHit>, ShotRefusal> {
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
    // What a screen showed lies a few frames before the move, whatever a client says.
    let bases = ViewTime::at(step.tick);
    let bases = fire.bases.map_or(bases, |claimed| {
        let lag = bases.since(claimed).clamp(0, MAX_BASE_LAG * SUB_TICKS);
        bases.later(-lag)
    });
    let ray = RewoundRay {
        origin: claimed,
        direction: fire.aim.direction(),
        max_distance: config.range,
        time: fire.time,
        overrides: fire.overrides(),
        bases: Some(bases),
        waited: step.waited,
        shooter,
    };
    query.cast_ray(&ray).map_err(|refusal| match refusal {
        RewindRefusal::TooOld => ShotRefusal::TooOld,
        RewindRefusal::FromTheFuture => ShotRefusal::FromTheFuture,
    })
}

//! The shooter's side: latch what the screen shows, fire in the tick, show it at once.

use bevy::prelude::*;
use bevy_unlag_core::{
    DrawnBaseTime, DrawnEye, DrawnPose, DrawnViewTime, ExtendedEvent, ExtendedState, LocalControl, MoveInput,
    MoveModel, Sampler, StepEvent, VisualOffset,
};
use bevy_unlag_rewind::{DrawnQuery, RewindFilter, StampOverride, TargetHit};

use crate::{Aim, Armed, FireInput, MAX_OVERRIDES, RifleConfig, RifleEvent, RifleState};

/// The own pawn's trigger. Brings an [`Aim`] along.
#[derive(Component, Clone, Debug, Default)]
#[require(Aim)]
pub struct Trigger {
    /// Whether the button is down.
    pub held: bool,
    /// Whether it went down since the last round, even if it is up again.
    pulled: bool,
    /// What the screen showed when it went down.
    latched: Option<(FireInput, Option<TargetHit>)>,
    /// What the screen showed for the round that the coming step is asked for.
    asked: Option<(FireInput, Option<TargetHit>)>,
}

impl Trigger {
    /// Reports the button's state; call it once a frame, or more often.
    pub fn set(&mut self, held: bool) {
        self.pulled |= held && !self.held;
        self.held = held;
    }
}

/// A round left the own pawn: show and sound it now. The verdict comes later.
#[derive(Message, Clone, Copy, Debug)]
pub struct ShotFired {
    /// The shooter.
    pub shooter: Entity,
    /// The round's name, until its [`ShotVerdict`](crate::ShotVerdict).
    pub shot: u32,
    /// From where.
    pub from: Vec3,
    /// To where the screen showed it going.
    pub to: Vec3,
    /// What the screen showed it hitting.
    pub drawn: Option<TargetHit>,
}

type OwnPawn<M> = (
    Entity,
    &'static mut Trigger,
    &'static Aim,
    &'static DrawnPose,
    &'static DrawnEye,
    Option<&'static VisualOffset>,
    &'static ExtendedState<<M as MoveModel>::State, RifleState>,
);

/// What the screen shows along the aim right now.
fn look<M: MoveModel>(
    (entity, aim, drawn, eye, offset, state): (
        Entity,
        &Aim,
        &DrawnPose,
        &DrawnEye,
        Option<&VisualOffset>,
        &ExtendedState<M::State, RifleState>,
    ),
    config: &RifleConfig,
    (time, bases, sampler): (&DrawnViewTime, &DrawnBaseTime, &Sampler),
    query: &DrawnQuery,
) -> (FireInput, Option<TargetHit>) {
    let shown = drawn.pose.position + offset.map_or(Vec3::ZERO, |o| o.offset);
    // In a frame of many ticks the pawn runs on from where it was shown, farther than the server
    // can accept: the last of those rounds leave from as near to there as it will, a step to spare.
    let body = M::position(&state.body);
    let aside = (shown - body).with_y(0.0).clamp_length_max(config.eye_tolerance * 0.75);
    let eye = (body + aside).with_y(shown.y + eye.0);
    let mut overrides = [StampOverride::default(); MAX_OVERRIDES];
    let direction = aim.direction();
    let named = time
        .0
        .map_or(0, |time| query.overrides(eye, direction, time, sampler.snapshot_ticks, &mut overrides));
    let mut fire = FireInput::new(time.0, eye, *aim, &overrides[..named]);
    fire.bases = bases.0;
    let hit = query.cast_ray(fire.eye(), direction, config.range, &RewindFilter::without(entity));
    fire.claim = hit.filter(|_| config.claims.wanted()).map(|hit| hit.target);
    (fire, hit)
}

fn is_alive<M: MoveModel>(state: &ExtendedState<M::State, RifleState>) -> bool {
    M::snapshot(&state.body, default()).alive
}

pub(crate) fn latch<M: MoveModel>(
    mut pawns: Query<OwnPawn<M>, With<LocalControl>>,
    config: Res<RifleConfig>,
    time: Res<DrawnViewTime>,
    bases: Res<DrawnBaseTime>,
    sampler: Res<Sampler>,
    query: DrawnQuery,
) {
    for (entity, mut trigger, aim, drawn, eye, offset, state) in &mut pawns {
        if trigger.pulled && trigger.latched.is_none() && is_alive::<M>(state) {
            let seen = look::<M>(
                (entity, aim, drawn, eye, offset, state),
                &config,
                (&time, &bases, &sampler),
                &query,
            );
            trigger.latched = Some(seen);
        }
    }
}

pub(crate) fn arm<M: MoveModel>(
    mut pawns: Query<(OwnPawn<M>, &mut MoveInput<Armed<M>>), With<LocalControl>>,
    config: Res<RifleConfig>,
    time: Res<DrawnViewTime>,
    bases: Res<DrawnBaseTime>,
    sampler: Res<Sampler>,
    query: DrawnQuery,
) {
    for ((entity, mut trigger, aim, drawn, eye, offset, state), mut input) in &mut pawns {
        input.0.extension = None;
        trigger.asked = None;
        if !is_alive::<M>(state) {
            // The dead do not fire, and what they pulled does not wait for their return.
            trigger.pulled = false;
            trigger.latched = None;
            continue;
        }
        if !state.extension.ready() {
            // The round leaves when the rifle is ready, and shows what the screen shows then.
            trigger.latched = None;
            continue;
        }
        if !(trigger.held || trigger.pulled) {
            continue;
        }
        let seen = match trigger.latched.take() {
            Some(seen) => seen,
            None => look::<M>(
                (entity, aim, drawn, eye, offset, state),
                &config,
                (&time, &bases, &sampler),
                &query,
            ),
        };
        trigger.pulled = false;
        trigger.asked = Some(seen);
        input.0.extension = Some(seen.0);
    }
}

pub(crate) fn report<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut pawns: Query<&mut Trigger, With<LocalControl>>,
    config: Res<RifleConfig>,
    query: DrawnQuery,
    mut fired: MessageWriter<ShotFired>,
) {
    for step in happened.read() {
        let ExtendedEvent::Extension(RifleEvent::Fired { shot, fire }) = step.event else { continue };
        let Ok(mut trigger) = pawns.get_mut(step.entity) else { continue };
        let Some((asked, drawn)) = trigger.asked.take() else { continue };
        debug_assert_eq!(asked, fire, "a step changed its input");
        let (from, direction) = (fire.eye(), fire.aim.direction());
        let reach = drawn.map_or_else(
            || query.world().cast(from, direction, config.range).unwrap_or(config.range),
            |hit| hit.distance,
        );
        fired.write(ShotFired { shooter: step.entity, shot, from, to: from + direction * reach, drawn });
    }
}

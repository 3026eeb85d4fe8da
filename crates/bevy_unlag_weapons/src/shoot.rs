//! The shooter's side: latch what the screen shows, fire in the tick, show it at once.

use bevy::prelude::*;
use bevy_unlag_core::{
    BodyStep, CurrentTick, DrawnBaseTime, DrawnEye, DrawnPose, DrawnViewTime, ExtendedEvent, ExtendedState,
    LocalControl, MoveInput, MoveModel, Sampler, StepEvent, VisualOffset,
};
use bevy_unlag_rewind::{DrawnQuery, RewindFilter, StampOverride, TargetHit, Team};

use crate::{
    Aim, Armed, ArmsEvent, ArmsInput, ArmsState, Arsenal, FireInput, FireRules, MAX_OVERRIDES, Round, SLOTS,
    Sight, SpreadSource, spread,
};

/// What the player wants of the own pawn's weapons. Brings an [`Aim`] along. Write it in every frame, or more
/// often.
#[derive(Component, Clone, Debug, Default)]
#[require(Aim)]
pub struct Trigger {
    /// Whether the button is down.
    pub held: bool,
    /// Whether the player takes aim.
    pub aiming: bool,
    /// Whether the weapon is to be loaded; cleared when a tick has asked for it.
    pub reload: bool,
    /// The slot to be taken in hand; cleared when a tick has asked for it.
    pub equip: Option<u8>,
    /// Whether the button went down since the last round, even if it is up again.
    pulled: bool,
    /// What the screen showed when it went down.
    latched: Option<Seen>,
    /// What the screen showed for the round that the coming step is asked for.
    asked: Option<Seen>,
}

impl Trigger {
    /// Reports the button's state; call it once a frame, or more often.
    pub fn set(&mut self, held: bool) {
        self.pulled |= held && !self.held;
        self.held = held;
    }
}

/// A shot left the own pawn: show and sound it now. The verdict comes later.
#[derive(Message, Clone, Debug)]
pub struct ShotFired {
    /// The shooter.
    pub shooter: Entity,
    /// The shot; its name is [`Round::shot`], until its [`ShotVerdict`](crate::ShotVerdict).
    pub round: Round,
    /// From where, in metres.
    pub from: Vec3,
    /// The moment at which the screen showed everyone else; `None` for the present.
    pub time: Option<bevy_unlag_core::ViewTime>,
    /// Its rays; none for what flies.
    pub rays: Vec<ShotRay>,
}

/// One ray of a shot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShotRay {
    /// To where the screen showed it going, in metres.
    pub to: Vec3,
    /// What the screen showed it hitting.
    pub drawn: Option<TargetHit>,
}

impl ShotFired {
    /// The first hit that the screen showed.
    #[must_use]
    pub fn drawn(&self) -> Option<TargetHit> {
        self.rays.iter().find_map(|ray| ray.drawn)
    }
}

/// What the screen showed when a shot was fired.
#[derive(Clone, Debug)]
struct Seen {
    sight: Sight,
    aim: Aim,
    /// Without the parts that depend on the move.
    fire: FireInput,
    rays: Vec<ShotRay>,
}

type OwnPawn<M> = (
    Entity,
    &'static mut Trigger,
    &'static Aim,
    &'static DrawnPose,
    &'static DrawnEye,
    Option<&'static VisualOffset>,
    Option<&'static Team>,
    &'static ExtendedState<<M as MoveModel>::State, ArmsState>,
);

/// What the screen shows.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Screen<'w, 's> {
    arsenal: Res<'w, Arsenal>,
    rules: Res<'w, FireRules>,
    time: Res<'w, DrawnViewTime>,
    bases: Res<'w, DrawnBaseTime>,
    sampler: Res<'w, Sampler>,
    tick: Res<'w, CurrentTick>,
    query: DrawnQuery<'w, 's>,
}

type Own<'a, M> = (
    Entity,
    &'a Aim,
    &'a DrawnPose,
    &'a DrawnEye,
    Option<&'a VisualOffset>,
    Option<&'a Team>,
    &'a ExtendedState<<M as MoveModel>::State, ArmsState>,
);

impl Screen<'_, '_> {
    /// What it shows along the aim right now; `None` with nothing in hand.
    fn look<M: MoveModel>(&self, own: Own<M>) -> Option<Seen> {
        let (entity, aim, drawn, eye, offset, team, state) = own;
        let shown = drawn.pose.position + offset.map_or(Vec3::ZERO, |o| o.offset);
        // In a frame of many ticks the pawn runs on from where it was shown, farther than the server
        // can accept: the last of those shots leave from as near to there as it will, a step to spare.
        let body = M::position(&state.body);
        let aside = (shown - body).with_y(0.0).clamp_length_max(self.rules.eye_tolerance * 0.75);
        let eye = FireInput::rounded((body + aside).with_y(shown.y + eye.0));
        // Where it goes does not depend on the move that it will be part of.
        let mut fire = FireInput::default();
        let step = BodyStep { look: (aim.yaw, aim.pitch), ..BodyStep::of::<M>(&state.body) };
        let own = (self.tick.0, self.sampler.tick_seconds);
        let round = state.extension.round(&self.arsenal, &fire, &step, own)?;
        let weapon = self.arsenal.get(round.weapon)?;
        let count = u32::from(weapon.pellets());
        if weapon.spread.source == SpreadSource::Client {
            fire.list_pellets((0..count.max(1)).map(|pellet| spread::offset(round.seed, pellet)));
        }
        let round = Round { fire, ..round };
        let cone = round.cone;
        let mut overrides = [StampOverride::default(); MAX_OVERRIDES];
        let named = self.time.0.map_or(0, |time| {
            let aim = (cone.direction(Vec2::ZERO), cone.half_angle_radians());
            self.query.overrides(eye, aim, time, self.sampler.snapshot_ticks, &mut overrides)
        });
        let mut sight = Sight::new(self.time.0, eye).with(overrides[..named].iter().copied());
        sight.bases = self.bases.0;
        let not_of = team.filter(|_| !self.rules.friendly_fire).copied();
        let filter = RewindFilter { not_of, ..RewindFilter::without(entity) };
        let range = weapon.range();
        let known = weapon.spread.source != SpreadSource::Server || cone.half_angle == 0;
        let rays = (0..count).map(|pellet| {
            let direction = round.direction(round.seed, pellet);
            let drawn = self.query.cast_ray(eye, direction, range, &filter).filter(|_| known);
            let far = || self.query.block(eye, direction, range).map_or(range, |wall| wall.distance);
            ShotRay { to: eye + direction * drawn.map_or_else(far, |hit| hit.distance), drawn }
        });
        let rays: Vec<ShotRay> = rays.collect();
        let hit = rays.iter().find_map(|ray| ray.drawn);
        fire.claim = hit.filter(|_| self.rules.claims.wanted()).map(|hit| hit.target);
        Some(Seen { sight, aim: *aim, fire, rays })
    }
}

fn is_alive<M: MoveModel>(state: &ExtendedState<M::State, ArmsState>) -> bool {
    M::snapshot(&state.body, default()).alive
}

pub(crate) fn latch<M: MoveModel>(mut pawns: Query<OwnPawn<M>, With<LocalControl>>, screen: Screen) {
    for (entity, mut trigger, aim, drawn, eye, offset, team, state) in &mut pawns {
        if trigger.pulled && trigger.latched.is_none() && is_alive::<M>(state) {
            trigger.latched = screen.look::<M>((entity, aim, drawn, eye, offset, team, state));
        }
    }
}

pub(crate) fn arm<M: MoveModel>(
    mut pawns: Query<(OwnPawn<M>, &mut MoveInput<Armed<M>>), With<LocalControl>>,
    screen: Screen,
) {
    for ((entity, mut trigger, aim, drawn, eye, offset, team, state), mut input) in &mut pawns {
        input.0.extension = ArmsInput::default();
        trigger.asked = None;
        if !is_alive::<M>(state) {
            // The dead do not fire, and what they wanted does not wait for their return.
            (trigger.pulled, trigger.latched) = (false, None);
            (trigger.reload, trigger.equip) = (false, None);
            continue;
        }
        let arms = &state.extension;
        input.0.extension = ArmsInput {
            fire: None,
            trigger: trigger.held || trigger.pulled,
            reload: trigger.reload,
            aiming: trigger.aiming,
            // The wire has a word for slots that are there, and for no other.
            equip: trigger.equip.take().filter(|slot| *slot != arms.slot && usize::from(*slot) < SLOTS),
        };
        // What is pressed while the weapon cools down waits for that.
        trigger.reload &= arms.cooldown > 1;
        let dt = screen.sampler.tick_seconds;
        let wanted = arms.wants(&screen.arsenal, trigger.held, trigger.pulled, dt);
        let changes = input.0.extension.equip.is_some();
        if !arms.is_ready(&screen.arsenal) || changes {
            // The shot leaves when the weapon is ready, and shows what the screen shows then.
            trigger.latched = None;
            trigger.pulled &= !changes && !arms.is_dry(&screen.arsenal);
            continue;
        }
        if !wanted {
            trigger.latched = None;
            trigger.pulled = false;
            continue;
        }
        let seen = trigger.latched.take();
        let seen = seen.or_else(|| screen.look::<M>((entity, aim, drawn, eye, offset, team, state)));
        trigger.pulled = false;
        let Some(mut seen) = seen else { continue };
        let (yaw, pitch) = M::look(&input.0.body);
        let placed = FireInput::new(&seen.sight, screen.tick.0);
        seen.fire = placed.with(&seen.fire).looking(seen.aim, Aim { yaw, pitch });
        input.0.extension.fire = Some(seen.fire);
        trigger.asked = Some(seen);
    }
}

pub(crate) fn report<M: MoveModel>(
    mut happened: MessageReader<StepEvent<Armed<M>>>,
    mut pawns: Query<&mut Trigger, With<LocalControl>>,
    mut fired: MessageWriter<ShotFired>,
) {
    for step in happened.read() {
        let ExtendedEvent::Extension(ArmsEvent::Fired(round)) = step.event else { continue };
        let Ok(mut trigger) = pawns.get_mut(step.entity) else { continue };
        let Some(seen) = trigger.asked.take() else { continue };
        debug_assert_eq!(seen.fire, round.fire, "a step changed its input");
        let Seen { sight, rays, .. } = seen;
        fired.write(ShotFired { shooter: step.entity, round, from: sight.eye, time: sight.time, rays });
    }
}

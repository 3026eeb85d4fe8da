//! The shooter's side: latch what the screen shows, fire in the tick, show it at once.

mod screen;

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedEvent, ExtendedState, LocalControl, MoveInput, MoveModel, StepEvent};
use bevy_unlag_rewind::TargetHit;

use crate::{Aim, Armed, ArmsEvent, ArmsInput, ArmsState, FireInput, Round, SLOTS};
use screen::{Own, OwnItem, Screen, Seen};

/// What the player wants of the own pawn's weapons. Brings an [`Aim`] along. Write it in every frame, or more
/// often.
#[derive(Component, Clone, Debug)]
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
    /// For how many seconds a pull waits for a weapon that cools down or is being loaded. Default 0.25. Raising it
    /// forgives who pulls early, and lets rounds leave by themselves that much later.
    pub patience: f32,
    /// Whether the button went down since the last round, even if it is up again.
    pulled: bool,
    /// For how many seconds that has been waiting.
    waited: f32,
    /// What the screen showed when it went down.
    latched: Option<Seen>,
    /// What the screen showed for the round that the coming step is asked for.
    asked: Option<Seen>,
}

impl Default for Trigger {
    fn default() -> Self {
        Self {
            held: false,
            aiming: false,
            reload: false,
            equip: None,
            patience: 0.25,
            pulled: false,
            waited: 0.0,
            latched: None,
            asked: None,
        }
    }
}

impl Trigger {
    /// Reports the button's state; call it once a frame, or more often.
    pub fn set(&mut self, held: bool) {
        if held && !self.held {
            (self.pulled, self.waited) = (true, 0.0);
        }
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

fn is_alive<M: MoveModel>(state: &ExtendedState<M::State, ArmsState>) -> bool {
    M::snapshot(&state.body, default()).alive
}

pub(crate) fn latch<M: MoveModel>(
    mut pawns: Query<(&mut Trigger, Own<M>), With<LocalControl>>,
    model: Res<M::Config>,
    screen: Screen,
) {
    for (mut trigger, own) in &mut pawns {
        // A pull that waits is shown when it is due.
        let due = own.state.extension.is_ready(&screen.arsenal);
        if due && trigger.pulled && trigger.latched.is_none() && is_alive::<M>(own.state) {
            trigger.latched = screen.look::<M>(&own, &model);
        }
    }
}

pub(crate) fn arm<M: MoveModel>(
    mut pawns: Query<(&mut Trigger, Own<M>, &mut MoveInput<Armed<M>>), With<LocalControl>>,
    model: Res<M::Config>,
    screen: Screen,
) {
    for (mut trigger, own, mut input) in &mut pawns {
        let OwnItem { state, .. } = own;
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
            nobodys: false,
        };
        // What is pressed while the weapon cools down waits for that.
        trigger.reload &= arms.cooldown > 1;
        let dt = screen.sampler.tick_seconds;
        let wanted = arms.wants(&screen.arsenal, trigger.held, trigger.pulled, dt);
        let changes = input.0.extension.equip.is_some();
        // What begins to be loaded in this very move does not fire in it.
        let loads = input.0.extension.reload && arms.reload == 0 && arms.burst == 0;
        let loads = loads
            && arms.weapon(&screen.arsenal).is_some_and(|(_, weapon)| {
                let hand = arms.in_hand();
                hand.reserve > 0 && hand.magazine < weapon.ammo.magazine
            });
        if !arms.is_ready(&screen.arsenal) || changes || loads {
            // The shot leaves when the weapon is ready, and shows what the screen shows then.
            trigger.latched = None;
            trigger.waited += dt;
            // On an empty magazine it asks for a full one.
            let asks = arms.is_dry(&screen.arsenal) && arms.cooldown <= 1;
            trigger.pulled &= !changes && !asks && trigger.waited <= trigger.patience;
            continue;
        }
        if !wanted {
            trigger.latched = None;
            trigger.pulled = false;
            continue;
        }
        let seen = trigger.latched.take();
        let seen = seen.or_else(|| screen.look::<M>(&own, &model));
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

//! Client-side firing: captures the view on the screen, fires in the next tick and reports the shot
//! immediately.

mod server_fire;
mod view_capture;

use bevy::prelude::*;
use bevy_unlag_core::{
    ExtendedEvent, ExtendedState, LocalControl, MoveInput, MoveModel, PoseSampler, StepEvent,
};
use bevy_unlag_rewind::TargetHit;

use crate::{
    aim::Aim,
    arsenal::Arsenal,
    fire_input::FireInput,
    weapon_extension::{PredictedShot, SLOTS, WeaponEvent, WeaponInput, WeaponState, WithWeapons},
};
pub(crate) use server_fire::add_server_weapon_input;
use view_capture::{CapturedView, LocalPawn, ViewCapture};

/// Raw weapon controls of the local player's pawn. Requires [`Aim`]. Write it in every frame, or more often.
#[doc(alias = "IN_ATTACK")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Aim)]
pub struct WeaponControls {
    /// Whether the fire button is down.
    pub held: bool,
    /// Whether the player aims down sights.
    pub aiming: bool,
    /// Requests a reload; cleared when a tick has processed it.
    pub reload: bool,
    /// Slot to equip; cleared when a tick has processed it.
    pub equip: Option<u8>,
    /// Seconds for which a pull is buffered while the weapon cools down or reloads. Default: 0.25. Raising it
    /// forgives early pulls, but shots may leave that much later than the pull.
    pub buffer_time: f32,
    /// Whether a source has set the button in this frame.
    set: bool,
    /// Whether the button was down at the end of the frame before.
    was_held: bool,
    /// Whether the button went down since the last shot, even if it is up again.
    pulled: bool,
    /// Seconds for which the pull is buffered.
    buffered: f32,
    /// View on the screen when the button went down.
    // Views hold what is needed to pack a shot.
    #[reflect(ignore)]
    captured: Option<CapturedView>,
    /// View on the screen for the shot that the coming step requests.
    #[reflect(ignore)]
    requested: Option<CapturedView>,
}

impl Default for WeaponControls {
    fn default() -> Self {
        Self {
            held: false,
            aiming: false,
            reload: false,
            equip: None,
            buffer_time: 0.25,
            set: false,
            was_held: false,
            pulled: false,
            buffered: 0.0,
            captured: None,
            requested: None,
        }
    }
}

impl WeaponControls {
    /// Sets the state of the fire button; call it in every frame. Several sources in one frame add up: the button is
    /// down if one of them holds it.
    pub fn set_fire(&mut self, held: bool) {
        if held && !self.held && !self.was_held {
            (self.pulled, self.buffered) = (true, 0.0);
        }
        self.held = held || (self.set && self.held);
        self.set = true;
    }

    /// Ends a frame: later calls count separately. `WeaponsPlugin` and `PlayerControlsPlugin` call it after the fixed
    /// loop.
    pub fn end_frame(&mut self) {
        (self.set, self.was_held) = (false, self.held);
    }
}

/// Ends the frame of all controls. Those of pawns that the server controls also end with each tick.
pub(crate) fn end_frame(mut controls: Query<&mut WeaponControls>) {
    for mut controls in &mut controls {
        if controls.set || controls.was_held != controls.held {
            controls.end_frame();
        }
    }
}

/// Reports that the local player's pawn fired a shot, for immediate effects and sounds. The verdict follows
/// later.
#[doc(alias = "weapon_fire")]
#[derive(Message, Clone, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ShotFired {
    /// The shooter.
    pub shooter: Entity,
    /// The shot; [`PredictedShot::shot`] identifies it until its [`ShotVerdict`](crate::ShotVerdict) arrives.
    pub round: PredictedShot,
    /// Eye position, in metres.
    pub from: Vec3,
    /// View time at which the screen showed remote pawns; `None` for the present.
    pub time: Option<bevy_unlag_core::ViewTime>,
    /// Rays of the shot; empty for projectiles.
    pub rays: Vec<ShotRay>,
}

/// One ray of a shot, as the screen showed it.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct ShotRay {
    /// End point, in metres.
    pub to: Vec3,
    /// Hit that the screen showed.
    pub drawn: Option<TargetHit>,
}

impl ShotFired {
    /// Returns the first hit that the screen showed.
    #[must_use]
    pub fn drawn(&self) -> Option<TargetHit> {
        self.rays.iter().find_map(|ray| ray.drawn)
    }
}

fn is_alive<M: MoveModel>(state: &ExtendedState<M::State, WeaponState>) -> bool {
    M::snapshot(&state.body, default()).alive
}

/// Returns the duration of a tick in seconds of the world's and of a pawn's own time.
fn tick_seconds<M: MoveModel>(
    state: &ExtendedState<M::State, WeaponState>,
    sampler: &PoseSampler,
) -> (f32, f32) {
    let dt = sampler.tick_seconds;
    (dt, dt * M::time_dilation(&state.body).factor())
}

pub(crate) fn capture_view_time<M: MoveModel>(
    mut pawns: Query<(&mut WeaponControls, LocalPawn<M>), With<LocalControl>>,
    model: Res<M::Config>,
    screen: ViewCapture,
) {
    for (mut trigger, own) in &mut pawns {
        // For a buffered pull the view is captured when the weapon is ready.
        let due = own.state.extension.is_ready(&screen.arsenal);
        if due && trigger.pulled && trigger.captured.is_none() && is_alive::<M>(own.state) {
            trigger.captured = screen.look::<M>(&own, &model);
        }
    }
}

pub(crate) fn add_weapon_input<M: MoveModel>(
    mut pawns: Query<(&mut WeaponControls, LocalPawn<M>, &mut MoveInput<WithWeapons<M>>), With<LocalControl>>,
    model: Res<M::Config>,
    screen: ViewCapture,
) {
    for (mut trigger, own, mut input) in &mut pawns {
        trigger.requested = None;
        let alive = is_alive::<M>(own.state);
        let (weapons, seconds) = (&own.state.extension, tick_seconds::<M>(own.state, &screen.sampler));
        input.0.extension = trigger.input(weapons, alive);
        if !alive || !trigger.wants_shot(weapons, &input.0.extension, &screen.arsenal, seconds) {
            continue;
        }
        let seen = trigger.captured.take();
        let seen = seen.or_else(|| screen.look::<M>(&own, &model));
        trigger.pulled = false;
        let Some(mut seen) = seen else { continue };
        let (yaw, pitch) = M::look(&input.0.body);
        let placed = FireInput::new(&seen.sight, screen.tick.0);
        seen.fire = placed.with(&seen.fire).with_aim(seen.aim, Aim { yaw, pitch });
        input.0.extension.fire = Some(seen.fire);
        trigger.requested = Some(seen);
    }
}

impl WeaponControls {
    /// Returns the input of a tick, without a shot.
    fn input(&mut self, weapons: &WeaponState, alive: bool) -> WeaponInput {
        if !alive {
            // A dead pawn does not fire, and its inputs are not buffered until its respawn.
            (self.pulled, self.captured) = (false, None);
            (self.reload, self.equip) = (false, None);
            return WeaponInput::default();
        }
        let input = WeaponInput {
            fire: None,
            trigger: self.held || self.pulled,
            reload: self.reload,
            aiming: self.aiming,
            // The wire format can only represent existing slots.
            equip: self.equip.take().filter(|slot| *slot != weapons.slot && usize::from(*slot) < SLOTS),
            substituted: false,
        };
        // A reload request during the cooldown is kept until it is over.
        self.reload &= weapons.cooldown > 1;
        input
    }

    /// Returns whether the weapon fires in the coming step, of this many seconds of the world's and of the pawn's own
    /// time.
    fn wants_shot(
        &mut self,
        weapons: &WeaponState,
        input: &WeaponInput,
        arsenal: &Arsenal,
        (dt, own_dt): (f32, f32),
    ) -> bool {
        let wanted = weapons.wants_shot(arsenal, self.held, self.pulled, own_dt);
        let changes = input.equip.is_some();
        // A weapon whose reload starts in this move does not fire in it.
        let loads = input.reload && weapons.reload == 0 && weapons.burst == 0;
        let loads = loads
            && weapons.weapon(arsenal).is_some_and(|(_, weapon)| {
                let hand = weapons.held_slot();
                hand.reserve > 0 && hand.magazine < weapon.ammo.magazine
            });
        if !weapons.is_ready(arsenal) || changes || loads {
            // The shot leaves when the weapon is ready, with the view of that moment.
            self.captured = None;
            self.buffered += dt;
            // A pull on an empty magazine starts a reload instead.
            let asks = weapons.is_dry(arsenal) && weapons.cooldown <= 1;
            self.pulled &= !changes && !asks && self.buffered <= self.buffer_time;
            return false;
        }
        if !wanted {
            self.captured = None;
            self.pulled = false;
        }
        wanted
    }
}

pub(crate) fn emit_shot_fired<M: MoveModel>(
    mut happened: MessageReader<StepEvent<WithWeapons<M>>>,
    mut pawns: Query<&mut WeaponControls, With<LocalControl>>,
    mut fired: MessageWriter<ShotFired>,
) {
    for step in happened.read() {
        let ExtendedEvent::Extension(WeaponEvent::Fired(round)) = step.event else { continue };
        let Ok(mut trigger) = pawns.get_mut(step.entity) else { continue };
        let Some(seen) = trigger.requested.take() else { continue };
        debug_assert_eq!(seen.fire, round.fire, "a step changed its input");
        let CapturedView { sight, rays, .. } = seen;
        fired.write(ShotFired { shooter: step.entity, round, from: sight.eye, time: sight.time, rays });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weapon::{Ammo, Weapon, WeaponId};

    /// Sets the button from two sources in a frame. Returns whether it is down and whether it went down.
    fn frame(controls: &mut WeaponControls, sources: [bool; 2]) -> (bool, bool) {
        controls.pulled = false;
        sources.into_iter().for_each(|held| controls.set_fire(held));
        let state = (controls.held, controls.pulled);
        controls.end_frame();
        state
    }

    #[test]
    fn button_is_down_while_one_of_several_sources_holds_it_and_is_pulled_once() {
        for order in [[false, true], [true, false]] {
            let mut controls = WeaponControls::default();
            assert_eq!(frame(&mut controls, [false; 2]), (false, false));
            assert_eq!(frame(&mut controls, order), (true, true));
            for _ in 0..3 {
                assert_eq!(frame(&mut controls, order), (true, false), "held, not pulled again");
            }
            assert_eq!(frame(&mut controls, [true; 2]), (true, false), "the other source joins");
            assert_eq!(frame(&mut controls, [order[1], order[0]]), (true, false));
            assert_eq!(frame(&mut controls, [false; 2]), (false, false));
            assert_eq!(frame(&mut controls, order), (true, true), "pulled again");
        }
    }

    #[test]
    fn another_existing_slot_is_equipped_once_and_the_one_in_hand_or_none_is_not() {
        let weapons = WeaponState::default();
        let mut controls = WeaponControls::default();
        for (wanted, expected) in
            [(Some(1), Some(1)), (Some(weapons.slot), None), (Some(SLOTS as u8), None), (None, None)]
        {
            controls.equip = wanted;
            assert_eq!(controls.input(&weapons, true).equip, expected, "{wanted:?}");
            assert_eq!(controls.input(&weapons, true).equip, None, "it was processed");
        }
        controls.equip = Some(1);
        assert_eq!(controls.input(&weapons, false).equip, None, "a dead pawn");
        assert_eq!(controls.equip, None);
    }

    #[test]
    fn no_shot_is_wanted_in_a_move_that_starts_a_reload() {
        let ammo = Ammo { magazine: 9, reserve: 9, ..Ammo::default() };
        let arsenal = Arsenal::new(vec![Weapon { ammo, ..Weapon::rifle() }]).expect("a valid weapon");
        let full = WeaponState::new(&arsenal, &[WeaponId(0)], 0);
        let mut used = full;
        used.slots[0].magazine -= 1;
        let burst = WeaponState { burst: 1, ..used };
        for (weapons, reload, expected) in
            [(used, true, false), (used, false, true), (full, true, true), (burst, true, true)]
        {
            let mut controls = WeaponControls { held: true, ..WeaponControls::default() };
            let input = WeaponInput { reload, ..WeaponInput::default() };
            let wants_shot = controls.wants_shot(&weapons, &input, &arsenal, (0.1, 0.1));
            assert_eq!(wants_shot, expected, "{weapons:?}, reload: {reload}");
        }
    }
}

//! Predicted weapon state, tick by tick.

use bevy::prelude::*;
use bevy_unlag_core::{BodyStep, MoveExtension, StepContext, Tick, TimeDilation, ViewFrame};
use bevy_unlag_weapons::{
    Ammo, Arsenal, FastestTurn, FireInput, FireMode, NotFired, PredictedShot, Recoil, Reload, Shot, Spread,
    Weapon, WeaponEvent, WeaponExtension, WeaponId, WeaponInput, WeaponState,
};

const DT: f32 = 1.0 / 64.0;

/// A pawn with directly simulated weapon input.
struct Hand {
    arsenal: Arsenal,
    state: WeaponState,
    tick: Tick,
    body: BodyStep,
    pulled: bool,
    was_down: bool,
    events: Vec<(u32, WeaponEvent)>,
}

impl Hand {
    fn new(weapons: Vec<Weapon>) -> Self {
        let arsenal = Arsenal::new(weapons).expect("valid weapons");
        let all: Vec<WeaponId> = arsenal.iter().map(|(id, _)| id).collect();
        let state = WeaponState::new(&arsenal, &all, 7);
        let body = BodyStep {
            look: (0, 0),
            frame: ViewFrame::WORLD,
            velocity: Vec3::ZERO,
            grounded: true,
            time_dilation: TimeDilation::NORMAL,
        };
        Self { arsenal, state, tick: Tick(0), body, pulled: false, was_down: false, events: Vec::new() }
    }

    /// Runs a tick with these buttons as an honest client does.
    fn tick(&mut self, down: bool, buttons: WeaponInput) {
        self.pulled |= down && !self.was_down;
        self.was_down = down;
        let own_dt = self.body.own_seconds(DT);
        let wanted = self.state.wants_shot(&self.arsenal, down, self.pulled, own_dt);
        let fire = (wanted && buttons.equip.is_none()).then(FireInput::default);
        let input = WeaponInput { fire, trigger: down || self.pulled, ..buttons };
        if self.state.is_ready(&self.arsenal) {
            self.pulled = false;
        }
        self.step(&input);
    }

    fn step(&mut self, input: &WeaponInput) {
        let ctx = StepContext { tick: self.tick, dt: DT, entity: Entity::PLACEHOLDER, replaying: false };
        let mut events = Vec::new();
        self.state = WeaponExtension::step(&self.arsenal, &self.state, input, &self.body, &ctx, &mut events);
        self.events.extend(events.into_iter().map(|event| (self.tick.0, event)));
        self.tick = self.tick.offset(1);
    }

    fn hold(&mut self, down: bool, ticks: u32) {
        (0..ticks).for_each(|_| self.tick(down, WeaponInput::default()));
    }

    fn rounds(&self) -> Vec<PredictedShot> {
        let round = |(_, event): &(u32, WeaponEvent)| match event {
            WeaponEvent::Fired(round) => Some(*round),
            _ => None,
        };
        self.events.iter().filter_map(round).collect()
    }

    fn fired(&self) -> Vec<u32> {
        self.rounds().iter().map(|round| round.shot.0).collect()
    }

    fn asked_in_vain(&mut self, trigger: bool) -> Option<NotFired> {
        self.events.clear();
        self.step(&WeaponInput { fire: Some(FireInput::default()), trigger, ..WeaponInput::default() });
        self.events.iter().find_map(|(_, event)| match event {
            WeaponEvent::NotFired { why, .. } => Some(*why),
            _ => None,
        })
    }
}

fn weapon(mode: FireMode, interval: f32) -> Weapon {
    Weapon { mode, interval, ..Weapon::rifle() }
}

#[test]
fn every_fire_mode_fires_in_the_expected_ticks() {
    let mut auto = Hand::new(vec![weapon(FireMode::Auto, 6.0 * DT)]);
    auto.hold(true, 20);
    assert_eq!(auto.fired(), [0, 6, 12, 18]);

    let mut semi = Hand::new(vec![weapon(FireMode::Semi, 6.0 * DT)]);
    semi.hold(true, 20);
    semi.hold(false, 1);
    semi.hold(true, 1);
    // A pull during the cooldown is buffered.
    semi.hold(false, 1);
    semi.hold(true, 1);
    semi.hold(false, 10);
    assert_eq!(semi.fired(), [0, 21, 27]);

    let mut burst = Hand::new(vec![weapon(FireMode::Burst { rounds: 3, pace: 4.0 * DT }, 20.0 * DT)]);
    burst.hold(true, 1);
    burst.hold(false, 30);
    burst.hold(true, 40);
    assert_eq!(burst.fired(), [0, 4, 8, 31, 35, 39]);

    let mut charge = Hand::new(vec![weapon(FireMode::Charge { least: 8.0 * DT, full: 32.0 * DT }, 6.0 * DT)]);
    charge.hold(true, 4);
    charge.hold(false, 6);
    charge.hold(true, 16);
    charge.hold(false, 10);
    charge.hold(true, 90);
    charge.hold(false, 1);
    let rounds = charge.rounds();
    assert_eq!(charge.fired(), [26, 126], "an incomplete charge fires nothing");
    assert_eq!((rounds[0].power, rounds[1].power), (127, 255));
}

#[test]
fn empty_magazine_is_reloaded_by_the_trigger() {
    let ammo = Ammo { magazine: 3, reserve: 4, reload: Reload::Magazine { time: 10.0 * DT } };
    let mut hand = Hand::new(vec![Weapon { ammo, ..weapon(FireMode::Auto, 2.0 * DT) }]);
    hand.hold(true, 6);
    assert_eq!((hand.state.held_slot().magazine, hand.state.is_reloading()), (0, false));
    hand.hold(true, 1);
    assert_eq!(hand.fired(), [0, 2, 4]);
    assert!(hand.state.is_reloading(), "the trigger reloads an empty magazine, held or pulled");
    hand.hold(false, 9);
    assert_eq!(hand.state.held_slot().magazine, 0);
    hand.hold(false, 1);
    assert_eq!((hand.state.held_slot().magazine, hand.state.held_slot().reserve), (3, 1));
    hand.hold(true, 6);
    hand.tick(false, WeaponInput { reload: true, ..default() });
    hand.hold(false, 12);
    assert_eq!((hand.state.held_slot().magazine, hand.state.held_slot().reserve), (1, 0));
    hand.hold(true, 4);
    hand.hold(false, 2);
    hand.hold(true, 2);
    let dry = hand.events.iter().filter(|(_, event)| matches!(event, WeaponEvent::Dry { .. })).count();
    assert_eq!((hand.rounds().len(), dry), (7, 1));
}

#[test]
fn single_rounds_are_reloaded_until_a_shot_interrupts() {
    let reload = Reload::Rounds { first: 8.0 * DT, each: 4.0 * DT };
    let ammo = Ammo { magazine: 5, reserve: 20, reload };
    let mut hand = Hand::new(vec![Weapon { ammo, ..weapon(FireMode::Semi, 2.0 * DT) }]);
    for _ in 0..4 {
        hand.hold(true, 1);
        hand.hold(false, 2);
    }
    assert_eq!(hand.state.held_slot().magazine, 1);
    hand.tick(false, WeaponInput { reload: true, ..default() });
    hand.hold(false, 13);
    assert_eq!(hand.state.held_slot().magazine, 3);
    hand.hold(true, 1);
    assert_eq!((hand.state.held_slot().magazine, hand.state.is_reloading()), (2, false));
    assert_eq!(hand.state.held_slot().reserve, 18);
}

#[test]
fn switching_weapons_takes_time_and_keeps_the_cooldown() {
    let slow = weapon(FireMode::Semi, 40.0 * DT);
    let quick = Weapon { name: "quick".to_owned(), switch: 10.0 * DT, ..weapon(FireMode::Auto, 2.0 * DT) };
    let mut hand = Hand::new(vec![slow, quick]);
    hand.hold(true, 1);
    let equip = |slot| WeaponInput { equip: Some(slot), ..default() };
    hand.tick(false, equip(1));
    hand.hold(true, 30);
    assert_eq!(hand.fired(), [0], "unequipping a weapon does not shorten its cooldown");
    hand.hold(true, 12);
    assert_eq!(hand.rounds()[1].weapon, WeaponId(1));
    assert_eq!(hand.fired()[1], 40);
    hand.hold(false, 40);
    hand.tick(false, equip(0));
    hand.tick(false, equip(1));
    let from = hand.tick.0;
    hand.hold(true, 25);
    assert!(hand.fired().iter().all(|tick| *tick < from || *tick >= from + 9));
    // An empty slot fires nothing.
    hand.tick(false, equip(4));
    hand.hold(true, 40);
    assert_eq!(hand.asked_in_vain(true), Some(NotFired::Unarmed));
}

#[test]
fn burst_interrupted_by_a_weapon_switch_keeps_its_full_cooldown() {
    let burst = weapon(FireMode::Burst { rounds: 3, pace: 4.0 * DT }, 60.0 * DT);
    let other = Weapon { name: "other".to_owned(), switch: 2.0 * DT, ..weapon(FireMode::Semi, DT) };
    let mut hand = Hand::new(vec![Weapon { switch: 2.0 * DT, ..burst }, other]);
    hand.hold(true, 5);
    assert_eq!(hand.fired(), [0, 4]);
    for slot in [1, 0] {
        hand.tick(false, WeaponInput { equip: Some(slot), ..default() });
    }
    hand.hold(true, 1);
    hand.hold(false, 80);
    assert_eq!(hand.fired()[..3], [0, 4, 64]);
}

#[test]
fn excess_fire_requests_are_rejected_by_the_simulation() {
    let ammo = Ammo { magazine: 3, reserve: 3, reload: Reload::default() };
    let rifle = Weapon { ammo, ..weapon(FireMode::Auto, 6.0 * DT) };
    let mut hand = Hand::new(vec![rifle]);
    let all = WeaponInput { fire: Some(FireInput::default()), trigger: false, ..default() };
    for _ in 0..40 {
        hand.step(&all);
    }
    assert_eq!(hand.fired(), [0, 6, 12], "the rate of fire and ammunition limits hold");
    assert_eq!(hand.asked_in_vain(false), Some(NotFired::Empty));
    hand.step(&WeaponInput { reload: true, ..default() });
    assert_eq!(hand.asked_in_vain(true), Some(NotFired::Reloading));

    let charge = weapon(FireMode::Charge { least: 8.0 * DT, full: 32.0 * DT }, 6.0 * DT);
    let mut hand = Hand::new(vec![charge]);
    assert_eq!(hand.asked_in_vain(false), Some(NotFired::NotCharged));
    hand.hold(true, 20);
    assert_eq!(hand.asked_in_vain(true), Some(NotFired::NotCharged), "the trigger is still down");

    let burst = weapon(FireMode::Burst { rounds: 3, pace: 4.0 * DT }, 40.0 * DT);
    let mut hand = Hand::new(vec![burst]);
    for tick in 0..200 {
        // Two rounds, an interruption, and again.
        let fire = (tick % 12 == 0 || tick % 12 == 4).then(FireInput::default);
        hand.step(&WeaponInput { fire, trigger: true, ..default() });
    }
    assert!(
        hand.rounds().len() <= 10,
        "{} rounds in 200 ticks: breaking off saves no pause",
        hand.rounds().len()
    );
}

#[test]
fn spread_and_recoil_grow_with_shots_and_recover() {
    let spread = Spread { still: 1.0, moving: 0.5, airborne: 2.0, aiming: 0.5, bloom: 0.4, ..default() };
    let recoil = Recoil { pattern: vec![(0.0, 1.0), (0.5, 0.5)], recovery: 4.0 };
    let mut hand = Hand::new(vec![Weapon { spread, recoil, ..weapon(FireMode::Auto, 6.0 * DT) }]);
    let degrees = |round: &PredictedShot| round.cone.half_angle_radians().to_degrees();
    hand.hold(true, 20);
    let rounds = hand.rounds();
    assert!((degrees(&rounds[0]) - 1.0).abs() < 0.01);
    assert!(rounds.windows(2).all(|pair| pair[1].cone.aim.pitch > pair[0].cone.aim.pitch));
    assert!(rounds[2].cone.aim.yaw > 60_000, "to the right");
    assert_ne!(rounds[0].seed, rounds[1].seed);
    hand.hold(false, 64);
    assert_eq!((hand.state.bloom, hand.state.recoil), (0, [0, 0]));
    hand.body = BodyStep { velocity: Vec3::X * 4.0, grounded: false, ..hand.body };
    hand.hold(true, 1);
    assert!((degrees(hand.rounds().last().expect("a shot")) - 5.0).abs() < 0.01);
    hand.hold(false, 64);
    hand.tick(false, WeaponInput { aiming: true, ..default() });
    hand.tick(true, WeaponInput { aiming: true, ..default() });
    assert!((degrees(hand.rounds().last().expect("a shot")) - 2.5).abs() < 0.01);
}

#[test]
fn fast_turn_is_remembered_while_it_decays() {
    let mut hand = Hand::new(vec![Weapon::rifle()]);
    hand.body.look = (100, 0);
    hand.tick(true, WeaponInput::default());
    assert_eq!(
        (hand.rounds()[0].fastest_turn.by, hand.state.fastest_turn.by),
        (0, 0),
        "there is no turn before the first move"
    );
    // Half a turn at once, and back again before it has decayed.
    hand.body.look = (100 + 32_768, 0);
    hand.tick(false, WeaponInput::default());
    assert_eq!(hand.state.fastest_turn, FastestTurn { by: 32_768, ago: 0 });
    hand.hold(false, 15);
    let left = hand.state.fastest_turn;
    assert_eq!(left, FastestTurn { by: 32_768 - 15 * 1_024, ago: 15 });
    hand.body.look = (100 + 32_768, 8_000);
    hand.tick(true, WeaponInput::default());
    assert_eq!(
        hand.rounds()[1].fastest_turn,
        FastestTurn { by: left.by - 1_024, ago: 16 },
        "a smaller turn does not replace a larger one"
    );
    hand.hold(false, 64);
    assert_eq!(hand.state.fastest_turn.by, 0);
    // A game that turns the view itself clears the look direction.
    hand.state.look = None;
    hand.body.look = (0, 0);
    hand.tick(true, WeaponInput::default());
    assert_eq!(hand.rounds()[2].fastest_turn.by, 0);
    // The turn rate of an extrapolated pawn is unknown as well.
    hand.step(&WeaponExtension::missing_input(&WeaponInput::default()));
    hand.body.look = (30_000, 0);
    hand.hold(false, 20);
    hand.tick(true, WeaponInput::default());
    assert_eq!(hand.rounds()[3].fastest_turn.by, 0);
}

#[test]
fn beam_fires_in_every_tick() {
    let beam = Weapon { shot: Shot::Beam { range: 20.0, radius: 0.0 }, ..weapon(FireMode::Auto, 1.0) };
    let mut hand = Hand::new(vec![beam]);
    hand.hold(true, 5);
    assert_eq!(hand.fired(), [0, 1, 2, 3, 4]);
}

#[test]
fn added_weapons_and_ammunition_respect_the_capacity() {
    let ammo = Ammo { magazine: 10, reserve: 30, reload: Reload::default() };
    let mut hand = Hand::new(vec![Weapon { ammo, ..Weapon::rifle() }]);
    assert_eq!(hand.state.add_ammo(&hand.arsenal, WeaponId(0), 5), 0, "the reserve is full");
    hand.state.slots[0].reserve = 10;
    assert_eq!(hand.state.add_ammo(&hand.arsenal, WeaponId(0), 50), 20);
    assert_eq!(hand.state.add_ammo(&hand.arsenal, WeaponId(9), 50), 0);
    assert_eq!(hand.state.add_weapon(&hand.arsenal, WeaponId(0)), Some(0));
    assert_eq!(hand.state.add_weapon(&hand.arsenal, WeaponId(9)), None);
}

/// The hand of a pawn whose own time has this rate.
fn hand_at(rate: f32, weapon: Weapon) -> Hand {
    let mut hand = Hand::new(vec![weapon]);
    hand.body.time_dilation = TimeDilation::new(rate);
    hand
}

#[test]
fn weapon_timers_run_in_the_own_time_of_the_pawn() {
    for (rate, ticks) in [(0.5, 2.0), (0.1, 10.0), (2.0, 0.5), (4.0, 0.25)] {
        let scaled = |own: f32| (own * ticks) as u32;
        let mut auto = hand_at(rate, weapon(FireMode::Auto, 8.0 * DT));
        auto.hold(true, scaled(24.0) + 1);
        assert_eq!(auto.fired(), [0, 8, 16, 24].map(|own| scaled(own as f32)), "at a rate of {rate}");

        let burst = weapon(FireMode::Burst { rounds: 3, pace: 4.0 * DT }, 20.0 * DT);
        let mut burst = hand_at(rate, burst);
        burst.hold(true, scaled(28.0) + 1);
        assert_eq!(burst.fired(), [0, 4, 8].map(|own| scaled(own as f32)), "at a rate of {rate}");

        let reload = Reload::Magazine { time: 40.0 * DT };
        let ammo = Ammo { magazine: 1, reserve: 9, reload };
        let mut loads = hand_at(rate, Weapon { ammo, ..weapon(FireMode::Semi, 4.0 * DT) });
        loads.hold(true, 1);
        loads.hold(false, scaled(8.0));
        loads.tick(false, WeaponInput { reload: true, ..default() });
        loads.hold(false, scaled(40.0) - 2);
        assert_eq!(loads.state.held_slot().magazine, 0, "at a rate of {rate}");
        loads.hold(false, 2);
        assert_eq!(loads.state.held_slot().magazine, 1, "at a rate of {rate}");

        let charge = weapon(FireMode::Charge { least: 8.0 * DT, full: 32.0 * DT }, 8.0 * DT);
        let mut charge = hand_at(rate, charge);
        charge.hold(true, scaled(16.0));
        charge.hold(false, 2);
        assert_eq!(charge.rounds().iter().map(|round| round.power).collect::<Vec<_>>(), [127], "{rate}");
    }
}

#[test]
fn running_timers_have_as_much_own_time_left_after_a_change_of_the_rate() {
    for (rate, left) in [(0.5, 32), (2.0, 8), (4.0, 4)] {
        let mut hand = Hand::new(vec![weapon(FireMode::Auto, 20.0 * DT)]);
        hand.hold(true, 4);
        let rate = TimeDilation::new(rate);
        hand.state = WeaponExtension::change_time_dilation(&hand.state, TimeDilation::NORMAL, rate);
        hand.body.time_dilation = rate;
        // Three ticks of the cooldown have passed after that of the shot.
        assert_eq!(hand.state.cooldown, rate.rescaled_ticks(17, TimeDilation::NORMAL));
        hand.hold(true, 60);
        let second = hand.fired()[1] - 4;
        assert!(second.abs_diff(left) <= 2, "at {rate:?}: {second} ticks instead of {left}");
    }
    let rests = WeaponState::new(&Arsenal::default(), &[WeaponId(0)], 1);
    let [slow, fast] = [0.1, 4.0].map(TimeDilation::new);
    assert_eq!(WeaponExtension::change_time_dilation(&rests, fast, slow), rests);
}

/// The player turns the view in the world's time: haste must not hide a snap, and slowness not prolong it.
#[test]
fn fastest_turn_decays_in_the_time_of_the_world() {
    for rate in [0.1, 1.0, 4.0] {
        let mut hand = hand_at(rate, Weapon::rifle());
        hand.hold(false, 1);
        hand.body.look = (32_768, 0);
        hand.hold(false, 11);
        assert_eq!(hand.state.fastest_turn, FastestTurn { by: 32_768 - 10 * 1_024, ago: 10 }, "{rate}");
    }
}

//! Weapon simulation of one tick: a pure function, the same on client and server and in a replay.

use bevy_unlag_core::{BodyStep, StepContext, Tick, Up};

use super::{FastestTurn, NotFired, PredictedShot, SLOTS, WeaponEvent, WeaponInput, WeaponSlot, WeaponState};
use crate::{
    aim::Aim,
    arsenal::Arsenal,
    fire_input::FireInput,
    spread::{SpreadCone, shot_seed},
    weapon::{FireMode, Reload, Weapon, WeaponId, ticks, units},
};

/// Decay of the recorded fastest turn, in degrees per second.
const TURN_DECAY: f32 = 360.0;

pub(super) fn step(
    arsenal: &Arsenal,
    state: &WeaponState,
    input: &WeaponInput,
    body: &BodyStep,
    ctx: &StepContext,
    events: &mut Vec<WeaponEvent>,
) -> WeaponState {
    // Timers run in the pawn's own time.
    let dt = body.own_seconds(ctx.dt);
    // The aim and spread of a shot follow from the state before the step, because the screen showed that
    // one.
    let round = input.fire.and_then(|fire| state.round(arsenal, &fire, body, (ctx.tick, ctx.dt)));
    let mut next = *state;
    next.advance_timers(arsenal, dt);
    next.aiming = input.aiming;
    next.equip(arsenal, input.equip, dt, events);
    let changed = next.slot != state.slot;
    if let Some((id, weapon)) = next.weapon(arsenal) {
        next.load((id, weapon), input, dt, events);
        next.fire((id, weapon), input, round.filter(|_| !changed), (ctx.tick, dt), events);
    } else if input.fire.is_some() {
        events.push(WeaponEvent::NotFired { shot: ctx.tick, why: NotFired::Unarmed });
    }
    next.held = input.trigger;
    let look = Aim { yaw: body.look.0, pitch: body.look.1 };
    // The look direction of a missing move is unknown, and so is the turn to that of the next move.
    next.look = (!input.substituted).then_some(look);
    // The player turns the view in the world's time.
    next.fastest_turn = state.turned_to(look, ctx.dt);
    next
}

impl WeaponState {
    /// Computes the shot that `fire` requests: direction, spread and charge. A request in the tick after this
    /// state was reached is fired exactly so. `None` without a weapon.
    #[must_use]
    pub fn round(
        &self,
        arsenal: &Arsenal,
        fire: &FireInput,
        body: &BodyStep,
        (tick, dt): (Tick, f32),
    ) -> Option<PredictedShot> {
        let (id, weapon) = self.weapon(arsenal)?;
        let look = Aim { yaw: body.look.0, pitch: body.look.1 };
        let spread = &weapon.spread;
        let mut degrees = spread.still + spread.moving * body.velocity.length();
        if !body.grounded {
            degrees += spread.airborne;
        }
        let aiming = if self.aiming { spread.aiming } else { 1.0 };
        let half_angle = (f32::from(units(degrees)) + f32::from(self.bloom)) * aiming;
        let power = match weapon.mode {
            FireMode::Charge { full, .. } => {
                let full = u32::from(ticks(full, body.own_seconds(dt)));
                (u32::from(self.charge).min(full) * 255 / full) as u8
            }
            _ => u8::MAX,
        };
        Some(PredictedShot {
            shot: tick,
            number: self.shots.wrapping_add(1),
            weapon: id,
            fire: *fire,
            look,
            before: self.look,
            fastest_turn: self.turned_to(look, dt),
            cone: SpreadCone {
                aim: self.with_recoil(fire.aim(look)).to_world(&body.frame),
                half_angle: half_angle.min(16_000.0) as u16,
                up: Up::new(body.frame.up),
            },
            up: body.frame.up,
            seed: shot_seed(self.seed, self.shots.wrapping_add(1)),
            power,
        })
    }

    /// Returns the fastest recent turn including a move that looks along `look`. It decays slowly: otherwise
    /// a client that snaps to a target could simply fire one move later.
    fn turned_to(&self, look: Aim, dt: f32) -> FastestTurn {
        let by = self.look.map_or(0, |before| before.angle_to(look));
        let left = self.fastest_turn.by.saturating_sub(units(TURN_DECAY * dt));
        if by >= left {
            FastestTurn { by, ago: 0 }
        } else {
            FastestTurn { by: left, ago: self.fastest_turn.ago.saturating_add(1) }
        }
    }

    /// Advances all timers by one tick.
    fn advance_timers(&mut self, arsenal: &Arsenal, dt: f32) {
        self.cooldown = self.cooldown.saturating_sub(1);
        self.since = self.since.saturating_add(1);
        let Some((_, weapon)) = self.weapon(arsenal) else {
            (self.bloom, self.recoil) = (0, [0; 2]);
            return;
        };
        self.bloom = self.bloom.saturating_sub(recovered(weapon.spread.recovery, dt));
        let back = recovered(weapon.recoil.recovery, dt).cast_signed();
        for recoil in &mut self.recoil {
            *recoil -= (*recoil).clamp(-back, back);
        }
        // The recoil pattern restarts after a pause in which the weapon could have fired.
        let late = ticks(weapon.interval, dt).saturating_add(2).min(u16::from(u8::MAX) - 1);
        if u16::from(self.since) > late {
            self.recoil_index = 0;
        }
        if self.burst > 0 && !self.in_burst(weapon, dt) {
            // An interrupted burst has the same cooldown as a complete one.
            self.burst = 0;
            self.cooldown = ticks(weapon.interval, dt).saturating_sub(u16::from(self.since));
        }
    }

    fn equip(&mut self, arsenal: &Arsenal, wanted: Option<u8>, dt: f32, events: &mut Vec<WeaponEvent>) {
        let Some(wanted) = wanted.filter(|slot| *slot != self.slot && usize::from(*slot) < SLOTS) else {
            return;
        };
        // Switching weapons does not shorten a running cooldown.
        let kept = match self.weapon(arsenal) {
            // An interrupted burst keeps the cooldown of a complete one.
            Some((_, weapon)) if self.burst > 0 => {
                self.cooldown.max(ticks(weapon.interval, dt).saturating_sub(u16::from(self.since)))
            }
            _ => self.cooldown,
        };
        *self = Self { slot: wanted, reload: 0, charge: 0, burst: 0, recoil_index: 0, ..*self };
        (self.bloom, self.recoil) = (0, [0; 2]);
        let found = self.weapon(arsenal);
        let switch = found.map_or(1, |(_, weapon)| ticks(weapon.switch, dt));
        self.cooldown = kept.max(switch);
        events.push(WeaponEvent::Equipped { weapon: found.map(|(id, _)| id), ticks: self.cooldown });
    }

    fn held_slot_mut(&mut self) -> &mut WeaponSlot {
        // The slot is always valid: decoding and `equip` check it.
        let slot = usize::from(self.slot).min(SLOTS - 1);
        &mut self.slots[slot]
    }

    /// Advances the reload of the held weapon.
    fn load(
        &mut self,
        (id, weapon): (WeaponId, &Weapon),
        input: &WeaponInput,
        dt: f32,
        events: &mut Vec<WeaponEvent>,
    ) {
        let WeaponSlot { magazine, reserve, .. } = self.held_slot();
        let full = weapon.ammo.magazine;
        if full == 0 {
            self.reload = 0;
            return;
        }
        let missing = full.saturating_sub(magazine).min(reserve);
        if missing == 0 {
            self.reload = 0;
            return;
        }
        if self.reload == 0 {
            // An empty magazine is reloaded automatically when the trigger is down.
            let asked = input.reload || (magazine == 0 && input.trigger);
            if asked && self.cooldown == 0 && self.burst == 0 {
                let time = match weapon.ammo.reload {
                    Reload::Magazine { time } => time,
                    Reload::Rounds { first, .. } => first,
                };
                self.reload = ticks(time, dt);
                self.charge = 0;
                events.push(WeaponEvent::Reloading { weapon: id, ticks: self.reload });
            }
            return;
        }
        self.reload -= 1;
        if self.reload > 0 {
            return;
        }
        let added = match weapon.ammo.reload {
            Reload::Magazine { .. } => missing,
            Reload::Rounds { each, .. } => {
                if missing > 1 {
                    self.reload = ticks(each, dt);
                }
                1
            }
        };
        let held_slot_mut = self.held_slot_mut();
        held_slot_mut.magazine += added;
        held_slot_mut.reserve -= added;
        let magazine = held_slot_mut.magazine;
        events.push(WeaponEvent::Reloaded { weapon: id, magazine });
    }

    /// Checks whether a shot may be fired now.
    pub(super) fn may_fire(&self, weapon: &Weapon) -> Result<(), NotFired> {
        if self.cooldown > 0 {
            return Err(NotFired::TooSoon);
        }
        if weapon.ammo.magazine > 0 && self.held_slot().magazine == 0 {
            return Err(if self.reload > 0 { NotFired::Reloading } else { NotFired::Empty });
        }
        if self.reload > 0 && matches!(weapon.ammo.reload, Reload::Magazine { .. }) {
            return Err(NotFired::Reloading);
        }
        Ok(())
    }

    /// Checks whether a shot requested in the next tick would be fired.
    pub(super) fn check_ready(&self, weapon: &Weapon) -> Result<(), NotFired> {
        // The cooldown decreases by one before. A reload that ends in that tick delays the shot by another
        // one.
        Self { cooldown: self.cooldown.saturating_sub(1), ..*self }.may_fire(weapon)
    }

    fn fire(
        &mut self,
        (id, weapon): (WeaponId, &Weapon),
        input: &WeaponInput,
        round: Option<PredictedShot>,
        (tick, dt): (Tick, f32),
        events: &mut Vec<WeaponEvent>,
    ) {
        let charge = self.charge;
        if let FireMode::Charge { full, .. } = weapon.mode {
            let counts = input.trigger && self.cooldown == 0 && self.may_fire(weapon).is_ok();
            self.charge = if counts { (charge + 1).min(ticks(full, dt)) } else { 0 };
        }
        if input.fire.is_none() {
            let empty = weapon.ammo.magazine > 0
                && self.held_slot() == WeaponSlot { magazine: 0, reserve: 0, ..self.held_slot() };
            if input.trigger && !self.held && empty && self.cooldown == 0 {
                events.push(WeaponEvent::Dry { weapon: id });
            }
            return;
        }
        let charged = match weapon.mode {
            FireMode::Charge { least, .. } if input.trigger || charge < ticks(least, dt) => {
                Err(NotFired::NotCharged)
            }
            _ => Ok(()),
        };
        let allowed = self.may_fire(weapon).and(charged);
        let round = match (allowed, round) {
            (Ok(()), Some(round)) => round,
            (Err(why), _) => {
                events.push(WeaponEvent::NotFired { shot: tick, why });
                return;
            }
            (Ok(()), None) => {
                // The weapon was changed in this very move.
                events.push(WeaponEvent::NotFired { shot: tick, why: NotFired::TooSoon });
                return;
            }
        };
        self.shots = round.number;
        if weapon.ammo.magazine > 0 {
            self.held_slot_mut().magazine -= 1;
        }
        (self.reload, self.since, self.charge) = (0, 0, 0);
        self.cooldown = self.pause(weapon, dt);
        let bloom = self.bloom.saturating_add(units(weapon.spread.bloom));
        self.bloom = bloom.min(units(weapon.spread.most_bloom));
        let pattern = &weapon.recoil.pattern;
        if let Some((right, up)) = pattern.get(usize::from(self.recoil_index)).or(pattern.last()) {
            let add = |recoil: i16, degrees: f32| {
                let by = units(degrees.abs()).cast_signed() * if degrees < 0.0 { -1 } else { 1 };
                recoil.saturating_add(by).clamp(-16_000, 16_000)
            };
            self.recoil = [add(self.recoil[0], -right), add(self.recoil[1], *up)];
        }
        self.recoil_index = self.recoil_index.saturating_add(1);
        events.push(WeaponEvent::Fired(round));
    }

    /// Returns the ticks until the next shot after one that is fired now.
    fn pause(&mut self, weapon: &Weapon, dt: f32) -> u16 {
        let interval = ticks(weapon.interval, dt);
        match weapon.mode {
            // A beam fires in every tick.
            _ if weapon.is_beam() => 1,
            FireMode::Burst { rounds, pace } => {
                self.burst = if self.burst == 0 { rounds.saturating_sub(1) } else { self.burst - 1 };
                if self.burst > 0 { ticks(pace, dt) } else { interval }
            }
            _ => interval,
        }
    }
}

/// Returns the angle by which spread or recoil recovers in a step, in 1/65,536 of a turn, from a rate in degrees per
/// second. Slowed pawns recover as well, by at least one unit.
fn recovered(rate: f32, dt: f32) -> u16 {
    units(rate * dt).max(u16::from(rate > 0.0))
}

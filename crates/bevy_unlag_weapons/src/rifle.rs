//! A hitscan rifle as predicted state.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, BodyStep, MoveExtension, StepContext, Wire, WireError};
use bevy_unlag_rewind::StampSource;

use crate::{FireInput, HitClaims, WeaponId};

/// The rifle: the same on both sides. Its damage is not here: the server looks it up.
#[derive(Resource, Clone, Copy, Debug)]
pub struct RifleConfig {
    /// Ticks between two rounds. Default 6: 10.7 rounds a second at 64 Hz.
    pub interval: u8,
    /// How far a round reaches, in metres. Default 200. Raising it lets the ray meet more of the
    /// world and costs query time.
    pub range: f32,
    /// What it is called in the server's [`DamageTable`](crate::DamageTable). Default 0.
    pub weapon: WeaponId,
    /// Ticks after its death in which a shooter's rounds still count: they were fired on a screen
    /// that showed it alive. Default 20, 312 ms at 64 Hz: a round trip of 200 ms and the frames and
    /// buffers around it. Raising it makes more duels end with two dead; 0 lets the server's order
    /// of arrival decide, which favours the better link.
    pub trade_ticks: i32,
    /// How far the drawn eye may be beside the server's own, in metres. Default 0.75: a tick of
    /// running and a correction being eased. Raising it lets a cheat shoot from farther off; never
    /// through a wall.
    pub eye_tolerance: f32,
    /// How far the drawn eye may be above or below the server's own, in metres. Default 1.25: a
    /// change of stance being eased, and a tick of falling.
    pub eye_height_tolerance: f32,
    /// Where the moment at which a round is judged comes from. Default: what the shooter's screen showed.
    pub stamp: StampSource,
    /// What a shooter's word about whom it hit is worth. Default: nothing.
    pub claims: HitClaims,
}

impl Default for RifleConfig {
    fn default() -> Self {
        Self {
            interval: 6,
            range: 200.0,
            weapon: WeaponId(0),
            trade_ticks: 20,
            eye_tolerance: 0.75,
            eye_height_tolerance: 1.25,
            stamp: StampSource::Drawn,
            claims: HitClaims::default(),
        }
    }
}

/// What is predicted of a rifle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RifleState {
    /// Ticks until the next round may leave.
    pub cooldown: u8,
    /// Rounds fired so far; the newest one's name.
    pub shots: u32,
}

impl RifleState {
    /// Whether a round asked for in the next tick would leave.
    #[must_use]
    pub fn ready(&self) -> bool {
        self.cooldown <= 1
    }
}

impl Wire for RifleState {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.cooldown), 8);
        w.bits(self.shots, 32);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { cooldown: r.bits(8)? as u8, shots: r.bits(32)? })
    }
}

/// What happened to a rifle in a step.
#[derive(Clone, Copy, Debug)]
pub enum RifleEvent {
    /// A round left.
    Fired {
        /// Its name: the owner's first round is 1.
        shot: u32,
        /// What the screen showed.
        fire: FireInput,
    },
    /// A round was asked for before the last one's time was over.
    TooSoon,
}

/// The rifle as a [`MoveExtension`].
#[derive(Clone, Copy, Debug)]
pub struct Rifle;

impl MoveExtension for Rifle {
    type Config = RifleConfig;
    type Input = Option<FireInput>;
    type State = RifleState;
    type Event = RifleEvent;

    fn step(
        config: &RifleConfig,
        state: &RifleState,
        input: &Option<FireInput>,
        _: &BodyStep,
        _: &StepContext,
        events: &mut Vec<RifleEvent>,
    ) -> RifleState {
        let mut next = RifleState { cooldown: state.cooldown.saturating_sub(1), ..*state };
        if let Some(fire) = *input {
            if next.cooldown == 0 {
                next.cooldown = config.interval;
                next.shots = next.shots.wrapping_add(1);
                events.push(RifleEvent::Fired { shot: next.shots, fire });
            } else {
                events.push(RifleEvent::TooSoon);
            }
        }
        next
    }

    fn kind(state: &RifleState) -> u32 {
        state.shots ^ (u32::from(state.cooldown) << 11)
    }

    fn config_hash(config: &RifleConfig) -> u32 {
        u32::from(config.interval).wrapping_mul(0x9e37_79b1)
    }
}

//! What can be changed while server and clients run, by whoever holds it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use bevy::prelude::*;
use bevy_unlag::{net::UpdateInterval, prelude::*};

use crate::app::TICK;

/// What the client of a kart's owner does with the state that the server sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OwnerMode {
    /// Sets it and makes the moves again that the server does not know yet: the cure. The server
    /// sends its state with every answer here, so that this is seen to do no harm; the suite's
    /// default sends it only when it differs.
    #[default]
    Replay,
    /// Sets it, and that is that: the kart is back where it was a round trip ago.
    Overwrite,
}

/// Shared by the apps of a process.
#[derive(Resource, Clone, Debug)]
pub struct Switches {
    interval: Arc<AtomicU32>,
    overwrite: Arc<AtomicBool>,
}

impl Default for Switches {
    fn default() -> Self {
        let this = Self { interval: Arc::default(), overwrite: Arc::default() };
        this.set_rate(10.0);
        this
    }
}

impl Switches {
    /// The slowest and the fastest rate of updates, in Hz.
    pub const RATES: (f32, f32) = (1.0, 60.0);

    /// How often a second the server tells others of a kart, as near as whole ticks allow.
    pub fn set_rate(&self, hz: f32) {
        let ticks = 1.0 / (hz.clamp(Self::RATES.0, Self::RATES.1) * TICK.as_secs_f32());
        self.interval.store(ticks.round().max(1.0) as u32, Ordering::Relaxed);
    }

    /// Ticks from one update to the next.
    #[must_use]
    pub fn interval(&self) -> u32 {
        self.interval.load(Ordering::Relaxed).max(1)
    }

    /// The rate that whole ticks come to, in Hz.
    #[must_use]
    pub fn rate(&self) -> f32 {
        1.0 / (self.interval() as f32 * TICK.as_secs_f32())
    }

    /// What the owner does with the server's state.
    pub fn set_owner(&self, mode: OwnerMode) {
        self.overwrite.store(mode == OwnerMode::Overwrite, Ordering::Relaxed);
    }

    /// The same, to read.
    #[must_use]
    pub fn owner(&self) -> OwnerMode {
        if self.overwrite.load(Ordering::Relaxed) { OwnerMode::Overwrite } else { OwnerMode::Replay }
    }
}

/// The server's side: karts are updated at the rate that was asked for.
pub(super) fn obey(
    switches: Res<Switches>,
    mut debug: ResMut<PredictionDebug>,
    karts: Query<(Entity, Option<&UpdateInterval>), With<NetId>>,
    mut commands: Commands,
) {
    let wanted = UpdateInterval(switches.interval());
    for (kart, interval) in &karts {
        if interval != Some(&wanted) {
            commands.entity(kart).insert(wanted);
        }
    }
    let forced = if switches.owner() == OwnerMode::Replay { 1.0 } else { 0.0 };
    if debug.force_corrections != forced {
        debug.force_corrections = forced;
    }
}

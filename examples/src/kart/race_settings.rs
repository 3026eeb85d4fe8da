//! Settings shared between apps, which can change while server and clients run.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use bevy::prelude::*;
use bevy_unlag::{net::UpdateInterval, prediction::PredictionDebug, prelude::*};

use crate::app::TICK;

/// Handling of the server's state by the client of a kart's owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OwnerMode {
    /// Sets the server's state and replays the moves that it does not contain yet. This is the right way.
    /// Here the server sends its state with every acknowledgement, to show that replay does no harm; by
    /// default the suite sends it only on a correction.
    #[default]
    Replay,
    /// Sets the server's state without a replay, which moves the kart back by a round trip.
    Overwrite,
}

/// Settings of the race, shared by the apps of a process.
#[derive(Resource, Clone, Debug)]
pub struct RaceSettings {
    interval: Arc<AtomicU32>,
    overwrite: Arc<AtomicBool>,
}

impl Default for RaceSettings {
    fn default() -> Self {
        let this = Self { interval: Arc::default(), overwrite: Arc::default() };
        this.set_rate(10.0);
        this
    }
}

impl RaceSettings {
    /// Lowest and highest update rate, in Hz.
    pub const RATES: (f32, f32) = (1.0, 60.0);

    /// Sets the rate at which the server sends updates of a kart to other clients, rounded to whole ticks.
    pub fn set_rate(&self, hz: f32) {
        let ticks = 1.0 / (hz.clamp(Self::RATES.0, Self::RATES.1) * TICK.as_secs_f32());
        self.interval.store(ticks.round().max(1.0) as u32, Ordering::Relaxed);
    }

    /// Returns the number of ticks between two updates.
    #[must_use]
    pub fn interval(&self) -> u32 {
        self.interval.load(Ordering::Relaxed).max(1)
    }

    /// Returns the effective update rate, in Hz: a whole number of ticks per update.
    #[must_use]
    pub fn rate(&self) -> f32 {
        1.0 / (self.interval() as f32 * TICK.as_secs_f32())
    }

    /// Sets what the owner's client does with the server's state.
    pub fn set_owner(&self, mode: OwnerMode) {
        self.overwrite.store(mode == OwnerMode::Overwrite, Ordering::Relaxed);
    }

    /// Returns what the owner's client does with the server's state.
    #[must_use]
    pub fn owner(&self) -> OwnerMode {
        if self.overwrite.load(Ordering::Relaxed) { OwnerMode::Overwrite } else { OwnerMode::Replay }
    }
}

/// Applies the settings on the server: the update interval of every kart, and forced corrections.
pub(super) fn apply_race_settings(
    switches: Res<RaceSettings>,
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

//! Debug controls of a server in another thread of the process.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use bevy::prelude::*;
use bevy_unlag::{
    prediction::PredictionDebug,
    rewind::{EvidenceLog, ShotEvidence},
};

use crate::{
    screen_feed::ScreenFeed,
    techniques::{self, Techniques},
};

/// Debug controls of a server in another thread, for testing.
#[derive(Resource, Clone, Debug, Default)]
pub struct ServerDebugHandle {
    force_corrections: Arc<AtomicU32>,
    records_shots: Arc<AtomicBool>,
    shots: Arc<Mutex<Vec<ShotEvidence>>>,
    /// Switches that the server has not applied yet.
    techniques: Arc<Mutex<Option<Techniques>>>,
    screen: ScreenFeed,
}

impl ServerDebugHandle {
    /// Maximum number of recorded shots in the queue.
    const SHOTS: usize = 64;

    /// Sets the server's [`PredictionDebug::force_corrections`].
    pub fn force_corrections(&self, share: f32) {
        self.force_corrections.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Sets whether the server records every shot that it resolves.
    pub fn record_shots(&self, on: bool) {
        self.records_shots.store(on, Ordering::Relaxed);
    }

    /// Takes the shots that the server has recorded since the last call.
    #[must_use]
    pub fn take_shots(&self) -> Vec<ShotEvidence> {
        self.shots.lock().map(|mut shots| core::mem::take(&mut *shots)).unwrap_or_default()
    }

    /// Returns the feed of where the server has all pawns.
    #[must_use]
    pub fn screen(&self) -> &ScreenFeed {
        &self.screen
    }

    /// Sets the server's [`Techniques`].
    pub fn set_techniques(&self, techniques: Techniques) {
        if let Ok(mut wanted) = self.techniques.lock() {
            *wanted = Some(techniques);
        }
    }

    /// Applies the controls to the server's world, between two frames.
    pub fn apply(&self, world: &mut World) {
        self.screen.publish(world);
        if let Some(wanted) = self.techniques.lock().ok().and_then(|mut wanted| wanted.take()) {
            techniques::apply_to_server(world, &wanted);
        }
        world.resource_mut::<PredictionDebug>().force_corrections =
            f32::from_bits(self.force_corrections.load(Ordering::Relaxed));
        let mut log = world.resource_mut::<EvidenceLog>();
        let on = self.records_shots.load(Ordering::Relaxed);
        if on != log.is_on() {
            log.set_capacity(if on { Self::SHOTS } else { 0 });
        }
        if on && let Ok(mut shots) = self.shots.lock() {
            shots.extend(log.drain());
            // Bounded, because no consumer may be reading.
            let beyond = shots.len().saturating_sub(Self::SHOTS);
            shots.drain(..beyond);
        }
    }
}

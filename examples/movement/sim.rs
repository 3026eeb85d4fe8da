//! Simulation without a window: the mover, the course and the tour.

use bevy::prelude::*;
use bevy_unlag_movement::{LocalMovesPlugin, MovementPlugin, PawnCollisionPlugin, abilities::TeleportConfig};

use crate::{
    pawn::Pawn,
    spawning::SpawnPlugin,
    tour::TourPlugin,
    tuning::{Tuning, TuningPlugin},
};

/// Adds the whole simulation. Add it after Bevy's plugins.
pub struct SimPlugin {
    /// Initial tuning.
    pub tuning: Tuning,
}

impl Plugin for SimPlugin {
    fn build(&self, app: &mut App) {
        let (config, dash) = self.tuning.configs();
        app.insert_resource(self.tuning)
            .insert_resource(config)
            .insert_resource(dash)
            .init_resource::<TeleportConfig>()
            .add_plugins((
                MovementPlugin,
                LocalMovesPlugin::<Pawn>::default(),
                PawnCollisionPlugin::<Pawn>::default(),
                TuningPlugin,
                SpawnPlugin,
                TourPlugin,
            ));
    }
}

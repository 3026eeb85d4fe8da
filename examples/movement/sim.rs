//! Simulation without a window: the mover, the course and the tour.

use bevy::prelude::*;
use bevy_unlag_movement::{LocalMovesPlugin, MovementPlugin, PawnCollisionPlugin, abilities::TeleportConfig};

use crate::{
    pawn::Pawn,
    spawning, tour,
    tuning::{self, Tuning},
};

/// Adds the whole simulation with this initial tuning. Call it after adding Bevy's plugins.
pub fn add(app: &mut App, tuning: Tuning) {
    let (config, dash) = tuning.configs();
    app.insert_resource(tuning)
        .insert_resource(config)
        .insert_resource(dash)
        .init_resource::<TeleportConfig>()
        .add_plugins((
            MovementPlugin,
            LocalMovesPlugin::<Pawn>::default(),
            PawnCollisionPlugin::<Pawn>::default(),
            tuning::plugin,
            spawning::plugin,
            tour::plugin,
        ));
}

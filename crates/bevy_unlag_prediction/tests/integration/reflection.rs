//! Reflection of the public components, resources, messages and events.

use bevy::{prelude::*, reflect::ReflectFromPtr};
use bevy_unlag_prediction::*;

use crate::properties::Walker;

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PredictionPlugin::<Walker>::default()));
    assert_registered!(
        app, ReflectComponent:
        IncomingMoveAcks, IncomingMoves, MoveLog<Walker>, MoveQueue<Walker>, MoveTrace, OutgoingMoveAcks,
        OutgoingMoves, PredictedCount, PredictionStats, PublishedExtrapolation<Walker>,
        SavedMoves<Walker>, ScheduledPushes<Walker>, TimeDiscrepancy,
    );
    assert_registered!(
        app, ReflectResource:
        CachedConfigHash<Walker>, ClockSteering, PredictionConfig, PredictionDebug, SendThrottle,
    );
    assert_registered!(
        app, ReflectMessage:
        TimeDiscrepancyDetected,
    );
    // States and events of models are not reflected, so these cannot be written through reflection.
    assert_registered!(
        app, ReflectFromPtr:
        Correction<Walker>, MoveOutcome<Walker>, ServerCorrection<Walker>,
    );
}

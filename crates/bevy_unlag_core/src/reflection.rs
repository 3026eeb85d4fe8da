//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers reflected types in an app.
#[doc(hidden)]
#[macro_export]
macro_rules! register_types {
    ($app:ident: $($type:ty),* $(,)?) => {
        $($app.register_type::<$type>();)*
    };
}

/// Registers the public types for inspectors. [`MoveInput`], [`PublishedState`], [`StepEvent`] and
/// [`ExtendedState`] are registered where the model is known.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<BasePoses>()
        .register_type::<BaseScheduleMailbox>()
        .register_type::<CurrentTick>()
        .register_type::<DrawnBaseTime>()
        .register_type::<DrawnEye>()
        .register_type::<DrawnPose>()
        .register_type::<DrawnViewTime>()
        .register_type::<GameClock>()
        .register_type::<LastReceivedSnapshot>()
        .register_type::<LimbRig>()
        .register_type::<LocalControl>()
        .register_type::<Passenger>()
        .register_type::<PawnClass>()
        .register_type::<ServerControl>()
        .register_type::<MatchReset>()
        .register_type::<MeasuredUpdateInterval>()
        .register_type::<NetId>()
        .register_type::<NetRole>()
        .register_type::<OwnerReconnected>()
        .register_type::<PathKnotConfig>()
        .register_type::<PawnModel>()
        .register_type::<PoseSampler>()
        .register_type::<ProxySmoothing>()
        .register_type::<RoundTrip>()
        .register_type::<ServerLeft>()
        .register_type::<SetupDiagnostics>()
        .register_type::<SimulationRate>()
        .register_type::<Snapshot>()
        .register_type::<SnapshotAcks>()
        .register_type::<SnapshotHistory>()
        .register_type::<Stall>()
        .register_type::<TransformWatch>()
        .register_type::<VisualOf>()
        .register_type::<VisualOffset>()
        .register_type::<Visuals>()
        .register_type::<WorldGravity>();
}

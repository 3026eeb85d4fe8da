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
    register_types! { app:
        BasePoses, BaseScheduleMailbox, CurrentTick, DrawnBaseTime, DrawnEye, DrawnPose, DrawnViewTime,
        GameClock, LastReceivedSnapshot, LimbRig, LocalControl, OwnMoveDelay, Passenger, PawnClass, ServerControl,
        MatchReset, MeasuredUpdateInterval, MovesAcknowledged, NetId, NetRole, OwnerReconnected, PathKnotConfig,
        PawnModel, PoseSampler, ProxySmoothing, TimeDilation, RoundTrip, Seated, ServerLeft, SetupDiagnostics,
        SimulationRate, Snapshot, SnapshotAcks, SnapshotHistory, Stall, TransformWatch, VisualOf, VisualOffset,
        Visuals, WorldGravity,
    }
}

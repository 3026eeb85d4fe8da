//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors. [`Received`] and [`ValueRequest`] are registered where their
/// message or value is known.
pub(crate) fn register_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        AwaitingReconnect, Bandwidth, DownlinkBudget, GameMessageStats, GameSpeed, LinkBudget,
        MatchRestarted, MessageLimits, NetSim, ParkedPawn, PawnParking, PlayerJoined, PlayerLeft,
        PlayerReturned, ProtocolMismatch, ProtocolVersion, JoinConfig, LightyearPings, RateMismatch,
        ReplicatedPawn, RestartMatch, ServerShutdown, ServerStopped, SessionConfig, SessionExpired, SessionOf,
        SetupMismatch, Shutdown,
    }
    app.register_type::<HiddenPawns>().register_type::<Spectator>();
    #[cfg(feature = "rewind")]
    bevy_unlag_core::register_types! { app: AlwaysInSight, InterestConfig, InterestStats, SeesEverything }
    #[cfg(feature = "record")]
    app.register_type::<RecordMark>().register_type::<SpectatorConfig>().register_type::<SpectatorStats>();
    #[cfg(feature = "smoothing")]
    app.register_type::<DroppedSnapshots>()
        .register_type::<DroppedPawnChanges>()
        .register_type::<SnapshotWeight>()
        .register_type::<UpdateInterval>();
}

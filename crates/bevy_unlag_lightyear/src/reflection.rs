//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors. [`Received`] and [`ValueRequest`] are registered where their
/// message or value is known.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<AwaitingReconnect>()
        .register_type::<Bandwidth>()
        .register_type::<DownlinkBudget>()
        .register_type::<GameMessageStats>()
        .register_type::<GameSpeed>()
        .register_type::<LinkBudget>()
        .register_type::<MatchRestarted>()
        .register_type::<MessageLimits>()
        .register_type::<NetSim>()
        .register_type::<PlayerJoined>()
        .register_type::<PlayerLeft>()
        .register_type::<PlayerReturned>()
        .register_type::<ProtocolMismatch>()
        .register_type::<ProtocolVersion>()
        .register_type::<JoinConfig>()
        .register_type::<LightyearPings>()
        .register_type::<RateMismatch>()
        .register_type::<ReplicatedPawn>()
        .register_type::<RestartMatch>()
        .register_type::<ServerShutdown>()
        .register_type::<ServerStopped>()
        .register_type::<SessionConfig>()
        .register_type::<SessionExpired>()
        .register_type::<SessionOf>()
        .register_type::<SetupMismatch>()
        .register_type::<Shutdown>();
    #[cfg(feature = "smoothing")]
    app.register_type::<DroppedSnapshots>().register_type::<UpdateInterval>();
}

//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<AssignMatch>()
        .register_type::<BanList>()
        .register_type::<IngressLimits>()
        .register_type::<IngressStats>()
        .register_type::<JoinRefused>()
        .register_type::<Kick>()
        .register_type::<Kicked>()
        .register_type::<KickedByServer>()
        .register_type::<LinkTraffic>()
        .register_type::<LogConfig>()
        .register_type::<PendingKick>()
        .register_type::<RotateKeys>()
        .register_type::<ServerUdp>()
        .register_type::<TokenStats>()
        .register_type::<WallClock>();
    #[cfg(all(feature = "sessions", not(target_family = "wasm")))]
    app.register_type::<ReloadCertificates>()
        .register_type::<SessionListeners>()
        .register_type::<SessionTransport>();
}

//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors. [`ComponentInbox`] and [`ComponentHistory`] are registered
/// where their component is known.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<BlendConfig>()
        .register_type::<PlayoutClocks>()
        .register_type::<PlayoutConfig>()
        .register_type::<ProxyTime>()
        .register_type::<PublishedPath>()
        .register_type::<RecordTransform>()
        .register_type::<SentSnapshots>()
        .register_type::<ServerClock>()
        .register_type::<SmoothingStats>()
        .register_type::<SnapshotInbox>();
}

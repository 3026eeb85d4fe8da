//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors. [`ComponentInbox`] and [`ComponentHistory`] are registered
/// where their component is known.
pub(crate) fn register_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        BlendConfig, OutOfSight, PlayoutClocks, PlayoutConfig, ProxyTime, PublishedPath, RecordTransform,
        SentSnapshots, ServerClock, SmoothingStats, SnapshotInbox,
    }
}

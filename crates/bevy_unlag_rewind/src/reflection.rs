//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors.
pub(crate) fn register_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        DrawnFrames, DrawnLimbs, EvidenceLog, FrameHistory, HitBoxAsset, HitBoxBones, HitBoxes, HitLayers,
        LimbNodes, LimbRecordInterval, MatchStart, Occluder, RewindLimits, Team, ViewTimeValidator,
        ViewValidationConfig,
    }
    #[cfg(feature = "moved_colliders")]
    app.register_type::<RewindBackend>();
    #[cfg(feature = "gizmos")]
    app.register_type::<RewindView>();
}

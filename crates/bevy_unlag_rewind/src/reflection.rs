//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types for inspectors.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<DrawnFrames>()
        .register_type::<DrawnLimbs>()
        .register_type::<EvidenceLog>()
        .register_type::<FrameHistory>()
        .register_type::<HitBoxAsset>()
        .register_type::<HitBoxBones>()
        .register_type::<HitBoxes>()
        .register_type::<HitLayers>()
        .register_type::<LimbNodes>()
        .register_type::<LimbRecordInterval>()
        .register_type::<MatchStart>()
        .register_type::<Occluder>()
        .register_type::<RewindLimits>()
        .register_type::<Team>()
        .register_type::<ViewTimeValidator>()
        .register_type::<ViewValidationConfig>();
    #[cfg(feature = "moved_colliders")]
    app.register_type::<RewindBackend>();
    #[cfg(feature = "gizmos")]
    app.register_type::<RewindView>();
}

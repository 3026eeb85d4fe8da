//! Reflection of the public components, resources, messages and events.

use bevy::prelude::*;
use bevy_unlag_rewind::*;

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, RewindQueryPlugin));
    assert_registered!(
        app, ReflectComponent:
        DrawnLimbs, FrameHistory, HitBoxAsset, HitBoxBones, HitBoxes, HitLayers, LimbNodes,
        LimbRecordInterval, Occluder, Team, ViewTimeValidator,
    );
    assert_registered!(
        app, ReflectResource:
        DrawnFrames, EvidenceLog, MatchStart, RewindBackend, RewindLimits, ViewValidationConfig,
    );
}

//! stub
use bevy::prelude::*;
use bevy_unlag::record::{IndexedShot, RecordError, RecordSetup};
#[derive(Resource, Default)]
pub struct ShotView {
    pub is_on: bool,
    pub at: u32,
}
pub fn plugin(_: &mut App) {}
pub fn explain_all(
    _: &std::path::Path,
    _: &RecordSetup,
    _: &[IndexedShot],
) -> Result<Vec<Option<serde_json::Value>>, RecordError> {
    Ok(vec![])
}

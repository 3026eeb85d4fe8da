//! State of a proxy as drawn in the last frame.

use bevy::prelude::*;
use bevy_unlag_core::{ProxySmoothing, ViewStamp};

/// State of a proxy as drawn in the last frame.
#[derive(Component, Clone, Copy, Debug, Default)]
pub(crate) struct LastDrawn(pub Option<DrawnState>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnState {
    pub position: Vec3,
    pub velocity: Vec3,
    pub rotation: Quat,
    pub stamp: ViewStamp,
    pub mode: Option<ProxySmoothing>,
    pub teleports: u8,
}

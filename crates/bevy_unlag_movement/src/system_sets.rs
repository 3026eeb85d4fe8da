//! System sets of movement.

use bevy::prelude::*;

/// System sets that update [`MoverScene`](crate::MoverScene) and movement bases.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MoverSceneSystems {
    /// In [`FixedFirst`], and in [`FixedUpdate`] before
    /// [`MoveSystems::Reconcile`](bevy_unlag_core::MoveSystems::Reconcile): updates the scene with all changes.
    Sync,
    /// In [`FixedUpdate`] after [`Sync`](Self::Sync) and before rapier: sets the `Transform` of movement
    /// bases for this tick. In [`RunFixedMainLoop`] after the loop: sets it for this frame.
    Drive,
}

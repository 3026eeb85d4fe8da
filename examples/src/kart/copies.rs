//! Copies of a remote kart, each with another smoothing mode and the same updates.

use bevy::prelude::*;
use bevy_unlag::{
    core::ProxySmoothing,
    prelude::*,
    smoothing::{SmoothingSystems, SnapshotInbox},
};

/// Smoothing modes in the order of their lanes, with their names.
pub const MODES: [(ProxySmoothing, &str); 5] = [
    (ProxySmoothing::Raw, "raw"),
    (ProxySmoothing::Linear, "linear"),
    (ProxySmoothing::Hermite, "hermite"),
    (ProxySmoothing::Simulate, "simulate"),
    (ProxySmoothing::Exponential, "exponential"),
];

/// Marks a drawn copy of a pawn. Its `ProxySmoothing` is the smoothing mode.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = Copies)]
pub struct CopyOf(pub Entity);

/// The copies of a pawn.
#[derive(Component, Debug)]
#[relationship_target(relationship = CopyOf, linked_spawn)]
pub struct Copies(Vec<Entity>);

pub(super) fn add(app: &mut App) {
    app.add_observer(copy).add_systems(
        PreUpdate,
        forward_snapshots.after(SmoothingSystems::Deliver).before(SmoothingSystems::Receive),
    );
}

/// Spawns a copy of every remote pawn for each smoothing mode.
fn copy(added: On<Add, NetRole>, pawns: Query<&NetRole, With<NetId>>, mut commands: Commands) {
    if pawns.get(added.entity) == Ok(&NetRole::SimulatedProxy) {
        for (mode, _) in MODES {
            commands.spawn((NetRole::SimulatedProxy, SnapshotInbox::default(), mode, CopyOf(added.entity)));
        }
    }
}

/// Forwards the snapshots of a pawn to its copies.
fn forward_snapshots(
    pawns: Query<(&SnapshotInbox, &Copies), Without<CopyOf>>,
    mut copies: Query<&mut SnapshotInbox, With<CopyOf>>,
) {
    for (inbox, all) in &pawns {
        let mut copies = copies.iter_many_mut(&all.0);
        while let Some(mut copy) = copies.fetch_next() {
            if !inbox.0.is_empty() {
                copy.0.extend(inbox.0.iter().copied());
            }
        }
    }
}

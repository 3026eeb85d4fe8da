//! The kart of somebody else several times, each drawn in another way from the same updates.

use bevy::prelude::*;
use bevy_unlag::{
    core::ProxySmoothing,
    prelude::*,
    smoothing::{SmoothingSystems, SnapshotInbox},
};

/// The ways, in the order in which they stand side by side.
pub const MODES: [(ProxySmoothing, &str); 5] = [
    (ProxySmoothing::Raw, "raw"),
    (ProxySmoothing::Linear, "linear"),
    (ProxySmoothing::Hermite, "hermite"),
    (ProxySmoothing::Simulate, "simulate"),
    (ProxySmoothing::Exponential, "exponential"),
];

/// A kart that is drawn beside the pawn that it is a copy of. Its `ProxySmoothing` says how.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = Copies)]
pub struct CopyOf(pub Entity);

/// The copies of a pawn.
#[derive(Component, Debug)]
#[relationship_target(relationship = CopyOf, linked_spawn)]
pub struct Copies(Vec<Entity>);

pub(super) fn add(app: &mut App) {
    app.add_observer(copy)
        .add_systems(PreUpdate, hand_on.after(SmoothingSystems::Deliver).before(SmoothingSystems::Receive));
}

/// Every pawn that is somebody else's gets a copy for each way.
fn copy(added: On<Add, NetRole>, pawns: Query<&NetRole, With<NetId>>, mut commands: Commands) {
    if pawns.get(added.entity) == Ok(&NetRole::SimulatedProxy) {
        for (mode, _) in MODES {
            commands.spawn((NetRole::SimulatedProxy, SnapshotInbox::default(), mode, CopyOf(added.entity)));
        }
    }
}

/// What came for the pawn came for its copies.
fn hand_on(
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

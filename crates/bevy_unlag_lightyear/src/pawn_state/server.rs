//! Sending of pawn states.

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_unlag_core::{CurrentTick, NetId, Tick, Wire};
use lightyear::prelude::{server::ClientOf, *};

use super::{
    MAX_VALUE_BYTES, PawnStates, StoredState,
    state_change::{self, Change},
};
use crate::{
    bandwidth::Bandwidth,
    budget::SnapshotSendQueue,
    hidden_pawns::HiddenPawns,
    parking::Published,
    pawn::ReplicatedPawn,
    pawn_event::EVENT,
    protocol::PawnStateMessage,
    spectators::Spectator,
    system_sets::{NetSystems, SendSystems},
    visibility::ComponentFilters,
};

/// Changes and events of this frame, with their pawns.
#[derive(Resource, Default)]
pub(crate) struct OutgoingChanges(Vec<(Entity, Change)>);

impl OutgoingChanges {
    /// Adds a change, unless its value is too large.
    pub(crate) fn push(&mut self, pawn: Entity, change: Change) {
        let bytes = change.bytes.as_ref().map_or(0, Vec::len);
        if bytes > MAX_VALUE_BYTES {
            error_once!("a pawn state or event takes {bytes} bytes, at most {MAX_VALUE_BYTES}");
            return;
        }
        self.0.push((pawn, change));
    }
}

/// Collection of changed states, before they are sent.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Collect;

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<OutgoingChanges>()
        .register_required_components::<ReplicatedPawn, PawnStates>()
        .configure_sets(PostUpdate, Collect.before(SendSystems::Snapshots))
        .add_systems(
            PostUpdate,
            send.run_if(|changes: Res<OutgoingChanges>| !changes.0.is_empty())
                .after(Collect)
                .after(NetSystems::AnnounceHidden)
                .before(MessageSystems::Send),
        );
}

pub(super) fn add_type<C: Wire + Component<Mutability = Mutable>>(app: &mut App, kind: u8) {
    let collect = move |tick: Res<CurrentTick>,
                        mut pawns: Query<(Entity, &NetId, &C, &mut PawnStates), Changed<C>>,
                        mut changes: ResMut<OutgoingChanges>| {
        for (entity, id, value, mut states) in &mut pawns {
            store(&mut states, &mut changes, (entity, *id), (kind, tick.0), Some(value.to_bytes()));
        }
    };
    let collect_removed = move |tick: Res<CurrentTick>,
                                mut removed: RemovedComponents<C>,
                                mut pawns: Query<(&NetId, &mut PawnStates), Without<C>>,
                                mut changes: ResMut<OutgoingChanges>| {
        for entity in removed.read() {
            if let Ok((id, mut states)) = pawns.get_mut(entity) {
                store(&mut states, &mut changes, (entity, *id), (kind, tick.0), None);
            }
        }
    };
    app.add_systems(PostUpdate, (collect, collect_removed).chain().in_set(Collect));
}

/// Stores a value for clients to which the pawn becomes visible later, and queues it for the others.
fn store(
    states: &mut PawnStates,
    changes: &mut OutgoingChanges,
    (entity, pawn): (Entity, NetId),
    (kind, tick): (u8, Tick),
    bytes: Option<Vec<u8>>,
) {
    let known = states.0.iter().position(|known| known.kind == kind);
    if known.map_or(bytes.is_none(), |known| states.0[known].bytes == bytes) {
        return;
    }
    let state = StoredState { kind, tick: tick.0, bytes: bytes.clone() };
    match known {
        Some(known) => states.0[known] = state,
        None => states.0.push(state),
    }
    changes.push(entity, Change { pawn, kind, tick, bytes });
}

fn send(
    tick: Res<CurrentTick>,
    filters: Res<ComponentFilters>,
    pawns: Query<Option<&ControlledBy>, Published>,
    mut changes: ResMut<OutgoingChanges>,
    mut links: Query<
        (
            Entity,
            &mut MessageSender<PawnStateMessage>,
            &mut SnapshotSendQueue,
            &ClientVisibility,
            Option<&HiddenPawns>,
        ),
        (With<ClientOf>, With<Connected>, Without<Spectator>),
    >,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let changes = core::mem::take(&mut changes.0);
    for (entity, mut link, mut budget, visible, hidden) in &mut links {
        let seen = changes.iter().filter(|(pawn, change)| {
            let Ok(owner) = pawns.get(*pawn) else { return false };
            // The owner has predicted its events.
            let predicted = change.kind & EVENT != 0 && owner.is_some_and(|owner| owner.owner == entity);
            // Events are sounds and sights of the moment; states are what every client knows of a pawn.
            let concealed = change.kind & EVENT != 0 && !HiddenPawns::allow(hidden, *pawn);
            !predicted && !concealed && filters.shows(visible, *pawn)
        });
        state_change::write(tick.0, seen.map(|(_, change)| change), |message| {
            budget.spend(message.len());
            bandwidth.send(&mut link, message);
        });
    }
}

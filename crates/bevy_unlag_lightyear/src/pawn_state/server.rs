//! Sending of pawn states.

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_replicon::{prelude::Replicated, server::visibility::client_visibility::ClientVisibility};
use bevy_unlag_core::{BitWriter, CurrentTick, NetId, Wire};
use lightyear::prelude::{server::ClientOf, *};

use super::{
    MAX_VALUE_BYTES, PawnStates, StoredState,
    encoding::{self, Change},
};
use crate::{
    bandwidth::{Bandwidth, MessageClass},
    pawn::ReplicatedPawn,
    protocol::{PawnStateMessage, ServerEventChannel},
    server::SendSystems,
    visibility::ComponentFilters,
};

/// Changes of this frame, with their pawns.
#[derive(Resource, Default)]
struct Changes(Vec<(Entity, Change)>);

/// Collection of changed states, before they are sent.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Collect;

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<Changes>()
        .register_required_components::<ReplicatedPawn, PawnStates>()
        .configure_sets(PostUpdate, Collect.before(SendSystems::Snapshots))
        .add_systems(
            PostUpdate,
            send.run_if(|changes: Res<Changes>| !changes.0.is_empty())
                .after(Collect)
                .before(MessageSystems::Send),
        );
}

pub(super) fn add_type<C: Wire + Component<Mutability = Mutable>>(app: &mut App, kind: u8) {
    let collect = move |tick: Res<CurrentTick>,
                        mut pawns: Query<(Entity, &NetId, &C, &mut PawnStates), Changed<C>>,
                        mut changes: ResMut<Changes>| {
        for (entity, id, value, mut states) in &mut pawns {
            let mut w = BitWriter::default();
            value.write(&mut w);
            let bytes = w.finish();
            if bytes.len() > MAX_VALUE_BYTES {
                let name = core::any::type_name::<C>();
                error_once!("a pawn state {name} takes {} bytes, at most {MAX_VALUE_BYTES}", bytes.len());
                continue;
            }
            store(&mut states, &mut changes, (entity, *id), (kind, tick.0.0), Some(bytes));
        }
    };
    let collect_removed = move |tick: Res<CurrentTick>,
                                mut removed: RemovedComponents<C>,
                                mut pawns: Query<(&NetId, &mut PawnStates), Without<C>>,
                                mut changes: ResMut<Changes>| {
        for entity in removed.read() {
            if let Ok((id, mut states)) = pawns.get_mut(entity) {
                store(&mut states, &mut changes, (entity, *id), (kind, tick.0.0), None);
            }
        }
    };
    app.add_systems(PostUpdate, (collect, collect_removed).chain().in_set(Collect));
}

/// Stores a value for clients to which the pawn becomes visible later, and queues it for the others.
fn store(
    states: &mut PawnStates,
    changes: &mut Changes,
    (entity, pawn): (Entity, NetId),
    (kind, tick): (u8, u32),
    bytes: Option<Vec<u8>>,
) {
    let known = states.0.iter().position(|known| known.kind == kind);
    if known.map_or(bytes.is_none(), |known| states.0[known].bytes == bytes) {
        return;
    }
    let state = StoredState { kind, tick, bytes: bytes.clone() };
    match known {
        Some(known) => states.0[known] = state,
        None => states.0.push(state),
    }
    changes.0.push((entity, Change { pawn, kind, tick: bevy_unlag_core::Tick(tick), bytes }));
}

fn send(
    tick: Res<CurrentTick>,
    filters: Res<ComponentFilters>,
    pawns: Query<(), With<Replicated>>,
    mut changes: ResMut<Changes>,
    mut links: Query<
        (&mut MessageSender<PawnStateMessage>, &ClientVisibility),
        (With<ClientOf>, With<Connected>),
    >,
    mut bandwidth: ResMut<Bandwidth>,
) {
    let changes = core::mem::take(&mut changes.0);
    for (mut link, visible) in &mut links {
        let seen = changes.iter().filter(|(pawn, _)| pawns.contains(*pawn) && filters.shows(visible, *pawn));
        encoding::write(tick.0, seen.map(|(_, change)| change), |message| {
            bandwidth.count(MessageClass::PawnStates, message.len(), 1);
            link.send::<ServerEventChannel>(PawnStateMessage(message));
        });
    }
}

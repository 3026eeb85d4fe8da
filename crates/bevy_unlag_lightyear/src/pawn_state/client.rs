//! Receiving of pawn states.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::{ecs::world::EntityWorldMut, prelude::*};
use bevy_unlag_core::{NetRole, ServerLeft, Tick};

use super::{
    PawnStateTypes, PawnStates,
    state_change::{self, Change},
};
use crate::{
    bandwidth::ServerMessages,
    net_ids::NetIdMap,
    pawn_event::{EVENT, receive_event},
    protocol::PawnStateMessage,
    system_sets::ReceiveSystems,
};

/// Maximum number of changes that wait for their pawn.
const MAX_WAITING: usize = 1_024;
/// Time for which an event waits for its pawn.
const EVENT_WAIT: Duration = Duration::from_secs(10);
/// Time for which a state waits for its pawn: the spawn may be behind many others in the server's budget.
const STATE_WAIT: Duration = Duration::from_secs(120);

/// Ticks of the newest states that were received, by type.
#[derive(Component, Default)]
struct ReceivedTicks(Vec<Option<Tick>>);

/// Changes that arrived before their pawn.
#[derive(Resource, Default)]
struct Waiting(VecDeque<(Duration, Change)>);

/// Changes of pawn states and events of pawns that this client has dropped since it started. All zero with a sound
/// server.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DroppedPawnChanges {
    /// Changes that found 1,024 others waiting for their pawns.
    pub overflowed: u64,
    /// Events whose pawn did not appear within 10 s, and states whose pawn did not within 120 s.
    pub expired: u64,
    /// Changes that could not be read, or of a type that is not registered.
    pub invalid: u64,
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<Waiting>()
        .init_resource::<DroppedPawnChanges>()
        .add_observer(|_: On<ServerLeft>, mut waiting: ResMut<Waiting>| waiting.0.clear())
        .add_systems(
            PreUpdate,
            (
                apply_spawned.run_if(any_match_filter::<(With<PawnStates>, Spawned)>),
                collect,
                apply_changes.run_if(|waiting: Res<Waiting>| !waiting.0.is_empty()),
            )
                .chain()
                .in_set(ReceiveSystems::States),
        );
}

type Spawned = (With<NetRole>, Without<ReceivedTicks>);

/// Takes the states that came with a pawn's spawn, once its role is known.
fn apply_spawned(world: &mut World, pawns: &mut QueryState<(Entity, &PawnStates), Spawned>) {
    let spawned: Vec<_> = pawns.iter(world).map(|(pawn, states)| (pawn, states.clone())).collect();
    for (pawn, states) in spawned {
        let mut pawn = world.entity_mut(pawn);
        pawn.insert(ReceivedTicks::default());
        for state in states.0 {
            receive(&mut pawn, state.kind, Tick(state.tick), state.bytes.as_deref());
        }
    }
}

fn collect(
    time: Res<Time<Real>>,
    mut messages: ServerMessages<PawnStateMessage>,
    mut waiting: ResMut<Waiting>,
    mut dropped: ResMut<DroppedPawnChanges>,
) {
    for message in messages.take() {
        for change in state_change::read(&message.0) {
            waiting.add(time.elapsed(), change, &mut dropped);
        }
    }
}

impl Waiting {
    /// Adds a change. A state replaces an older one of the same type and pawn.
    fn add(&mut self, now: Duration, change: Change, dropped: &mut DroppedPawnChanges) {
        let is_event = change.kind & EVENT != 0;
        let same =
            |(_, other): &&mut (Duration, Change)| other.pawn == change.pawn && other.kind == change.kind;
        if !is_event && let Some((_, older)) = self.0.iter_mut().find(same) {
            if change.tick.is_newer_than(older.tick) {
                *older = change;
            }
        } else if self.0.len() < MAX_WAITING {
            self.0.push_back((now, change));
        } else {
            dropped.overflowed += 1;
        }
    }
}

/// Applies the changes whose pawn has spawned.
fn apply_changes(world: &mut World) {
    let now = world.resource::<Time<Real>>().elapsed();
    let mut waiting = core::mem::take(&mut world.resource_mut::<Waiting>().0);
    let mut expired = 0;
    waiting.retain(|(since, change)| {
        let pawn = world.resource::<NetIdMap>().get(change.pawn);
        match pawn.and_then(|pawn| world.get_entity_mut(pawn).ok()) {
            Some(mut pawn) if pawn.contains::<ReceivedTicks>() => {
                receive(&mut pawn, change.kind, change.tick, change.bytes.as_deref());
                false
            }
            _ => {
                let limit = if change.kind & EVENT != 0 { EVENT_WAIT } else { STATE_WAIT };
                let waits = now.saturating_sub(*since) < limit;
                expired += u64::from(!waits);
                waits
            }
        }
    });
    world.resource_mut::<Waiting>().0 = waiting;
    world.resource_mut::<DroppedPawnChanges>().expired += expired;
}

/// Takes a value, unless a newer one is known.
fn receive(pawn: &mut EntityWorldMut, kind: u8, tick: Tick, bytes: Option<&[u8]>) {
    if kind & EVENT != 0 {
        if !receive_event(pawn, kind, tick, bytes) {
            count_invalid(pawn);
            warn_once!("the server sent a pawn event that cannot be read");
        }
        return;
    }
    let Some(known) = pawn.world().resource::<PawnStateTypes>().0.get(usize::from(kind)) else {
        count_invalid(pawn);
        return;
    };
    let take = known.receive;
    let Some(mut ticks) = pawn.get_mut::<ReceivedTicks>() else { return };
    if ticks.0.len() <= usize::from(kind) {
        ticks.0.resize(usize::from(kind) + 1, None);
    }
    let newest = &mut ticks.0[usize::from(kind)];
    if newest.is_some_and(|newest| !tick.is_newer_than(newest)) {
        return;
    }
    *newest = Some(tick);
    if !take(pawn, tick, bytes) {
        count_invalid(pawn);
        warn_once!("the server sent a pawn state that cannot be read");
    }
}

fn count_invalid(pawn: &mut EntityWorldMut) {
    pawn.world_scope(|world| world.resource_mut::<DroppedPawnChanges>().invalid += 1);
}

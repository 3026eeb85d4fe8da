//! Parking of pawns: replication of pawns of which every client has everything.
//!
//! Replicon compares every component of every replicated entity for every client, whenever it sends. The components
//! that the suite itself replicates of a pawn never change after its spawn: its id, its model, its first states, and
//! the client that controls it. So the marker `Replicated` is removed as soon as it was sent, which is lightyear's
//! documented pause, and inserted again before anything that replicon must see. Spawns and insertions are sent
//! reliably, so each arrives, and no acknowledgement has to be awaited.

use bevy::{
    ecs::{change_detection::Tick, component::ComponentId, entity::EntityHashMap, system::SystemChangeTick},
    prelude::*,
};
use bevy_replicon::{
    prelude::{PriorityMap, Replicated, ServerState, ServerSystems},
    server::{
        server_tick::ServerTick,
        visibility::{
            client_visibility::ClientVisibility, filters_mask::FiltersMask, registry::FilterRegistry,
        },
    },
    shared::replication::rules::ReplicationRules,
};
use bevy_unlag_core::NetId;
use lightyear::prelude::{ControlledBy, ControlledSend, Replicate, ReplicationSystems};

use crate::{model_index::ModelIndex, pawn::ReplicatedPawn};

/// Whether a server parks pawns of which every client has everything: their replication costs nothing while nothing
/// of it changes. Default: enabled. Disabled, the server compares every pawn for every client in every snapshot
/// interval, a quarter of a millisecond with 64 players. It may be changed at any time.
///
/// Pawns with replicated components of the game's own are never parked, so that these go on to replicate: register
/// values that rarely change as a pawn state with `add_pawn_state` instead. A pawn resumes for a moment when its owner
/// or its visibility changes, and all do when a client joins. A game that sets visibility or control in [`PostUpdate`]
/// orders these systems before lightyear's `ReplicationSystems::Send`. A game that pauses the replication of pawns
/// itself removes [`ParkedPawn`] as well, or disables parking.
#[doc(alias = "NetDormancy")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct PawnParking {
    /// Whether pawns are parked.
    pub enabled: bool,
}

impl Default for PawnParking {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// On a server's pawn that is parked, see [`PawnParking`]. The pawn has no `Replicated` (lightyear's `Replicating`)
/// meanwhile, so queries for replicated entities look for either.
#[doc(alias = "DORM_DormantAll")]
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[component(storage = "SparseSet")]
#[reflect(Component, Debug, Default)]
pub struct ParkedPawn;

/// Entities that clients may have: replicated ones, parked or not.
pub(crate) type Published = Or<(With<Replicated>, With<ParkedPawn>)>;

/// Pawns that may be parked.
type Active = (With<ReplicatedPawn>, With<Replicate>, With<Replicated>);

/// Parked pawns that the game has not withdrawn by removing [`Replicate`].
type Parked = (With<ParkedPawn>, With<Replicate>);

/// Sends of replication.
#[derive(Resource, Default)]
struct ReplicationSends {
    /// Change ticks of the check before the last one, and right after it.
    checked: Option<Tick>,
    last: Option<Tick>,
    /// Parked pawns that were despawned since the check before the last one, and those of which the next one tells.
    despawned: Vec<Entity>,
    sending: Vec<Entity>,
    /// Visibility of the parked pawns when they were parked, by client.
    parked: EntityHashMap<EntityHashMap<FiltersMask>>,
}

/// Replicated components of the app.
#[derive(Resource)]
struct ReplicatedComponents {
    /// Those that the suite and lightyear insert into pawns. They keep their value as long as the pawn has them.
    own: Vec<ComponentId>,
    /// Those of the game, and others that may change or be removed at any time.
    foreign: Vec<ComponentId>,
}

impl ReplicatedComponents {
    fn of(world: &mut World) -> Self {
        let own = [
            world.register_component::<NetId>(),
            world.register_component::<ModelIndex>(),
            world.register_component::<ControlledSend>(),
        ]
        .into_iter();
        #[cfg(feature = "smoothing")]
        let own = own.chain([world.register_component::<crate::pawn_state::PawnStates>()]);
        let own: Vec<_> = own.collect();
        let rules = world.resource::<ReplicationRules>();
        let mut foreign: Vec<_> =
            rules.iter().flat_map(|rule| &rule.components).map(|component| component.id).collect();
        foreign.retain(|id| !own.contains(id));
        foreign.sort_unstable();
        foreign.dedup();
        Self { own, foreign }
    }

    /// Returns whether the last send has told all clients everything of a pawn: it had all of it at the check before.
    fn are_sent(&self, pawn: EntityRef<'_>, checked: Tick, now: Tick) -> bool {
        let is_new = |added: Option<Tick>| added.is_some_and(|added| added.is_newer_than(checked, now));
        let resumed = pawn.get_ref::<Replicated>().map(|replicated| replicated.added());
        let added = self.own.iter().map(|id| pawn.get_change_ticks_by_id(*id).map(|ticks| ticks.added));
        !self.foreign.iter().any(|id| pawn.contains_id(*id)) && !added.chain([resumed]).any(is_new)
    }
}

/// Adds parking to a server.
pub(crate) struct ParkingPlugin;

impl Plugin for ParkingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PawnParking>()
            .init_resource::<ReplicationSends>()
            .add_observer(remove_mark)
            .add_observer(forget_withdrawn)
            .add_observer(resume_with_new_owner)
            .add_observer(repeat_loss_of_control)
            .add_observer(send_despawn)
            .add_systems(OnExit(ServerState::Running), |mut sends: ResMut<ReplicationSends>| {
                *sends = ReplicationSends::default();
            })
            .add_systems(
                PostUpdate,
                (
                    park_or_resume.after(ServerSystems::IncrementTick).before(ServerSystems::Send),
                    record_send.after(ServerSystems::Send).before(ServerSystems::SendPackets),
                )
                    .in_set(ReplicationSystems::Send)
                    .run_if(resource_exists_and_changed::<ServerTick>)
                    .run_if(in_state(ServerState::Running)),
            );
    }

    /// All replicated components are known by now.
    fn finish(&self, app: &mut App) {
        let world = app.world_mut();
        let components = ReplicatedComponents::of(world);
        let mut observer = Observer::new(resume_with_new_component);
        for id in components.own.iter().chain(&components.foreign) {
            observer = observer.with_component(*id);
        }
        world.spawn(observer);
        world.insert_resource(components);
    }
}

/// Parks pawns of which everything was sent, and resumes those whose visibility has changed. Immediately before a send.
fn park_or_resume(
    world: &mut World,
    clients: &mut QueryState<(Entity, Ref<'static, ClientVisibility>)>,
    parked: &mut QueryState<Entity, Parked>,
    active: &mut QueryState<EntityRef<'static>, Active>,
) {
    // Changes after this are newer.
    let check = world.increment_change_tick();
    let now = world.read_change_tick();
    let mut sends = core::mem::take(&mut *world.resource_mut::<ReplicationSends>());
    let ReplicationSends { despawned, sending, .. } = &mut sends;
    sending.append(despawned);
    let before = sends.last.zip(sends.checked.replace(check));
    let enabled = world.resource::<PawnParking>().enabled;

    let mut resumed = Vec::new();
    if let Some((last, checked)) = before.filter(|_| enabled) {
        let mut is_quiet = true;
        for (client, seen) in clients.iter(world) {
            // Replicon's own access was before the end of the last send.
            let is_new = seen.added().is_newer_than(checked, now);
            if !is_new && !seen.last_changed().is_newer_than(last, now) {
                continue;
            }
            is_quiet = false;
            let known = sends.parked.get(&client).filter(|_| !is_new);
            let is_other = |pawn: &Entity| known.and_then(|known| known.get(pawn)) != Some(&seen.get(*pawn));
            resumed.extend(parked.iter(world).filter(is_other));
        }
        if is_quiet && let Some(components) = world.get_resource::<ReplicatedComponents>() {
            let sent = active.iter(world).filter(|pawn| components.are_sent(*pawn, checked, now));
            let sent: Vec<_> = sent.map(|pawn| pawn.id()).collect();
            if !sent.is_empty() {
                sends.remember(&sent, clients.iter(world), |pawn| parked.get(world, pawn).is_ok());
            }
            for pawn in sent {
                // Replicon's required marker as well: with it, replicon would forget at the pawn's despawn who has it.
                world.entity_mut(pawn).insert(ParkedPawn).remove_with_requires::<Replicated>();
            }
        }
    } else {
        resumed.extend(parked.iter(world));
    }
    *world.resource_mut::<ReplicationSends>() = sends;
    for pawn in resumed {
        world.entity_mut(pawn).remove::<ParkedPawn>().insert(Replicated);
    }
}

impl ReplicationSends {
    /// Notes the visibility of pawns that are about to be parked, and drops what is no longer needed.
    fn remember<'w>(
        &mut self,
        pawns: &[Entity],
        clients: impl Iterator<Item = (Entity, Ref<'w, ClientVisibility>)>,
        mut is_parked: impl FnMut(Entity) -> bool,
    ) {
        let mut old = core::mem::take(&mut self.parked);
        for (client, seen) in clients {
            let mut known = old.remove(&client).unwrap_or_default();
            known.retain(|pawn, _| is_parked(*pawn));
            known.extend(pawns.iter().map(|pawn| (*pawn, seen.get(*pawn))));
            self.parked.insert(client, known);
        }
    }
}

/// Runs right after a send.
fn record_send(
    ticks: SystemChangeTick,
    mut clients: Query<(&mut ClientVisibility, Option<&mut PriorityMap>)>,
    mut sends: ResMut<ReplicationSends>,
) {
    for pawn in sends.sending.drain(..) {
        for (mut visibility, priorities) in &mut clients {
            for bit in visibility.get(pawn).iter() {
                visibility.set(pawn, bit, true);
            }
            if let Some(mut priorities) = priorities {
                priorities.remove(&pawn);
            }
        }
    }
    sends.last = Some(ticks.this_run());
}

/// Resumes a parked pawn whose owner is replaced, which adds no component.
fn resume_with_new_owner(
    given: On<Insert, ControlledBy>,
    parked: Query<(), With<ParkedPawn>>,
    mut commands: Commands,
) {
    if parked.contains(given.entity) {
        commands.entity(given.entity).try_insert(Replicated);
    }
}

/// A parked pawn that the game withdraws is parked no longer: nothing of it may resume.
fn forget_withdrawn(
    gone: On<Remove, Replicate>,
    parked: Query<(), With<ParkedPawn>>,
    mut commands: Commands,
) {
    if gone.trigger().new_archetype.is_some() && parked.contains(gone.entity) {
        commands.entity(gone.entity).try_remove::<ParkedPawn>();
    }
}

/// Resumes a parked pawn that gets a replicated component.
fn resume_with_new_component(added: On<Add>, parked: Query<(), With<ParkedPawn>>, mut commands: Commands) {
    if parked.contains(added.entity) {
        commands.entity(added.entity).try_insert(Replicated);
    }
}

/// A replicated pawn is not parked, whoever has resumed it.
fn remove_mark(resumed: On<Add, Replicated>, parked: Query<(), With<ParkedPawn>>, mut commands: Commands) {
    if parked.contains(resumed.entity) {
        commands.entity(resumed.entity).try_remove::<ParkedPawn>();
    }
}

/// Repeats the removal of a parked pawn's [`ControlledSend`] with replication on. Replicon records removals only then,
/// and the former owner's client would keep the pawn for its own.
fn repeat_loss_of_control(
    lost: On<Remove, ControlledSend>,
    parked: Query<(), (With<ParkedPawn>, Without<Replicated>)>,
    mut commands: Commands,
) {
    let (pawn, despawned) = (lost.entity, lost.trigger().new_archetype.is_none());
    if !despawned && parked.contains(pawn) {
        commands.queue(move |world: &mut World| {
            if let Ok(mut pawn) = world.get_entity_mut(pawn) {
                pawn.insert((Replicated, ControlledSend)).remove::<ControlledSend>();
            }
        });
    }
}

/// Makes replicon send the despawn of a parked pawn: as a loss of visibility, because it records despawns of replicated
/// entities only.
fn send_despawn(
    gone: On<Despawn, ParkedPawn>,
    replicated: Query<(), With<Replicated>>,
    registry: Res<FilterRegistry>,
    mut clients: Query<&mut ClientVisibility>,
    mut sends: ResMut<ReplicationSends>,
) {
    let pawn = gone.entity;
    if replicated.contains(pawn) {
        return;
    }
    let Some(bit) = registry.get_bit::<Replicate>() else { return };
    for mut visibility in &mut clients {
        visibility.set(pawn, bit, false);
    }
    sends.despawned.push(pawn);
}

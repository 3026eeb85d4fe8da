//! Transfer of a player's control from one pawn to another, on the server.
//!
//! The player's tick count continues. Both sides agree on the first move of the new pawn: moves before it belong
//! to the old pawn, and until then the new one moves with neutral input. So nothing is mispredicted by the
//! change itself, if the offer arrives before that move.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{
    CaughtUpStates, LocalControl, MoveInput, MoveModel, NetRole, PawnModel, PublishedState, ServerControl,
    SnapshotAcks, Tick,
};

use crate::{
    config::ticks,
    mailbox::{IncomingMoves, OutgoingControlOffers, OutgoingMoveAcks},
    move_queue::{MoveClock, MoveQueue},
    pawn::{AuthorityPawn, HostPawn, ServerPawn},
    published_state::PublishedExtrapolation,
    time_discrepancy::TimeDiscrepancy,
};

/// A transfer of control is complete on the server: all moves before it have run. Triggered on servers.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct ControlTransferred {
    /// The pawn that the player controlled; the server controls it now. It may have been despawned.
    pub from: Option<Entity>,
    /// The pawn that the player controls now. It may have been despawned.
    pub to: Option<Entity>,
}

/// Operations of one model, for pawns whose model is not known at compile time.
#[derive(Clone, Copy)]
struct ControlModel {
    model: PawnModel,
    clock: fn(&World, Entity) -> Option<MoveClock>,
    end_at: fn(&mut World, Entity, Option<Tick>),
    is_over: fn(&World, Entity) -> bool,
    take: fn(&mut World, Entity, Option<(MoveClock, Tick)>),
    give_back: fn(&mut World, Entity),
    host: fn(&mut World, Entity),
}

/// All models of the app.
#[derive(Resource, Default)]
pub(crate) struct ControlModels(Vec<ControlModel>);

impl ControlModels {
    pub(crate) fn add<M: MoveModel>(&mut self) {
        self.0.push(ControlModel {
            model: PawnModel::of::<M>(),
            clock: |world, pawn| world.get::<MoveQueue<M>>(pawn)?.move_clock(),
            end_at: |world, pawn, end| {
                if let Some(mut queue) = world.get_mut::<MoveQueue<M>>(pawn) {
                    queue.end_at(end);
                }
            },
            is_over: |world, pawn| world.get::<MoveQueue<M>>(pawn).is_none_or(MoveQueue::is_over),
            take: take::<M>,
            give_back: give_back::<M>,
            host: host::<M>,
        });
    }

    fn of(world: &World, pawn: Option<Entity>) -> Option<(Entity, ControlModel)> {
        let pawn = pawn?;
        let model = world.get::<PawnModel>(pawn)?;
        let models = world.get_resource::<Self>()?;
        Some((pawn, *models.0.iter().find(|known| known.model == *model)?))
    }
}

/// Transfers that are not complete, as they will be reported.
#[derive(Resource, Default)]
pub(crate) struct PendingTransfers(Vec<ControlTransferred>);

impl PendingTransfers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Start of a transfer of control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlTransfer {
    /// First move that no longer belongs to the old pawn.
    pub first: Tick,
    /// Epoch of that move.
    pub epoch: u8,
}

/// Longest lead of an offer, in seconds: a player on a slower link takes over later.
const MAX_LEAD: f32 = 2.0;

/// Starts to transfer a player's control `from` one pawn `to` another; `None` for no pawn. `lead` is the time
/// that the offer needs to reach the player: the round trip and a margin. Returns `None` if the player's tick
/// count is unknown, so that it restarts. [`ControlTransferred`] follows when all earlier moves have run.
pub fn transfer_control(
    world: &mut World,
    from: Option<Entity>,
    to: Option<Entity>,
    lead: Duration,
) -> Option<ControlTransfer> {
    let dt = world.resource::<Time<Fixed>>().timestep().as_secs_f32();
    let old = ControlModels::of(world, from);
    let clock = old.and_then(|(pawn, model)| (model.clock)(world, pawn));
    let transfer = clock.as_ref().and_then(|clock| {
        let next = clock.next?;
        let newest = clock.newest.filter(|newest| newest.is_newer_than(next)).unwrap_or(next);
        let first = newest.offset(ticks(lead.as_secs_f32().min(MAX_LEAD), dt).max(1));
        Some(ControlTransfer { first, epoch: (clock.epoch? + 1) & 7 })
    });
    if let Some((pawn, model)) = old {
        (model.end_at)(world, pawn, transfer.map(|transfer| transfer.first));
    }
    if let Some((pawn, model)) = ControlModels::of(world, to) {
        if let Some(from) = from {
            let account = world.get::<TimeDiscrepancy>(from).copied().unwrap_or_default();
            let acks = world.get::<SnapshotAcks>(from).cloned().unwrap_or_default();
            world.entity_mut(pawn).insert((account, acks));
        }
        (model.take)(world, pawn, clock.zip(transfer.map(|transfer| transfer.first)));
    }
    world.resource_mut::<PendingTransfers>().0.push(ControlTransferred { from, to });
    transfer
}

/// Cancels the transfer of control from a pawn: its player has left, and keeps this pawn.
pub fn cancel_transfer(world: &mut World, from: Entity) {
    let mut pending = world.resource_mut::<PendingTransfers>();
    let Some(index) = pending.0.iter().position(|pending| pending.from == Some(from)) else { return };
    let cancelled = pending.0.remove(index);
    if let Some((pawn, model)) = ControlModels::of(world, cancelled.from) {
        (model.end_at)(world, pawn, None);
    }
    return_to_server(world, cancelled.to);
}

/// Gives a pawn of a player, or of the host, back to the server, with neutral input.
pub fn return_to_server(world: &mut World, pawn: Option<Entity>) {
    if let Some((pawn, model)) = ControlModels::of(world, pawn) {
        (model.give_back)(world, pawn);
    }
}

/// Gives the player of this app, the host of a listen server, control of another pawn, or of none, at once: its
/// moves are final and need no agreement. Returns the pawn that it controlled before, which the server controls
/// now. The new pawn must not be a remote player's.
pub fn control_as_host(world: &mut World, to: Option<Entity>) -> Option<Entity> {
    let mut own = world.query_filtered::<(Entity, &NetRole), With<LocalControl>>();
    let from = own.iter(world).find(|(_, role)| **role == NetRole::Authority).map(|(pawn, _)| pawn);
    if from == to {
        return from;
    }
    return_to_server(world, from);
    return_to_server(world, to);
    if let Some((pawn, model)) = ControlModels::of(world, to) {
        (model.host)(world, pawn);
    }
    from
}

/// Completes the transfers whose last move has run.
pub(crate) fn complete_transfers(world: &mut World) {
    let pending = core::mem::take(&mut world.resource_mut::<PendingTransfers>().0);
    for transfer in pending {
        let old = ControlModels::of(world, transfer.from);
        if old.is_some_and(|(pawn, model)| !(model.is_over)(world, pawn)) {
            world.resource_mut::<PendingTransfers>().0.push(transfer);
            continue;
        }
        return_to_server(world, transfer.from);
        world.trigger(transfer);
    }
}

fn take<M: MoveModel>(world: &mut World, pawn: Entity, continued: Option<(MoveClock, Tick)>) {
    let mut pawn = world.entity_mut(pawn);
    let last_input = pawn.get::<MoveInput<M>>().map(|input| input.0).unwrap_or_default();
    let at_once = continued
        .as_ref()
        .is_none_or(|(clock, first)| clock.next.is_none_or(|next| !first.is_newer_than(next)));
    if let Some(mut state) = pawn.get_mut::<M::State>().filter(|_| at_once) {
        *state = M::change_control(&state);
    }
    let neutral = M::missing_input(&last_input, false);
    let queue = match continued {
        Some((clock, first)) => MoveQueue::<M>::continuing(clock, first, neutral),
        None => MoveQueue::offered(neutral),
    };
    pawn.remove::<(ServerPawn<M>, ServerControl, MoveInput<M>)>();
    pawn.insert((AuthorityPawn::<M>::default(), queue));
}

fn give_back<M: MoveModel>(world: &mut World, pawn: Entity) {
    let mut pawn = world.entity_mut(pawn);
    let received = pawn.get::<MoveQueue<M>>().map(|queue| queue.last_input);
    let last = received.or_else(|| pawn.get::<MoveInput<M>>().map(|input| input.0)).unwrap_or_default();
    let neutral = M::missing_input(&last, false);
    pawn.remove::<(AuthorityPawn<M>, MoveQueue<M>, PublishedExtrapolation<M>, PublishedState<M>)>();
    pawn.remove::<(CaughtUpStates<M>, TimeDiscrepancy, SnapshotAcks)>();
    pawn.remove::<(IncomingMoves, OutgoingMoveAcks, OutgoingControlOffers)>();
    pawn.remove::<(HostPawn<M>, LocalControl)>();
    pawn.insert((ServerPawn::<M>::default(), MoveInput::<M>(neutral)));
}

fn host<M: MoveModel>(world: &mut World, pawn: Entity) {
    let mut pawn = world.entity_mut(pawn);
    if let Some(mut state) = pawn.get_mut::<M::State>() {
        *state = M::change_control(&state);
    }
    pawn.remove::<(ServerPawn<M>, ServerControl)>();
    pawn.insert(HostPawn::<M>::default());
}

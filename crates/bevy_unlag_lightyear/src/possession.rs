//! Possession: a player takes control of another pawn, or of none, without a reconnect.
//!
//! A player *owns* pawns by [`SessionOf`](crate::SessionOf), any number of them, and *controls* at most one, by
//! lightyear's `ControlledBy`. [`Possess`] changes the latter.

mod second_pawn;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, LocalControl, NetId, Passenger, PawnModel, RoundTrip, Tick, Wire};
use bevy_unlag_prediction::{
    ControlEnd, ControlTransferred, IncomingControlOffers, OutgoingControlOffers, cancel_transfer,
    control_as_host, packet_epoch, return_to_server, transfer_control,
};
use lightyear::prelude::{
    server::{ClientOf, Server},
    *,
};

#[cfg(feature = "smoothing")]
use crate::snapshots::Departing;
use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    models::NetModels,
    net_ids::NetIdMap,
    protocol::{ControlEndMessage, ControlOfferMessage, ServerEventChannel},
    session::{AwaitingReconnect, owned_by},
    system_sets::{ReceiveSystems, SendSystems},
};

/// Time added to the round trip until the first move of the new pawn, for jitter and one lost packet.
const MARGIN: Duration = Duration::from_millis(60);

/// Gives a player control of another pawn, or of none. Trigger it on a server; [`Possessed`] follows. Unreal's
/// `Possess`.
///
/// The pawn must be of a registered character, sit in no vehicle, and be controlled by the server: an NPC, an
/// empty vehicle, a pawn that its player has left. Any other is refused, with a line in the log. The player's
/// old pawn returns to the server with neutral input. Until the player's client knows, a round trip later,
/// the old pawn obeys the player and the new one has neutral input, so that nothing is mispredicted and each
/// shot counts for the pawn that fired it. A second change before [`Possessed`] waits; of several the last one
/// counts. The host of a listen server changes pawns at once.
#[doc(alias = "UnPossess")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct Possess {
    /// The server's end of the player's link. For the host of a listen server, who has none, the entity with
    /// lightyear's `Server`.
    pub link: Entity,
    /// The pawn to control; `None` to control none, for spectators.
    pub pawn: Option<Entity>,
}

/// A player controls another pawn, or none. Triggered on servers, a round trip after [`Possess`]; for the host
/// right after it.
#[doc(alias = "OnPossess")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct Possessed {
    /// As in [`Possess`].
    pub link: Entity,
    /// The pawn that the player controls now.
    pub pawn: Option<Entity>,
    /// The pawn that the player controlled before. The server controls it now.
    pub previous: Option<Entity>,
}

/// On the server's end of a link: a change that is not complete, and the one that follows it.
#[derive(Component)]
pub(crate) struct PendingPossession {
    from: Option<Entity>,
    to: Option<Entity>,
    next: Option<Option<Entity>>,
}

/// On a server's pawn: the link of the player who takes control of it, and the epoch of that player's moves.
#[derive(Component)]
pub(crate) struct OfferedTo {
    link: Entity,
    epoch: Option<u8>,
}

impl OfferedTo {
    /// Returns whether an encoded move packet of that link is for this pawn.
    pub(crate) fn takes(&self, link: Entity, packet: &[u8]) -> bool {
        self.link == link && self.epoch.is_none_or(|epoch| packet_epoch(packet) == Some(epoch))
    }
}

/// On a server's pawn without a player: the link of the last one, who still gets the verdicts on its last shots.
#[cfg(feature = "weapons")]
#[derive(Component, Clone, Copy)]
pub(crate) struct FormerPlayer(pub Entity);

pub(crate) fn server_plugin(app: &mut App) {
    app.register_type::<Possess>()
        .register_type::<Possessed>()
        .add_observer(|asked: On<Possess>, mut commands: Commands| {
            let Possess { link, pawn } = *asked;
            commands.queue(move |world: &mut World| possess(world, link, pawn));
        })
        .add_observer(finish)
        .add_observer(
            |gone: On<Remove, Connected>, links: Query<&PendingPossession>, mut commands: Commands| {
                // The link may be gone with all its components when the command runs.
                if let Ok(&PendingPossession { from, to, .. }) = links.get(gone.entity) {
                    let link = gone.entity;
                    commands.queue(move |world: &mut World| cancel_change(world, (link, from, to)));
                }
            },
        )
        .add_systems(PostUpdate, send_offers.in_set(SendSystems::Acks));
    second_pawn::plugin(app);
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_systems(PreUpdate, (receive_offers, receive_ends).in_set(ReceiveSystems::Moves));
}

fn controlled(world: &mut World, link: Entity) -> Option<Entity> {
    let mut pawns = world.query::<(Entity, &ControlledBy)>();
    pawns.iter(world).find(|(_, by)| by.owner == link).map(|(pawn, _)| pawn)
}

fn possess(world: &mut World, link: Entity, to: Option<Entity>) {
    let host = world.get::<Server>(link).is_some();
    if !host && (world.get::<ClientOf>(link).is_none() || world.get::<Connected>(link).is_none()) {
        error!("Possess: {link} is neither the link of a connected client nor the server itself");
        return;
    }
    if let Some(mut pending) = world.get_mut::<PendingPossession>(link) {
        pending.next = Some(to);
        return;
    }
    let from = if host { controlled_by_host(world) } else { controlled(world, link) };
    if from == to {
        return;
    }
    let seen: &World = world;
    let refused = |why: fn(&World, Entity) -> Option<&'static str>| Some((to?, why(seen, to?)?));
    if let Some((pawn, problem)) = refused(unfit) {
        error!("Possess: {pawn} cannot be controlled by the player of {link}: {problem}");
    } else if let Some((pawn, problem)) = refused(unavailable) {
        // No mistake: two players may want the same pawn.
        debug!("Possess: the player of {link} does not get {pawn}: {problem}");
    } else if host {
        possess_as_host(world, link, to);
    } else {
        begin(world, link, from, to);
    }
}

/// Returns why no player can take control of an entity.
fn unfit(world: &World, pawn: Entity) -> Option<&'static str> {
    let models = world.get_resource::<NetModels>();
    let has_model =
        world.get::<PawnModel>(pawn).is_some_and(|model| models.is_some_and(|all| all.has(model)));
    if world.get::<NetId>(pawn).is_none() {
        Some("it is not a replicated pawn")
    } else if !has_model {
        Some(
            "nothing would move it, because it is of no registered movement model: spawn it as an NpcPawn of \
             one of the app's Characters",
        )
    } else {
        world.get::<Passenger>(pawn).map(|_| "it sits in a vehicle: remove its Passenger component before")
    }
}

/// Returns why a pawn is not free at the moment.
fn unavailable(world: &World, pawn: Entity) -> Option<&'static str> {
    let has_player = world.get::<ControlledBy>(pawn).is_some()
        || is_offered(world, pawn)
        || world.get::<LocalControl>(pawn).is_some();
    if has_player {
        Some("another player controls it")
    } else {
        world.get::<AwaitingReconnect>(pawn).map(|_| "it waits for its player to come back")
    }
}

fn controlled_by_host(world: &mut World) -> Option<Entity> {
    world.query_filtered::<Entity, With<LocalControl>>().iter(world).next()
}

/// The host has no link, and its moves are final: the change happens at once.
fn possess_as_host(world: &mut World, server: Entity, to: Option<Entity>) {
    let previous = control_as_host(world, to);
    if let Some(pawn) = to {
        forget_link(world, pawn);
    }
    world.trigger(Possessed { link: server, pawn: to, previous });
}

fn begin(world: &mut World, link: Entity, from: Option<Entity>, to: Option<Entity>) {
    let round_trip = world.get::<RoundTrip>(link).map_or(Duration::from_millis(200), |trip| trip.rtt);
    let transfer = transfer_control(world, from, to, round_trip + MARGIN);
    world.entity_mut(link).insert(PendingPossession { from, to, next: None });
    #[cfg(feature = "smoothing")]
    if let Some(mut from) = from.and_then(|from| world.get_entity_mut(from).ok()) {
        from.insert(Departing);
    }
    match to {
        Some(pawn) => {
            world.entity_mut(pawn).insert(OfferedTo { link, epoch: transfer.map(|transfer| transfer.epoch) });
        }
        None => end_control(world, link, transfer.map(|transfer| transfer.first)),
    }
}

/// Tells a client that no pawn obeys it from the move `first` on; from now on if that is unknown.
fn end_control(world: &mut World, link: Entity, first: Option<Tick>) {
    if let Some(mut sender) = world.get_mut::<MessageSender<ControlEndMessage>>(link) {
        sender.send::<ServerEventChannel>(ControlEndMessage(first.to_bytes()));
    }
}

/// Moves the link data of the player from the old pawn to the new one.
fn finish(done: On<ControlTransferred>, mut commands: Commands) {
    let ControlTransferred { from, to } = *done;
    commands.queue(move |world: &mut World| {
        let mut links = world.query::<(Entity, &PendingPossession)>();
        let pending = links.iter(world).find(|(_, pending)| (pending.from, pending.to) == (from, to));
        let Some((link, next)) = pending.map(|(link, pending)| (link, pending.next)) else { return };
        world.entity_mut(link).remove::<PendingPossession>();
        let round_trip = world.get::<RoundTrip>(link).copied();
        match to.map(|to| world.get_entity_mut(to)) {
            Some(Ok(mut to)) => {
                to.remove::<OfferedTo>().insert(owned_by(link));
                if let Some(round_trip) = round_trip {
                    to.insert(round_trip);
                }
                #[cfg(feature = "weapons")]
                to.remove::<FormerPlayer>();
            }
            // The pawn has been despawned in the meantime.
            Some(Err(_)) => end_control(world, link, None),
            None => {}
        }
        #[cfg(feature = "smoothing")]
        hand_over::<bevy_unlag_smoothing::SentSnapshots>(world, link, (from, to));
        #[cfg(feature = "rewind")]
        hand_over::<bevy_unlag_rewind::ViewTimeValidator>(world, link, (from, to));
        if let Some(mut from) = from.and_then(|from| world.get_entity_mut(from).ok()) {
            from.remove::<(ControlledBy, ControlledSend, RoundTrip)>();
            #[cfg(feature = "smoothing")]
            from.remove::<Departing>();
            #[cfg(feature = "weapons")]
            from.insert(FormerPlayer(link));
        }
        world.trigger(Possessed { link, pawn: to, previous: from });
        if let Some(next) = next {
            possess(world, link, next);
        }
    });
}

/// Moves the record of a player's screen to the next pawn. The link keeps it while its player
/// has no pawn. A pawn without it would be trusted like the server's own.
#[cfg(feature = "smoothing")]
fn hand_over<C: Component + Default>(
    world: &mut World,
    link: Entity,
    (from, to): (Option<Entity>, Option<Entity>),
) {
    let mut known = None;
    for holder in [Some(link), from].into_iter().flatten() {
        if let Ok(mut holder) = world.get_entity_mut(holder) {
            known = holder.take::<C>().or(known);
        }
    }
    let keeper = to.filter(|to| world.get_entity(*to).is_ok()).unwrap_or(link);
    if let Ok(mut keeper) = world.get_entity_mut(keeper) {
        keeper.insert(known.unwrap_or_default());
    }
}

/// Removes the last player's link data from a pawn.
pub(crate) fn forget_link(world: &mut World, pawn: Entity) {
    let Ok(mut pawn) = world.get_entity_mut(pawn) else { return };
    pawn.remove::<RoundTrip>();
    #[cfg(feature = "smoothing")]
    pawn.remove::<bevy_unlag_smoothing::SentSnapshots>();
    #[cfg(feature = "rewind")]
    pawn.remove::<bevy_unlag_rewind::ViewTimeValidator>();
    #[cfg(feature = "weapons")]
    pawn.remove::<FormerPlayer>();
}

/// Returns whether a pawn is offered to a player who has not taken control yet.
pub(crate) fn is_offered(world: &World, pawn: Entity) -> bool {
    world.get::<OfferedTo>(pawn).is_some()
}

/// Cancels the change of a player who has left, or joins by another link: the old pawn stays the player's.
pub(crate) fn cancel(world: &mut World, link: Entity) {
    if let Some(&PendingPossession { from, to, .. }) = world.get::<PendingPossession>(link) {
        cancel_change(world, (link, from, to));
    }
}

fn cancel_change(world: &mut World, (link, from, to): (Entity, Option<Entity>, Option<Entity>)) {
    if let Ok(mut link) = world.get_entity_mut(link) {
        link.remove::<PendingPossession>();
    }
    // The new pawn may be another player's offer by now.
    let to = to.filter(|to| world.get::<OfferedTo>(*to).is_some_and(|offer| offer.link == link));
    if let Some(from) = from {
        cancel_transfer(world, from);
        #[cfg(feature = "smoothing")]
        if let Ok(mut from) = world.get_entity_mut(from) {
            from.remove::<Departing>();
        }
    } else {
        return_to_server(world, to);
    }
    if let Some(mut pawn) = to.and_then(|to| world.get_entity_mut(to).ok()) {
        pawn.remove::<OfferedTo>();
    }
}

fn send_offers(
    mut pawns: Query<(&NetId, Option<&ControlledBy>, Option<&OfferedTo>, &mut OutgoingControlOffers)>,
    mut links: Query<&mut MessageSender<ControlOfferMessage>, With<Connected>>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (id, controlled, offered, mut mailbox) in &mut pawns {
        let link = offered.map(|offered| offered.link).or(controlled.map(|by| by.owner));
        for offer in mailbox.0.drain(..) {
            if let Some(Ok(mut link)) = link.map(|link| links.get_mut(link)) {
                bandwidth.send(&mut link, [id.0.to_le_bytes().as_slice(), &offer].concat());
            }
        }
    }
}

fn receive_offers(
    mut messages: ServerMessages<ControlOfferMessage>,
    names: Res<NetIdMap>,
    mut pawns: Query<Option<&mut IncomingControlOffers>>,
    mut commands: Commands,
) {
    for message in messages.take() {
        let Some((id, offer)) = message.0.split_first_chunk::<2>() else { continue };
        // An offer of a pawn that is not here yet is repeated.
        let Some(pawn) = names.get(NetId(u16::from_le_bytes(*id))) else { continue };
        match pawns.get_mut(pawn) {
            Err(_) => {}
            Ok(Some(mut mailbox)) => mailbox.deliver(offer.to_vec()),
            Ok(None) => {
                let mut mailbox = IncomingControlOffers::default();
                mailbox.deliver(offer.to_vec());
                commands.entity(pawn).insert(mailbox);
            }
        }
    }
}

fn receive_ends(
    mut messages: ServerMessages<ControlEndMessage>,
    tick: Res<CurrentTick>,
    mut end: ResMut<ControlEnd>,
) {
    for message in messages.take() {
        if let Ok(first) = Option::<Tick>::from_bytes(&message.0) {
            end.announce(first, tick.0);
        }
    }
}

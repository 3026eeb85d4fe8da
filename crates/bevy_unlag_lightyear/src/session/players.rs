//! Player sessions: a pawn outlives its link, and a returning player gets it back.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{LocalControl, OwnerReconnected, Passenger, RoundTrip, ServerControl};
use lightyear::{
    connection::{client::Disconnecting, host::HostClient},
    prelude::{server::ClientOf, *},
};

use super::{LeaveReason, SessionConfig};
use lightyear_guard::{Kick, KickReason, LinkTraffic, PendingKick, counted_delta};

/// On a server's pawn: the player who owns it, for as long as the pawn lives. Links come and go; the peer id
/// comes from the connect token. Inserted by [`player_pawn`] into the pawn that the player controls first.
/// Insert it into a pawn that the server controls, and the player owns that one as well: it stays while the
/// player is away and expires with the player's other pawns.
#[doc(alias = "ControlledBy")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct SessionOf(pub PeerId);

/// On a server's pawn: its player is disconnected. The pawn has no input and can be hit. It is despawned when
/// the time is over, see [`SessionConfig::grace`].
#[doc(alias = "InactivePlayerArray")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct AwaitingReconnect {
    /// Remaining time.
    pub left: Duration,
    /// Time since the disconnect.
    pub away: Duration,
}

/// Components of a player's pawn: it belongs to `peer`, and currently to `link`, the server's end of the
/// player's link. Insert them with [`NetworkedPawn`](crate::NetworkedPawn), on one pawn per player: a second
/// one is returned to the server, with an error in the log. For further pawns of a player see [`SessionOf`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::MoveModel;
/// use bevy_unlag_lightyear::{NetworkedPawn, PlayerJoined, player_pawn};
///
/// /// On the server: a pawn for each player, with a movement model of the game's own.
/// fn spawn_pawn<M: MoveModel<State: Default>>(joined: On<PlayerJoined>, mut commands: Commands) {
///     let owner = player_pawn(joined.link, joined.peer);
///     commands.spawn((NetworkedPawn::<M>::default(), M::State::default(), owner));
/// }
/// ```
///
/// In the book: *Sessions*, `book/src/operations/sessions.md`.
#[must_use]
pub fn player_pawn(link: Entity, peer: PeerId) -> impl Bundle {
    (SessionOf(peer), owned_by(link))
}

/// With any other lifetime lightyear would despawn the pawn with its link.
pub(crate) fn owned_by(link: Entity) -> ControlledBy {
    ControlledBy { owner: link, lifetime: Lifetime::Persistent }
}

/// A player without a pawn has connected: the game should spawn one with [`player_pawn`]. Triggered on
/// servers.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_lightyear::{PlayerJoined, player_pawn};
///
/// /// On the server. `PlayerPawn` stands for the components of the game's pawn, such as a `SoldierPawn`.
/// fn spawn_pawn<PlayerPawn: Component + Default>(joined: On<PlayerJoined>, mut commands: Commands) {
///     commands.spawn((PlayerPawn::default(), player_pawn(joined.link, joined.peer)));
/// }
/// ```
#[doc(alias = "PostLogin")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct PlayerJoined {
    /// The server's end of the link.
    pub link: Entity,
    /// The player.
    pub peer: PeerId,
}

/// A player has reconnected within the grace period and owns its pawn again: the same entity with all its
/// components. Triggered on servers.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct PlayerReturned {
    /// The server's end of the new link.
    pub link: Entity,
    /// The player.
    pub peer: PeerId,
    /// The player's pawn.
    pub pawn: Entity,
    /// Time that the player was disconnected.
    pub away: Duration,
}

/// A player has disconnected, for whatever reason. Triggered on servers.
#[doc(alias = "Logout")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct PlayerLeft {
    /// The server's end of the link, which is being despawned.
    pub link: Entity,
    /// The player.
    pub peer: PeerId,
    /// The player's pawn, if it had one. It waits for the grace period.
    pub pawn: Option<Entity>,
    /// Reason for which the connection has ended.
    pub reason: LeaveReason,
}

/// The grace period of a disconnected player is over: its pawn is despawned after this event. Triggered on
/// servers. Remove [`SessionOf`] from the pawn to keep it, for instance for a bot.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct SessionExpired {
    /// The player.
    pub peer: PeerId,
    /// The player's pawn.
    pub pawn: Entity,
}

pub(super) fn plugin(app: &mut App) {
    app.add_observer(|connected: On<Add, Connected>, mut commands: Commands| {
        let link = connected.entity;
        commands.queue(move |world: &mut World| join(world, link));
    })
    .add_observer(leave)
    .add_systems(First, expire_sessions);
}

type Pawn = (
    Entity,
    &'static SessionOf,
    Option<&'static ControlledBy>,
    Option<&'static AwaitingReconnect>,
    Has<ServerControl>,
    Has<LocalControl>,
);

/// Links of players.
type PlayerLink = (With<ClientOf>, With<Connected>, Without<HostClient>);

fn join(world: &mut World, link: Entity) {
    let mut links = world.query_filtered::<(Entity, &RemoteId), PlayerLink>();
    let peers: Vec<(Entity, PeerId)> = links.iter(world).map(|(link, of)| (link, of.0)).collect();
    let Some(&(_, peer)) = peers.iter().find(|(known, _)| *known == link) else { return };
    let old = peers.iter().find(|(other, of)| *other != link && *of == peer).map(|(old, _)| *old);
    #[cfg(feature = "prediction")]
    if let Some(old) = old {
        crate::possession::cancel(world, old);
    }
    // A pawn that the host or another player has taken waits for nobody.
    let is_free = |owner: Option<&ControlledBy>| {
        !owner.is_some_and(|owner| peers.iter().any(|(other, of)| *other == owner.owner && *of != peer))
    };
    let mut pawns = world.query::<Pawn>();
    let seen: &World = world;
    let own = pawns.iter(seen).filter(|(_, of, owner, .., host)| of.0 == peer && !host && is_free(*owner));
    #[cfg(feature = "prediction")]
    let own = own.filter(|(pawn, ..)| !crate::possession::is_offered(seen, *pawn));
    // Of several pawns the one that was controlled last.
    let own = own.max_by_key(|(_, _, owner, absent, ..)| owner.is_some() || absent.is_some());
    let own = own.map(|(pawn, _, _, absent, by_server, _)| {
        (pawn, absent.map_or(Duration::ZERO, |absent| absent.away), by_server)
    });
    if let Some((pawn, _, by_server)) = own {
        // Data of the old link says nothing about the new one, nor about the client's view. A returning
        // passenger leaves its vehicle.
        world.entity_mut(pawn).remove::<(AwaitingReconnect, RoundTrip, Passenger)>();
        if by_server {
            #[cfg(feature = "prediction")]
            world.trigger(crate::possession::Possess { link, pawn: Some(pawn) });
        } else {
            world.entity_mut(pawn).insert(owned_by(link));
            world.trigger(OwnerReconnected { entity: pawn });
        }
        world.flush();
    }
    if let Some(entity) = old {
        // One link per player: the newest.
        world.trigger(Kick { entity, reason: KickReason::Replaced });
        world.flush();
    }
    match own {
        Some((pawn, away, _)) => world.trigger(PlayerReturned { link, peer, pawn, away }),
        None => world.trigger(PlayerJoined { link, peer }),
    }
}

/// Components of a player's link that ends.
type EndedLink =
    (&'static RemoteId, Option<&'static PendingKick>, Option<&'static LinkTraffic>, Has<Disconnecting>);

fn leave(
    gone: On<Remove, Connected>,
    links: Query<EndedLink, (With<ClientOf>, Without<HostClient>)>,
    others: Query<(Entity, &RemoteId), PlayerLink>,
    config: Res<SessionConfig>,
    pawns: Query<(Entity, Option<&SessionOf>, Option<&ControlledBy>)>,
    mut commands: Commands,
) {
    let link = gone.entity;
    let Ok((&RemoteId(peer), leaving, traffic, is_closed)) = links.get(link) else { return };
    let reason = LeaveReason::of(leaving, traffic, is_closed);
    // Nobody reconnects to a server that stops.
    let ends = leaving.is_some_and(|leaving| leaving.reason == KickReason::Shutdown);
    let left = if ends { Duration::ZERO } else { config.grace };
    let controlled = pawns.iter().find(|(.., by)| by.is_some_and(|by| by.owner == link));
    let owned = |of: Option<&SessionOf>| of.is_some_and(|of| of.0 == peer);
    let pawn = controlled.filter(|(_, of, _)| owned(*of));
    #[cfg(feature = "prediction")]
    if let Some((vehicle, ..)) = controlled.filter(|_| pawn.is_none()) {
        // A pawn that is not the player's own, such as a vehicle, stays behind.
        commands.entity(vehicle).try_remove::<(ControlledBy, ControlledSend)>();
        commands.queue(move |world: &mut World| {
            bevy_unlag_prediction::return_to_server(world, Some(vehicle));
            crate::possession::forget_link(world, vehicle);
        });
    }
    // The player may be back by another link, and about to control a pawn by it.
    let is_back = others.iter().any(|(other, of)| other != link && of.0 == peer);
    let waiting = || pawns.iter().find(|(_, of, by)| owned(*of) && by.is_none() && !is_back);
    let pawn = pawn.or_else(waiting);
    let pawn = pawn.map(|(pawn, ..)| pawn);
    if let Some(pawn) = pawn {
        // Both: a client that receives `ControlledSend` takes the pawn for its own, and without
        // `ControlledBy` every client would receive it.
        commands
            .entity(pawn)
            .try_remove::<(ControlledBy, ControlledSend)>()
            .try_insert(AwaitingReconnect { left, away: Duration::ZERO });
    }
    commands.trigger(PlayerLeft { link, peer, pawn, reason });
    if let Some(pawn) = pawn.filter(|_| left.is_zero()) {
        expire(pawn, peer, &mut commands);
    }
}

fn expire_sessions(
    time: Res<Time<Real>>,
    mut pawns: Query<(Entity, &SessionOf, &mut AwaitingReconnect)>,
    mut commands: Commands,
) {
    for (pawn, of, mut absent) in &mut pawns {
        absent.away += time.delta();
        absent.left = absent.left.saturating_sub(counted_delta(&time));
        if absent.left.is_zero() {
            expire(pawn, of.0, &mut commands);
        }
    }
}

/// Ends the session of the pawn that waits, and of all others that its player owns.
fn expire(waiting: Entity, peer: PeerId, commands: &mut Commands) {
    commands.queue(move |world: &mut World| {
        let mut owned = world.query::<(Entity, &SessionOf)>();
        let owned: Vec<_> = owned.iter(world).filter(|(_, of)| of.0 == peer).map(|(pawn, _)| pawn).collect();
        for pawn in owned {
            world.trigger(SessionExpired { peer, pawn });
            world.flush();
            if let Ok(pawn) = world.get_entity_mut(pawn)
                && pawn.contains::<SessionOf>()
            {
                pawn.despawn();
            }
        }
        if let Ok(mut kept) = world.get_entity_mut(waiting) {
            kept.remove::<AwaitingReconnect>();
        }
    });
}

//! A player's pawn outlives its link: who comes back finds it as it is by then.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, Heard, MoveModel, RoundTrip};
use bevy_unlag_prediction::{IncomingMoves, MoveQueue, OutgoingAnswers};
use bevy_unlag_rewind::ViewLedger;
use bevy_unlag_smoothing::SentLog;
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};

use super::SessionConfig;
use lightyear_guard::{Kick, KickReason, Leaving, patience};

/// On a server's pawn: whose it is, for as long as it lives. Links come and go; a peer is who its connect token says
/// it is. [`player_pawn`] makes it.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionOf(pub PeerId);

/// On a server's pawn: its player's link has gone. Nobody steers it, and it can be hit. It goes when the time is
/// over, see [`SessionConfig::grace`].
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Absent {
    /// How long it still waits.
    pub left: Duration,
    /// How long it has waited.
    pub away: Duration,
}

/// The components of a pawn that belongs to a player: to `peer`, and for now to `link`, the server's end of the
/// player's link. Insert them beside those of [`networked_pawn`](crate::networked_pawn), once for a player.
#[must_use]
pub fn player_pawn(link: Entity, peer: PeerId) -> impl Bundle {
    (SessionOf(peer), owned_by(link))
}

/// With any other lifetime lightyear despawns it with its link.
fn owned_by(link: Entity) -> ControlledBy {
    ControlledBy { owner: link, lifetime: Lifetime::Persistent }
}

/// A player is there who has no pawn to come back to: the game is to spawn one with [`player_pawn`]. Triggered on
/// servers when the connection stands.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayerJoined {
    /// The server's end of its link.
    pub link: Entity,
    /// Who it is.
    pub peer: PeerId,
}

/// A player has come back in time, and has its pawn again: the same entity with all that is on it. Triggered on
/// servers.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayerReturned {
    /// The server's end of its new link.
    pub link: Entity,
    /// Who it is.
    pub peer: PeerId,
    /// Its pawn.
    pub pawn: Entity,
    /// How long it was away.
    pub away: Duration,
}

/// The link of a player has gone, for whatever reason. Triggered on servers.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayerLeft {
    /// The server's end of its link, which is being despawned.
    pub link: Entity,
    /// Who it is.
    pub peer: PeerId,
    /// Its pawn, if it had one. It waits.
    pub pawn: Option<Entity>,
}

/// A player has not come back: its pawn is despawned after this. Triggered on servers. Take [`SessionOf`] off the
/// pawn to keep it, for a bot to go on with.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionExpired {
    /// Who it was.
    pub peer: PeerId,
    /// Its pawn.
    pub pawn: Entity,
}

pub(super) fn plugin<M: MoveModel>(app: &mut App) {
    app.add_observer(join::<M>).add_observer(leave).add_systems(First, wait);
}

type Pawn<M> = (
    Entity,
    &'static SessionOf,
    Option<&'static ControlledBy>,
    Option<&'static Absent>,
    Option<&'static mut MoveQueue<M>>,
);

fn join<M: MoveModel>(
    connected: On<Add, Connected>,
    links: Query<&RemoteId, (With<ClientOf>, Without<HostClient>)>,
    tick: Res<CurrentTick>,
    mut pawns: Query<Pawn<M>>,
    mut commands: Commands,
) {
    let link = connected.entity;
    let Ok(&RemoteId(peer)) = links.get(link) else { return };
    let Some((pawn, _, owner, absent, queue)) = pawns.iter_mut().find(|(_, of, ..)| of.0 == peer) else {
        commands.trigger(PlayerJoined { link, peer });
        return;
    };
    if let Some(mut queue) = queue {
        queue.begin_anew(tick.0);
    }
    let old = owner.map(|owner| owner.owner).filter(|old| *old != link);
    // What was known of the old link says nothing of this one, nor of the screen at its other end.
    commands.entity(pawn).try_remove::<(Absent, RoundTrip)>().try_insert((
        owned_by(link),
        Heard::default(),
        IncomingMoves::default(),
        OutgoingAnswers::default(),
        SentLog::default(),
        ViewLedger::default(),
    ));
    if let Some(entity) = old {
        // One player, one link: the newest.
        commands.trigger(Kick { entity, reason: KickReason::Replaced });
    }
    let away = absent.map_or(Duration::ZERO, |absent| absent.away);
    commands.trigger(PlayerReturned { link, peer, pawn, away });
}

fn leave(
    gone: On<Remove, Connected>,
    links: Query<(&RemoteId, Option<&Leaving>), (With<ClientOf>, Without<HostClient>)>,
    config: Res<SessionConfig>,
    pawns: Query<(Entity, &SessionOf, &ControlledBy)>,
    mut commands: Commands,
) {
    let link = gone.entity;
    let Ok((&RemoteId(peer), leaving)) = links.get(link) else { return };
    // Nobody comes back to a server that stops.
    let ends = leaving.is_some_and(|leaving| leaving.reason == KickReason::Shutdown);
    let left = if ends { Duration::ZERO } else { config.grace };
    let pawn = pawns.iter().find(|(_, _, owner)| owner.owner == link).map(|(pawn, ..)| pawn);
    if let Some(pawn) = pawn {
        // Both: who sees the second thinks that the pawn is its own, and without the first that is everybody.
        commands
            .entity(pawn)
            .try_remove::<(ControlledBy, ControlledSend)>()
            .try_insert(Absent { left, away: Duration::ZERO });
    }
    commands.trigger(PlayerLeft { link, peer, pawn });
    if let Some(pawn) = pawn.filter(|_| left.is_zero()) {
        expire(pawn, peer, &mut commands);
    }
}

fn wait(time: Res<Time<Real>>, mut pawns: Query<(Entity, &SessionOf, &mut Absent)>, mut commands: Commands) {
    for (pawn, of, mut absent) in &mut pawns {
        absent.away += time.delta();
        absent.left = absent.left.saturating_sub(patience(&time));
        if absent.left.is_zero() {
            expire(pawn, of.0, &mut commands);
        }
    }
}

fn expire(pawn: Entity, peer: PeerId, commands: &mut Commands) {
    commands.trigger(SessionExpired { peer, pawn });
    commands.queue(move |world: &mut World| {
        let Ok(mut entity) = world.get_entity_mut(pawn) else { return };
        if entity.contains::<SessionOf>() {
            entity.despawn();
        } else {
            entity.remove::<Absent>();
        }
    });
}

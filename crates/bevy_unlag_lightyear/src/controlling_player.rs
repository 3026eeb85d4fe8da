//! Replication of the controlling player of each pawn.

use bevy::prelude::*;
use bevy_unlag_core::{Interpolate, InterpolationSpan, Wire};
use lightyear::prelude::*;

use crate::pawn_state::{AddPawnState, OwnPawnState};

/// Client that controls a pawn, by its id ([`PeerId`]'s number), on the server and on all clients: for a name over a
/// vehicle, or a scoreboard. A pawn without it is controlled by the server or its host, or waits for its player.
///
/// Players see each other's ids, so an id must be no secret. Clients without a number, that is with
/// [`PeerId::Raw`], are not named: their address is nobody else's business.
#[doc(alias = "APlayerController")]
#[derive(Component, Wire, Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct ControllingPlayer(pub u64);

/// Not interpolated: the older player holds until the moment of the newer one.
impl Interpolate for ControllingPlayer {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// Sends [`ControllingPlayer`] from the server to all clients, where it changes at the tick at which the pawn is drawn.
/// Add it on both sides, after the suite's other plugins and in the same order as other registrations. The plugin
/// groups of `bevy_unlag` contain it.
#[derive(Debug, Default)]
pub struct ControllingPlayerPlugin;

impl Plugin for ControllingPlayerPlugin {
    fn build(&self, app: &mut App) {
        app.add_pawn_state::<ControllingPlayer>(OwnPawnState::Follow).register_type::<ControllingPlayer>();
        if app.is_plugin_added::<crate::server::UnlagServerNetPlugin>() {
            app.add_observer(name_player).add_observer(forget_player);
        }
    }
}

fn name_player(
    given: On<Insert, ControlledBy>,
    pawns: Query<&ControlledBy>,
    links: Query<&RemoteId>,
    mut commands: Commands,
) {
    let link = pawns.get(given.entity).map(|by| by.owner);
    let Ok(RemoteId(peer)) = link.and_then(|link| links.get(link)) else { return };
    if let PeerId::Netcode(id) | PeerId::Steam(id) | PeerId::Local(id) = *peer {
        commands.entity(given.entity).try_insert(ControllingPlayer(id));
    }
}

fn forget_player(taken: On<Remove, ControlledBy>, mut commands: Commands) {
    commands.entity(taken.entity).try_remove::<ControllingPlayer>();
}

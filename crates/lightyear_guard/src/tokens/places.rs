//! Places of a server: how many clients may join, in all and from one host.

use core::net::{IpAddr, SocketAddr};

use bevy::{ecs::system::SystemParam, prelude::*};
use lightyear::{
    connection::host::HostClient,
    prelude::{Connected, LinkOf, PeerAddr, PeerId, RemoteId},
};

use super::JoinRefusal;
use crate::ingress::{IngressLimits, host};

/// The token with which a link joins, and its client.
#[derive(Component)]
pub(super) struct LinkToken {
    pub name: [u8; 16],
    pub peer: PeerId,
}

/// A link whose client asks for a place.
pub(super) struct Newcomer {
    pub link: Entity,
    pub server: Entity,
    pub peer: PeerId,
    pub address: Option<SocketAddr>,
}

/// Clients that have a place.
#[derive(SystemParam)]
pub(super) struct Places<'w, 's> {
    limits: Res<'w, IngressLimits>,
    links: Query<
        'w,
        's,
        (
            Entity,
            &'static LinkOf,
            Option<&'static PeerAddr>,
            Option<&'static RemoteId>,
            Has<Connected>,
            Has<LinkToken>,
        ),
        Without<HostClient>,
    >,
}

impl Places<'_, '_> {
    /// Returns why there is no place for a client, if so. `fresh` has the hosts of those that have got one in this
    /// frame. A client that has lost its connection keeps its place.
    pub fn refusal(
        &self,
        newcomer: &Newcomer,
        max_clients: usize,
        fresh: &[(Entity, IpAddr)],
    ) -> Option<JoinRefusal> {
        let from = newcomer.address.filter(|address| !address.ip().is_loopback()).map(host);
        let (mut clients, mut of_host) = (0, 0);
        for (link, of, address, peer, is_connected, joins) in &self.links {
            if of.server != newcomer.server || link == newcomer.link {
                continue;
            }
            if is_connected && peer.is_some_and(|peer| peer.0 == newcomer.peer) {
                return None;
            }
            clients += usize::from(is_connected);
            let is_of_host = from.is_some() && address.map(|address| host(address.0)) == from;
            of_host += usize::from(is_of_host && (is_connected || joins));
        }
        of_host += fresh.iter().filter(|fresh| (fresh.0, Some(fresh.1)) == (newcomer.server, from)).count();
        if clients >= max_clients {
            Some(JoinRefusal::Full)
        } else {
            let is_limited = self.limits.enabled && of_host >= self.limits.max_clients_per_host;
            (from.is_some() && is_limited).then_some(JoinRefusal::HostLimit)
        }
    }
}

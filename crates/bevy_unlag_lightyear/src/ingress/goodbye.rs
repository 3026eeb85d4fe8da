//! Throwing somebody out, who hears why.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};
use lightyear::{
    connection::{client::Disconnecting, host::HostClient},
    prelude::{server::ClientOf, *},
};

use super::{IngressLimits, IngressStats, LinkTraffic, Refusal};
use crate::protocol::{GoodbyeMessage, VerdictChannel};

/// Why a client is thrown out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KickReason {
    /// It sent packets that no honest client sends.
    InvalidPackets,
    /// It sent more than [`IngressLimits`] allow, for long.
    Flood,
    /// The game says so; the number is the game's own.
    Game(u8),
}

impl Wire for KickReason {
    fn write(&self, w: &mut BitWriter) {
        let (kind, number) = match self {
            Self::InvalidPackets => (0, 0),
            Self::Flood => (1, 0),
            Self::Game(number) => (2, u32::from(*number)),
        };
        w.bits(kind, 2);
        w.bits(number, 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (kind, number) = (r.bits(2)?, r.bits(8)?);
        Ok(match kind {
            0 => Self::InvalidPackets,
            1 => Self::Flood,
            _ => Self::Game(number as u8),
        })
    }
}

/// Ends a client's connection: trigger it for the server's end of a link. From then on nothing of the client is
/// heard. It is told why, and the link goes after [`IngressLimits::goodbye`]. Does nothing for a host's own link.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Kick {
    /// The server's end of the link, an entity with [`ClientOf`].
    pub entity: Entity,
    /// Why.
    pub reason: KickReason,
}

/// On a server: a client is being thrown out. Written once, while its link still stands.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Kicked {
    /// The server's end of its link.
    pub link: Entity,
    /// Who it is.
    pub peer: PeerId,
    /// Why.
    pub reason: KickReason,
    /// What of it was dropped most often, if anything.
    pub refusal: Option<Refusal>,
}

/// On a client: the server has thrown us out. Written once; the connection is closed.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct KickedByServer(pub KickReason);

/// For how long a client that is thrown out still stays.
#[derive(Component)]
pub(super) struct Leaving(Duration);

pub(super) fn server_plugin(app: &mut App) {
    app.add_message::<Kicked>().add_observer(kick).add_systems(First, close);
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_message::<KickedByServer>().add_systems(PreUpdate, hear_goodbye.after(MessageSystems::Receive));
}

fn kick(
    kick: On<Kick>,
    limits: Res<IngressLimits>,
    mut links: Query<
        (&RemoteId, Option<&LinkTraffic>, &mut MessageSender<GoodbyeMessage>),
        (With<ClientOf>, With<Connected>, Without<HostClient>, Without<Leaving>),
    >,
    mut kicked: MessageWriter<Kicked>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    let Kick { entity, reason } = *kick;
    let Ok((peer, traffic, mut sender)) = links.get_mut(entity) else { return };
    let mut w = BitWriter::default();
    reason.write(&mut w);
    sender.send::<VerdictChannel>(GoodbyeMessage(w.finish()));
    let refusal = traffic.and_then(|traffic| traffic.refused.most());
    let what = refusal.map_or("nothing", Refusal::name);
    warn!("client {:?} is thrown out ({reason:?}); dropped of it most often: {what}", peer.0);
    kicked.write(Kicked { link: entity, peer: peer.0, reason, refusal });
    stats.kicked += 1;
    commands.entity(entity).insert(Leaving(limits.goodbye));
}

fn close(time: Res<Time<Real>>, mut links: Query<(Entity, &mut Leaving)>, mut commands: Commands) {
    for (link, mut leaving) in &mut links {
        leaving.0 = leaving.0.saturating_sub(time.delta());
        if leaving.0.is_zero() {
            commands.entity(link).try_insert(Disconnecting);
        }
    }
}

fn hear_goodbye(
    mut links: Query<(Entity, &mut MessageReceiver<GoodbyeMessage>), With<Client>>,
    mut kicked: MessageWriter<KickedByServer>,
    mut commands: Commands,
) {
    for (link, mut messages) in &mut links {
        for message in messages.receive() {
            let Ok(reason) = KickReason::read(&mut BitReader::new(&message.0)) else { continue };
            warn!("the server has thrown us out: {reason:?}");
            kicked.write(KickedByServer(reason));
            commands.trigger(Disconnect { entity: link });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_survive_the_wire() {
        for reason in
            [KickReason::InvalidPackets, KickReason::Flood, KickReason::Game(0), KickReason::Game(255)]
        {
            let mut w = BitWriter::default();
            reason.write(&mut w);
            let bytes = w.finish();
            assert_eq!(KickReason::read(&mut BitReader::new(&bytes)), Ok(reason));
            assert!(KickReason::read(&mut BitReader::new(&bytes[..1])).is_err());
        }
    }
}

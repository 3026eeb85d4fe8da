//! Kicking clients with a reason.

use core::time::Duration;

use bevy::prelude::*;
use derive_more::Display;
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};

use super::{IngressLimits, IngressRefusal, IngressStats, KickText, LinkTraffic};
use crate::{
    counted_delta::counted_delta,
    log_lines::{KICKS, LogConfig, client_name},
    protocol::{KickChannel, KickMessage},
    tokens::CloseSession,
};

/// Difference between a client's setup and the server's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Display, Reflect)]
pub enum SetupDifference {
    /// The rules by which pawns move.
    #[display("this game moves by other rules than the server: install the server's version and its mods")]
    Configuration,
    /// The fixed level.
    #[display("this game's level is not the server's: install the server's version of the map")]
    Level,
}

/// Reason for which a client is kicked. `Display` is a sentence for the player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Display, Reflect)]
pub enum KickReason {
    /// The client sent packets that no honest client sends.
    #[display("it received invalid packets: update the game and disable its mods")]
    InvalidPackets,
    /// The client exceeded the [`IngressLimits`] for too long.
    #[display("this game sent too much data: close programs that use the network and rejoin")]
    Flood,
    /// The player has joined again with a fresh token; this was the old connection.
    #[display("this player has joined from another place: play there, or close that game")]
    Replaced,
    /// Kicked by the game; the number is the game's own.
    #[display("by a rule of the server (reason {_0}): ask its operator")]
    Game(u8),
    /// The client's setup differs from the server's, and `SetupRule` of `bevy_unlag_lightyear` does not let
    /// it stay.
    #[display("{_0}")]
    Setup(SetupDifference),
    /// The server is stopping: `Shutdown` of `bevy_unlag_lightyear`.
    #[display("it is shutting down: join again later, or join another server")]
    Shutdown,
    /// Too many reliable messages waited for it: its line cannot keep up, or it does not acknowledge.
    #[display("the network connection is too slow: close other programs that use it")]
    QueueOverflow,
    /// The client's clock runs too fast, again and again: `FastClockRule` of `bevy_unlag_lightyear`.
    #[display(
        "time runs faster on this machine than on the server: close programs that change a game's speed"
    )]
    FastClock,
    /// The server has as many spectators as it takes: `SpectatorConfig` of `bevy_unlag_lightyear`.
    #[display("it has no place for another spectator: try again later")]
    Spectators,
    /// Kicked by an operator, for instance by the admin command of `bevy_unlag_server`; the text is the operator's.
    #[display("by its operator: {_0}")]
    Operator(KickText),
}

/// Number of [`KickReason::Operator`] among the reasons of the kind of [`KickReason::Game`].
const OPERATOR: u16 = 256;
/// Number of [`KickReason::Spectators`] among them.
const SPECTATORS: u16 = 257;

impl KickReason {
    /// Longest encoded reason, in bytes.
    pub(crate) const MAX_BYTES: usize = 2 + KickText::MAX;

    /// Encodes the reason: its kind in the lowest three bits, its number in those above, then the text of an operator.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let mut text = KickText::default();
        let (kind, number) = match self {
            Self::InvalidPackets => (0, 0),
            Self::Flood => (1, 0),
            Self::Game(number) => (2, u16::from(number)),
            Self::Replaced => (3, 0),
            Self::Setup(SetupDifference::Configuration) => (4, 0),
            Self::Setup(SetupDifference::Level) => (4, 1),
            Self::Shutdown => (5, 0),
            Self::QueueOverflow => (6, 0),
            Self::FastClock => (7, 0),
            Self::Spectators => (2, SPECTATORS),
            Self::Operator(given) => {
                text = given;
                (2, OPERATOR)
            }
        };
        [&u16::to_le_bytes(kind | number << 3)[..], text.as_str().as_bytes()].concat()
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) encodes. `None` for anything else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (word, text) = bytes.split_first_chunk()?;
        let word = u16::from_le_bytes(*word);
        if (word & 7, word >> 3) == (2, OPERATOR) {
            return KickText::from_bytes(text).map(Self::Operator);
        }
        Some(match (word & 7, word >> 3) {
            _ if !text.is_empty() => return None,
            (0, 0) => Self::InvalidPackets,
            (1, 0) => Self::Flood,
            (2, SPECTATORS) => Self::Spectators,
            (2, number) => Self::Game(u8::try_from(number).ok()?),
            (3, 0) => Self::Replaced,
            (4, 0) => Self::Setup(SetupDifference::Configuration),
            (4, 1) => Self::Setup(SetupDifference::Level),
            (5, 0) => Self::Shutdown,
            (6, 0) => Self::QueueOverflow,
            (7, 0) => Self::FastClock,
            _ => return None,
        })
    }
}

/// Kicks a client: trigger it for the server's end of a link. From then on all packets of the client are
/// dropped. The client receives the reason, and the link closes after [`IngressLimits::kick_delay`]. Has no
/// effect on the host's own link.
///
/// ```
/// use bevy::prelude::*;
/// use lightyear_guard::{Kick, KickReason};
///
/// /// A number of the game's own, for its screen of disconnects.
/// const IDLE: u8 = 3;
///
/// /// On the server.
/// fn kick_idle(In(link): In<Entity>, mut commands: Commands) {
///     commands.trigger(Kick { entity: link, reason: KickReason::Game(IDLE) });
/// }
/// ```
#[doc(alias = "KickPlayer")]
#[derive(EntityEvent, Clone, Copy, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct Kick {
    /// The server's end of the link, an entity with [`ClientOf`].
    pub entity: Entity,
    /// The reason, sent to the client.
    pub reason: KickReason,
}

/// On a server: a client has been kicked. Written once, while its link still exists.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct Kicked {
    /// The server's end of the link.
    pub link: Entity,
    /// The client.
    pub peer: PeerId,
    /// The reason.
    pub reason: KickReason,
    /// The most frequent refusal of the client's packets, if any was refused.
    pub refusal: Option<IngressRefusal>,
}

/// On a client: the server has kicked this client. Written once; the connection is then closed. `Display`
/// tells the player what to do.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Display, Reflect)]
#[reflect(Message, Debug)]
#[display("the server ended the connection: {_0}")]
pub struct KickedByServer(pub KickReason);

/// On the server's end of a link: the client has been kicked and its link closes soon.
#[derive(Component, Reflect)]
#[reflect(Component)]
pub struct PendingKick {
    /// Time until the link closes.
    left: Duration,
    /// Reason.
    pub reason: KickReason,
}

pub(super) fn server_plugin(app: &mut App) {
    app.add_message::<Kicked>().add_observer(kick).add_systems(First, close);
}

pub(super) fn client_plugin(app: &mut App) {
    app.add_message::<KickedByServer>().add_systems(PreUpdate, receive_kick.after(MessageSystems::Receive));
}

fn kick(
    kick: On<Kick>,
    (limits, log): (Res<IngressLimits>, Res<LogConfig>),
    mut links: Query<
        (&RemoteId, Option<&PeerAddr>, Option<&LinkTraffic>, &mut MessageSender<KickMessage>),
        (With<ClientOf>, With<Connected>, Without<HostClient>, Without<PendingKick>),
    >,
    mut kicked: MessageWriter<Kicked>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    let Kick { entity, reason } = *kick;
    let Ok((peer, address, traffic, mut sender)) = links.get_mut(entity) else { return };
    sender.send::<KickChannel>(KickMessage(reason.to_bytes()));
    let refusal = traffic.and_then(|traffic| traffic.refused.most());
    let (client, address) = (client_name(peer.0), log.address(address));
    if reason == KickReason::Shutdown {
        info!(target: KICKS, %client, address, ?reason, "kicked");
    } else {
        let refusal = refusal.map(IngressRefusal::name);
        warn!(target: KICKS, %client, address, ?reason, refusal, "kicked");
    }
    kicked.write(Kicked { link: entity, peer: peer.0, reason, refusal });
    stats.kicked += 1;
    commands.entity(entity).insert(PendingKick { left: limits.kick_delay, reason });
}

fn close(time: Res<Time<Real>>, mut links: Query<(Entity, &mut PendingKick)>, mut commands: Commands) {
    for (link, mut leaving) in &mut links {
        leaving.left = leaving.left.saturating_sub(counted_delta(&time));
        if leaving.left.is_zero() {
            commands.entity(link).try_insert_if_new(CloseSession::default());
        }
    }
}

fn receive_kick(
    mut links: Query<(Entity, &mut MessageReceiver<KickMessage>), With<Client>>,
    mut kicked: MessageWriter<KickedByServer>,
    mut commands: Commands,
) {
    for (link, mut messages) in &mut links {
        for message in messages.receive() {
            let Some(reason) = KickReason::from_bytes(&message.0) else { continue };
            let told = KickedByServer(reason);
            warn!("{told}");
            kicked.write(told);
            commands.trigger(Disconnect { entity: link });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kick_reasons_survive_a_round_trip_and_have_a_text() {
        for reason in [
            KickReason::InvalidPackets,
            KickReason::Flood,
            KickReason::Replaced,
            KickReason::Setup(SetupDifference::Configuration),
            KickReason::Setup(SetupDifference::Level),
            KickReason::Shutdown,
            KickReason::QueueOverflow,
            KickReason::FastClock,
            KickReason::Spectators,
            KickReason::Game(0),
            KickReason::Game(255),
            KickReason::Operator(KickText::default()),
            KickReason::Operator(KickText::new("camping in the spawn")),
        ] {
            let bytes = reason.to_bytes();
            assert_eq!(KickReason::from_bytes(&bytes), Some(reason));
            assert!(bytes.len() <= KickReason::MAX_BYTES);
            assert_eq!(KickReason::from_bytes(&bytes[..1]), None);
            assert_eq!(KickReason::from_bytes(&[&bytes[..], b"\n"].concat()), None);
            let line = KickedByServer(reason).to_string();
            assert!(line.starts_with("the server ended the connection: ") && line.len() > 50, "{line}");
        }
        for word in 0..=u16::MAX {
            let known = KickReason::from_bytes(&word.to_le_bytes());
            assert!(known.is_none_or(|reason| reason.to_bytes() == word.to_le_bytes()), "{word}");
        }
    }
}

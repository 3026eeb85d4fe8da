//! Announced shutdown of a server.

use core::{fmt, time::Duration};

use bevy::{ecs::message::Message, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};
use lightyear::{
    connection::host::HostClient,
    prelude::{
        server::{ClientOf, Server, Started, Stop},
        *,
    },
};

use lightyear_guard::{Kick, KickReason, KickText, PendingKick};

use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    protocol::{ServerEventChannel, ShutdownMessage},
};

/// Stops a server. Trigger it there. Connected clients, and clients that join in the meantime, are informed
/// of the remaining time and the reason. Then all clients are disconnected with [`KickReason::Shutdown`], the server
/// stops listening, and [`ServerStopped`] is triggered. Triggering it again changes time and reason.
///
/// ```
/// use std::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_unlag_lightyear::Shutdown;
/// use lightyear_guard::KickText;
///
/// /// On the server.
/// fn end_match(mut commands: Commands) {
///     let reason = KickText::new("the match is over");
///     commands.trigger(Shutdown { after: Duration::from_secs(5), reason });
/// }
/// ```
#[doc(alias = "killserver")]
#[doc(alias = "quit")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Event, Debug, Default)]
pub struct Shutdown {
    /// Time from now until all clients are disconnected; at most 49 days. Default 0.
    pub after: Duration,
    /// Reason for the players, such as "maintenance until six". Default: empty, none.
    pub reason: KickText,
}

/// The server has stopped: no client is connected or can connect, so the app may exit. Triggered on the
/// server.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct ServerStopped;

/// On a client: the server will stop. Written when the announcement arrives, and again when the time changes.
/// `Display` is a sentence for the player, with the reason if there is one.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ServerShutdown {
    /// Remaining time when the message was sent.
    pub left: Duration,
    /// The server's reason; empty if it gives none.
    pub reason: KickText,
}

impl fmt::Display for ServerShutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.left.as_secs_f32().round();
        write!(f, "the server will stop in {seconds} s")?;
        match self.reason.as_str() {
            "" => Ok(()),
            reason => write!(f, ": {reason}"),
        }
    }
}

/// Milliseconds; length of the reason in bytes; the reason.
impl Wire for ServerShutdown {
    fn write(&self, w: &mut BitWriter) {
        let reason = self.reason.as_str().as_bytes();
        w.bits(u32::try_from(self.left.as_millis()).unwrap_or(u32::MAX), 32);
        w.bits(reason.len() as u32, 8);
        reason.iter().for_each(|byte| w.bits(u32::from(*byte), 8));
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let left = Duration::from_millis(u64::from(r.bits(32)?));
        let length = r.bits(8)? as usize;
        if length > KickText::MAX {
            return Err(WireError::Invalid);
        }
        let reason = (0..length).map(|_| Ok(r.bits(8)? as u8)).collect::<Result<Vec<_>, WireError>>()?;
        let reason = KickText::from_bytes(&reason).ok_or(WireError::Invalid)?;
        Ok(Self { left, reason })
    }
}

/// Pending shutdown of this server.
#[derive(Resource, Debug)]
struct PendingShutdown {
    left: Duration,
    reason: KickText,
    /// Time since the announced time is over.
    over: Duration,
    stopped: bool,
}

pub(super) fn server_plugin(app: &mut App) {
    app.add_observer(announce)
        .add_observer(inform_late_joiner)
        .add_systems(First, close.run_if(resource_exists::<PendingShutdown>));
}

pub(super) fn client_plugin(app: &mut App) {
    app.add_message::<ServerShutdown>()
        .add_systems(PreUpdate, receive_shutdown.after(MessageSystems::Receive));
}

fn announce(
    shutdown: On<Shutdown>,
    mut links: Query<&mut MessageSender<ShutdownMessage>, (With<ClientOf>, With<Connected>)>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    let Shutdown { after: left, reason } = *shutdown;
    for mut link in &mut links {
        bandwidth.send(&mut link, ServerShutdown { left, reason }.to_bytes());
    }
    commands.insert_resource(PendingShutdown { left, reason, over: Duration::ZERO, stopped: false });
}

fn inform_late_joiner(
    connected: On<Add, Connected>,
    closing: Option<Res<PendingShutdown>>,
    mut links: Query<&mut MessageSender<ShutdownMessage>, With<ClientOf>>,
) {
    if let (Some(closing), Ok(mut link)) = (closing, links.get_mut(connected.entity)) {
        let PendingShutdown { left, reason, .. } = *closing;
        link.send::<ServerEventChannel>(ShutdownMessage(ServerShutdown { left, reason }.to_bytes()));
    }
}

fn close(
    time: Res<Time<Real>>,
    mut closing: ResMut<PendingShutdown>,
    links: Query<(Entity, Has<PendingKick>), (With<ClientOf>, With<Connected>, Without<HostClient>)>,
    running: Query<Entity, (With<Server>, With<Started>)>,
    servers: Query<Entity, (With<Server>, Without<server::Stopped>)>,
    mut commands: Commands,
) {
    /// Time after which clients that cannot be informed are ignored.
    const KICK_TIMEOUT: Duration = Duration::from_secs(5);
    closing.left = closing.left.saturating_sub(time.delta());
    if !closing.left.is_zero() {
        return;
    }
    closing.over += time.delta();
    for (entity, _) in links.iter().filter(|(_, leaving)| !leaving) {
        commands.trigger(Kick { entity, reason: KickReason::Shutdown });
    }
    if !links.is_empty() && closing.over < KICK_TIMEOUT {
        return;
    }
    if !closing.stopped {
        closing.stopped = true;
        running.iter().for_each(|entity| commands.trigger(Stop { entity }));
    } else if servers.is_empty() || closing.over >= KICK_TIMEOUT * 2 {
        commands.remove_resource::<PendingShutdown>();
        commands.trigger(ServerStopped);
    }
}

fn receive_shutdown(
    mut messages: ServerMessages<ShutdownMessage>,
    mut writer: MessageWriter<ServerShutdown>,
) {
    for message in messages.take() {
        if let Ok(shutdown) = ServerShutdown::from_bytes(&message.0) {
            warn!("{shutdown}");
            writer.write(shutdown);
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{check_wire, check_wire_value};

    use super::*;

    /// An announcement of 5 s with these bytes as the reason.
    fn announced(length: u8, reason: &[u8]) -> Result<ServerShutdown, WireError> {
        ServerShutdown::from_bytes(&[&5_000_u32.to_le_bytes()[..], &[length], reason].concat())
    }

    #[test]
    fn announcement_has_a_clean_reason_or_is_refused() {
        let left = Duration::from_secs(5);
        for text in ["", "maintenance until six", "é".repeat(50).as_str()] {
            let reason = KickText::new(text);
            assert_eq!(announced(text.len() as u8, text.as_bytes()), Ok(ServerShutdown { left, reason }));
        }
        let long = [b'x'; 255];
        let hostile: [(u8, &[u8], WireError); 9] = [
            (1, b"", WireError::Ended),
            (10, b"too short", WireError::Ended),
            (101, &long, WireError::Invalid),
            (255, &long, WireError::Invalid),
            (2, b"\xff\xff", WireError::Invalid),
            (1, "é".as_bytes(), WireError::Invalid),
            (2, b"x\n", WireError::Invalid),
            (4, b"\x1b[2J", WireError::Invalid),
            (2, b" x", WireError::Invalid),
        ];
        for (length, reason, error) in hostile {
            assert_eq!(announced(length, reason), Err(error), "{length}: {reason:?}");
        }
        for length in 0..5 {
            assert_eq!(ServerShutdown::from_bytes(&[0; 5][..length]), Err(WireError::Ended), "{length}");
        }
    }

    #[test]
    fn announcement_is_read_from_any_bytes_without_a_panic() {
        let shutdown = ServerShutdown { left: Duration::MAX, reason: KickText::new("closed for today") };
        assert_eq!(check_wire_value(shutdown), Ok(()));
        assert_eq!(check_wire::<ServerShutdown>(3, 5_000), Ok(()));
    }

    #[test]
    fn player_reads_the_reason_behind_the_time_if_there_is_one() {
        let text = |reason: &str| {
            ServerShutdown { left: Duration::from_secs(5), reason: KickText::new(reason) }.to_string()
        };
        assert_eq!(text(""), "the server will stop in 5 s");
        assert_eq!(text("maintenance"), "the server will stop in 5 s: maintenance");
    }
}

//! Announced shutdown of a server.

use core::{fmt, time::Duration};

use bevy::{ecs::message::Message, prelude::*};
use bevy_unlag_core::Wire;
use lightyear::{
    connection::host::HostClient,
    prelude::{
        server::{ClientOf, Server, Started, Stop},
        *,
    },
};

use lightyear_guard::{Kick, KickReason, PendingKick};

use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    protocol::{ServerEventChannel, ShutdownMessage},
};

/// Stops a server. Trigger it there. Connected clients, and clients that join in the meantime, are informed
/// of the remaining time. Then all clients are disconnected with [`KickReason::Shutdown`], the server stops
/// listening, and [`ServerStopped`] is triggered. Triggering it again changes the time.
#[doc(alias = "killserver")]
#[doc(alias = "quit")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct Shutdown {
    /// Time from now until all clients are disconnected; at most 49 days.
    pub after: Duration,
}

/// The server has stopped: no client is connected or can connect, so the app may exit. Triggered on the
/// server.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct ServerStopped;

/// On a client: the server will stop. Written when the announcement arrives, and again when the time changes.
/// `Display` is a sentence for the player.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ServerShutdown {
    /// Remaining time when the message was sent.
    pub left: Duration,
}

impl fmt::Display for ServerShutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.left.as_secs_f32().round();
        write!(f, "the server will stop in {seconds} s")
    }
}

/// Pending shutdown of this server.
#[derive(Resource, Debug)]
struct PendingShutdown {
    left: Duration,
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

fn notice(left: Duration) -> Vec<u8> {
    u32::try_from(left.as_millis()).unwrap_or(u32::MAX).to_bytes()
}

fn announce(
    shutdown: On<Shutdown>,
    mut links: Query<&mut MessageSender<ShutdownMessage>, (With<ClientOf>, With<Connected>)>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    let left = shutdown.after;
    for mut link in &mut links {
        bandwidth.send(&mut link, notice(left));
    }
    commands.insert_resource(PendingShutdown { left, over: Duration::ZERO, stopped: false });
}

fn inform_late_joiner(
    connected: On<Add, Connected>,
    closing: Option<Res<PendingShutdown>>,
    mut links: Query<&mut MessageSender<ShutdownMessage>, With<ClientOf>>,
) {
    if let (Some(closing), Ok(mut link)) = (closing, links.get_mut(connected.entity)) {
        link.send::<ServerEventChannel>(ShutdownMessage(notice(closing.left)));
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
        if let Ok(millis) = u32::from_bytes(&message.0) {
            let shutdown = ServerShutdown { left: Duration::from_millis(u64::from(millis)) };
            warn!("{shutdown}");
            writer.write(shutdown);
        }
    }
}

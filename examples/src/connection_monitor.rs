//! Monitor of a client's connection: reconnection, notices for the player, and the end of the match.

use core::{net::SocketAddr, time::Duration};

use bevy::{platform::time::Instant, prelude::*};
use bevy_unlag::{
    guard::{JoinRefused, KickReason, KickText, KickedByServer},
    net::{ProtocolMismatch, RateMismatch, ServerShutdown, SetupMismatch},
    prelude::*,
};
use checked_ron::OneLine;
use lightyear::prelude::{Client, Connected};

use crate::{
    hero::AnyPlayer,
    maps::OperatorText,
    match_end::{self, EndReason, MatchEnd},
    reconnect::{self, ReconnectPolicy},
};

/// Time after which a server that does not respond counts as absent.
const SERVER_TIMEOUT: Duration = Duration::from_secs(8);
/// Time that a longer frame counts of it.
const LONG_FRAME: Duration = Duration::from_millis(500);

/// Monitor of a client's connection.
#[derive(Resource, Clone, Debug)]
pub struct ConnectionMonitor {
    server: SocketAddr,
    joined_at: Option<Instant>,
    pub(crate) last_ok: Instant,
    /// Time since then, of which a long frame counts only a part: a window that compiles shaders must not give up.
    waited: Duration,
    redial: ReconnectPolicy,
    /// Whether it joins without a pawn.
    is_spectator: bool,
    /// Reason for which the server stops, once it has said so.
    stop_reason: KickText,
    /// Notice for the player, if any.
    pub notice: Option<String>,
}

impl ConnectionMonitor {
    /// Creates a monitor; call it when the client starts to connect.
    #[must_use]
    pub fn new(server: SocketAddr, redial: ReconnectPolicy) -> Self {
        let now = Instant::now();
        Self {
            server,
            joined_at: None,
            last_ok: now,
            waited: Duration::ZERO,
            redial,
            is_spectator: false,
            stop_reason: KickText::default(),
            notice: None,
        }
    }

    /// Creates a monitor of a spectator, which gets no pawn and does not reconnect.
    #[must_use]
    pub fn spectator(server: SocketAddr) -> Self {
        Self { is_spectator: true, ..Self::new(server, ReconnectPolicy::never()) }
    }

    /// Returns the time since the client got its pawn.
    #[must_use]
    pub fn time_since_join(&self) -> Duration {
        self.joined_at.map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Returns whether the client has had a pawn.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.joined_at.is_some()
    }

    /// Returns the reason why the client must give up, if there is one. Meanwhile, reconnects a client that
    /// has lost its connection.
    pub fn fatal_error(&mut self, world: &mut World) -> Option<MatchEnd> {
        let server = self.server;
        // The app's own time: in slow motion a server has more of ours to answer.
        self.waited += world.resource::<Time<Real>>().delta().min(LONG_FRAME);
        let mismatch = first::<ProtocolMismatch>(world).or_else(|| first::<RateMismatch>(world));
        if let Some(line) = mismatch {
            return Some(EndReason::Mismatch.because(format!("at {server}: {line}")));
        }
        // Before the kick at its end, which may arrive together with it and has no reason.
        if let Some(shutdown) = world.resource_mut::<Messages<ServerShutdown>>().drain().last() {
            self.notice = Some(shutdown.to_string());
            self.stop_reason = shutdown.reason;
            self.redial.stop_reconnecting();
        }
        if let Some(kicked) = world.resource_mut::<Messages<KickedByServer>>().drain().next() {
            return Some(match kicked.0 {
                KickReason::Shutdown => self.server_stopped(),
                _ => EndReason::Kicked.because(format!("at {server}: {kicked}")),
            });
        }
        if let Some(said) = world.resource_mut::<Messages<Received<OperatorText>>>().drain().last() {
            self.notice = Some(format!("operator: {}", OneLine::new(&said.message.0, 400)));
        }
        if let Some(mismatch) = world.resource_mut::<Messages<SetupMismatch>>().drain().last() {
            self.notice = Some(mismatch.to_string());
        }
        if let Some(refused) = world.resource_mut::<Messages<JoinRefused>>().drain().next() {
            let line = format!("the server at {server} refused the connection: {refused}");
            return Some(EndReason::Refused.because(line));
        }
        let connected =
            world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).next().is_some();
        let pawn = world.query_filtered::<(), (With<LocalControl>, AnyPlayer)>().iter(world).next().is_some();
        if connected && (pawn || self.is_spectator) {
            self.joined_at = self.joined_at.or(Some(Instant::now()));
            (self.last_ok, self.waited) = (Instant::now(), Duration::ZERO);
            if self.redial.mark_playing() && self.notice.as_deref() == Some(reconnect::RECONNECT_NOTICE) {
                self.notice = None;
            }
            return None;
        }
        if self.has_joined() && !connected && self.redial.is_server_shutting_down() {
            return Some(self.server_stopped());
        }
        let mut timeout = SERVER_TIMEOUT;
        if self.has_joined() {
            let was_needed = self.redial.is_reconnecting();
            match self.redial.maintain(world, server) {
                Ok(false) => {}
                Ok(true) => {
                    timeout = reconnect::GRACE;
                    if !was_needed {
                        self.notice = Some(reconnect::RECONNECT_NOTICE.to_owned());
                    }
                }
                Err(end) => return Some(end),
            }
        }
        if self.waited < timeout {
            return None;
        }
        Some(match (self.has_joined(), connected) {
            (true, _) => EndReason::ConnectionLost.because(if self.redial.has_token() {
                format!("the server at {server} has gone; ask for a new token once it is back")
            } else {
                format!("the server at {server} has gone; start it again with: shooter server")
            }),
            (false, true) => EndReason::NoAnswer.because(format!(
                "the server at {server} answers but spawns no pawn; check that it is a shooter server"
            )),
            (false, false) => match_end::no_answer(server, self.redial.has_token()),
        })
    }

    /// Returns the end of a match whose server has announced its stop.
    fn server_stopped(&self) -> MatchEnd {
        let stopped = format!("the server at {} has stopped", self.server);
        EndReason::ServerShutdown.because(match self.stop_reason.as_str() {
            "" => stopped,
            reason => format!("{stopped}: {reason}"),
        })
    }
}

/// Takes the messages of a type, and returns the first one.
fn first<M: Message + ToString>(world: &mut World) -> Option<String> {
    world.resource_mut::<Messages<M>>().drain().next().map(|message| message.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app;

    /// Returns the end of a client that gets the announcement of a stop, if there is one, together with the kick.
    fn end(announcement: Option<&str>) -> MatchEnd {
        let mut client = app::scripted_client(1, default());
        bevy_unlag_testkit::finish(&mut client);
        let world = client.world_mut();
        if let Some(reason) = announcement {
            world.write_message(ServerShutdown { left: Duration::ZERO, reason: KickText::new(reason) });
        }
        world.write_message(KickedByServer(KickReason::Shutdown));
        let server = SocketAddr::from(([127, 0, 0, 1], 9));
        let end = ConnectionMonitor::new(server, ReconnectPolicy::never()).fatal_error(world);
        end.expect("the end of the match")
    }

    #[test]
    fn client_whose_server_stops_is_told_the_announced_reason() {
        for (announcement, text) in [
            (Some("maintenance"), "the server at 127.0.0.1:9 has stopped: maintenance"),
            (Some(""), "the server at 127.0.0.1:9 has stopped"),
            (None, "the server at 127.0.0.1:9 has stopped"),
        ] {
            let end = end(announcement);
            assert_eq!((end.reason, end.text.as_str()), (EndReason::ServerShutdown, text));
        }
    }
}

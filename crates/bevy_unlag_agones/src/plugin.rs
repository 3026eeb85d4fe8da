//! Plugin that keeps the life cycle of the server and of Agones' game server together.

use bevy::prelude::*;
use bevy_unlag_server::{ServerHealth, ServerLifeCyclePlugin, ServerState, WatchdogPlugin};
use checked_ron::OneLine;

use crate::{
    allocation::AgonesAllocation,
    config::{AgonesConfig, PORT_VARIABLE, address_from_environment},
    connection::Agones,
    game_server::{ALLOCATED, GameServer},
    log_target::LOG,
    players,
    sdk_client::Command,
};

/// Makes a dedicated server part of a fleet of Agones:
///
/// | [`ServerState`] | Agones |
/// | --- | --- |
/// | `Ready` | `POST /ready` |
/// | `Allocated`, written by the game | `POST /allocate` |
/// | `Allocated`, written by this plugin with an [`AgonesAllocation`] | The game server has been allocated. |
/// | `Draining`, unless it is allocated | `POST /reserve`: nobody allocates it any more. |
/// | The app exits | `POST /shutdown`; the exit waits for [`AgonesConfig::shutdown_wait`] at most. |
///
/// Besides it pings Agones as long as [`ServerHealth`] is healthy, and keeps the counter and the list of players.
/// Requests without an answer are repeated: the sidecar may start after the server.
///
/// Adds [`ServerLifeCyclePlugin`] and [`WatchdogPlugin`] if they are missing, so add it after them. Without a sidecar
/// it does nothing, after one line in the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgonesPlugin;

impl Plugin for AgonesPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<ServerLifeCyclePlugin>() {
            app.add_plugins(ServerLifeCyclePlugin);
        }
        if !app.is_plugin_added::<WatchdogPlugin>() {
            app.add_plugins(WatchdogPlugin);
        }
        app.init_resource::<AgonesConfig>()
            .init_resource::<Agones>()
            .register_type::<AgonesConfig>()
            .register_type::<Agones>()
            .register_type::<AgonesAllocation>()
            .add_plugins(players::plugin)
            // In the first update, not before: the watchdog looks from then on.
            .add_systems(First, connect.run_if(run_once))
            .add_systems(Last, (follow, shut_down).chain());
    }
}

fn connect(config: Res<AgonesConfig>, health: Res<ServerHealth>, mut agones: ResMut<Agones>) {
    let Some(address) = config.address else {
        match address_from_environment() {
            Err(error) => error!(target: LOG, "Agones is off: {error}"),
            Ok(_) => {
                info!(target: LOG, "Agones is off: no address of a sidecar; Agones sets {PORT_VARIABLE}");
            }
        }
        return;
    };
    match Agones::connect(address, &config, &health) {
        Ok(connection) => {
            info!(target: LOG, %address, "Agones is on");
            *agones = connection;
        }
        Err(error) => error!(target: LOG, %error, "Agones is off: its threads cannot start"),
    }
}

/// Last known states of the server and of Agones' game server.
#[derive(Default)]
struct Known {
    /// State that Agones knows of, or that comes from it.
    state: ServerState,
    /// Agones' state.
    game_server: String,
    /// Time of the newest allocation that was seen.
    last_allocated: Option<String>,
}

impl Known {
    /// Notes what Agones says. Returns whether it is an allocation.
    fn update(&mut self, seen: &GameServer) -> bool {
        let last_allocated = seen.last_allocated().map(str::to_owned);
        let was_allocated = self.game_server == ALLOCATED;
        let is_new = seen.is_allocated() && (!was_allocated || last_allocated != self.last_allocated);
        if self.game_server != seen.state {
            info!(target: LOG, state = %OneLine::name(&seen.state), "Agones has changed the game server's state");
        }
        self.game_server.clone_from(&seen.state);
        self.last_allocated = last_allocated;
        // One that was made by the game is on the server already.
        is_new && (was_allocated || self.state != ServerState::Allocated)
    }
}

fn follow(
    agones: Res<Agones>,
    mut state: ResMut<ServerState>,
    mut known: Local<Known>,
    mut commands: Commands,
) {
    let Some(shared) = agones.shared() else { return };
    if let Some(seen) = shared.take()
        && known.update(&seen)
    {
        if state.is_running() {
            *state = ServerState::Allocated;
            known.state = ServerState::Allocated;
            info!(target: LOG, game_server = %OneLine::name(&seen.name), "allocated");
            commands.trigger(AgonesAllocation::from(seen));
        } else {
            warn!(target: LOG, "Agones has allocated a server that stops");
        }
    }
    if *state == known.state {
        return;
    }
    known.state = *state;
    match *state {
        ServerState::Ready => agones.push(Command::Ready),
        ServerState::Allocated => agones.push(Command::Allocate),
        ServerState::Draining if known.game_server != ALLOCATED => agones.push(Command::Reserve),
        ServerState::Starting | ServerState::Draining | ServerState::Stopped => {}
    }
}

fn shut_down(mut exits: MessageReader<AppExit>, agones: Res<Agones>, config: Res<AgonesConfig>) {
    if exits.read().next().is_none() {
        return;
    }
    let Some(shared) = agones.shared() else { return };
    if shared.queue.shut_down(config.shutdown_wait) {
        info!(target: LOG, "Agones knows that the server is over");
    } else {
        warn!(target: LOG, "the Agones sidecar has not taken the shutdown; the server ends without");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn seen(state: &str, last_allocated: Option<&str>) -> GameServer {
        let annotations =
            last_allocated.map(|time| ("agones.dev/last-allocated".to_owned(), time.to_owned()));
        GameServer {
            state: state.to_owned(),
            annotations: BTreeMap::from_iter(annotations),
            ..GameServer::default()
        }
    }

    #[test]
    fn allocation_is_noticed_once_and_again_when_it_is_another() {
        let mut known = Known::default();
        let sequence = [
            (seen("Ready", None), false),
            (seen("Allocated", Some("1")), true),
            (seen("Allocated", Some("1")), false),
            (seen("Allocated", Some("2")), true),
            (seen("Ready", Some("2")), false),
            (seen("Allocated", Some("3")), true),
            (seen("Shutdown", Some("3")), false),
        ];
        for (i, (seen, expected)) in sequence.into_iter().enumerate() {
            assert_eq!(known.update(&seen), expected, "number {i}");
        }
    }

    #[test]
    fn allocation_by_the_game_is_not_one_from_outside() {
        // Agones' local server sets no time.
        for (first, second) in [(Some("1"), Some("2")), (None, None)] {
            let mut known = Known { state: ServerState::Allocated, ..Known::default() };
            assert!(!known.update(&seen("Ready", None)));
            assert!(!known.update(&seen("Allocated", first)));
            assert_eq!(known.update(&seen("Allocated", second)), second.is_some());
        }
    }
}

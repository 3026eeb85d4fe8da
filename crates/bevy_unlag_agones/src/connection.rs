//! Connection of an app to Agones' sidecar.

use core::net::SocketAddr;
use std::{collections::BTreeSet, io, sync::Arc, thread};

use bevy::prelude::*;
use bevy_unlag_server::ServerHealth;

use crate::{
    config::AgonesConfig,
    game_server_stream::watch,
    log_target::LOG,
    sdk_client::{Command, SdkClient},
    shared_state::Shared,
    worker::Worker,
};

/// Longest key and value of a label or an annotation, in bytes. Agones refuses keys and labels of more than 63.
const MAX_TEXT: usize = 16 << 10;

/// Connection to Agones. Games set labels and annotations by it; [`AgonesPlugin`](crate::AgonesPlugin) does the rest.
/// Without a sidecar it is off, and its methods do nothing. Clones are the same connection.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(opaque)]
#[reflect(Resource, Debug, Default)]
pub struct Agones(Option<Arc<Connection>>);

impl Agones {
    /// Whether there is a sidecar: its address is known, it need not answer yet. False until the app's first update.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Sets a label of the game server, by which matchmakers select it. Agones puts `agones.dev/sdk-` before the key.
    /// Keys and values have at most 63 letters, digits, `-`, `_` and `.`; the log has a line about others.
    pub fn set_label(&self, key: impl Into<String>, value: impl Into<String>) {
        self.push(Command::SetLabel { key: key.into(), value: value.into() });
    }

    /// Sets an annotation of the game server. Agones puts `agones.dev/sdk-` before the key. The value is any text of at
    /// most 16 KiB.
    pub fn set_annotation(&self, key: impl Into<String>, value: impl Into<String>) {
        self.push(Command::SetAnnotation { key: key.into(), value: value.into() });
    }

    pub(crate) fn connect(
        address: SocketAddr,
        config: &AgonesConfig,
        health: &ServerHealth,
    ) -> io::Result<Self> {
        let client = SdkClient::new(address);
        let connection = Connection { client: client.clone(), shared: Arc::default() };
        let worker = Worker::new(client.clone(), connection.shared.clone(), config, health.clone());
        thread::Builder::new().name("agones".to_owned()).spawn(move || worker.run())?;
        let (shared, limit) = (connection.shared.clone(), config.retry_limit);
        let watcher = thread::Builder::new().name("agones watch".to_owned());
        watcher.spawn(move || watch(&client, &shared, limit))?;
        Ok(Self(Some(Arc::new(connection))))
    }

    pub(crate) fn push(&self, command: Command) {
        let Some(connection) = &self.0 else { return };
        let is_long = match &command {
            Command::SetLabel { key, value } | Command::SetAnnotation { key, value } => {
                key.len().max(value.len()) > MAX_TEXT
            }
            _ => false,
        };
        if is_long {
            warn!(target: LOG, "a label or an annotation is too long, and not set");
        } else if !connection.shared.queue.push(command) {
            warn!(target: LOG, "too many commands wait for the Agones sidecar: one is lost");
        }
    }

    pub(crate) fn set_players(&self, names: impl Iterator<Item = String>) {
        if let Some(connection) = &self.0 {
            connection.shared.queue.set_players(names.collect::<BTreeSet<_>>());
        }
    }

    pub(crate) fn shared(&self) -> Option<&Shared> {
        self.0.as_ref().map(|connection| &*connection.shared)
    }
}

/// The app's end of the connection. The threads end when it is dropped.
#[derive(Debug)]
struct Connection {
    client: SdkClient,
    shared: Arc<Shared>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.client.close();
    }
}

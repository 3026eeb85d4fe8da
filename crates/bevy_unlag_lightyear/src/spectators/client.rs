//! Spectator's client: a [`Playback`] that grows with the stream.

use bevy::prelude::*;
use bevy_unlag_record::{
    ChunkKind, Playback, PlaybackPlugin, PlaybackSystems, RecordError, RecordSetup, StreamChunk, StreamReader,
};
use lightyear::prelude::{Client, Connected, MessageReceiver, MessageSystems};

use crate::{bandwidth::Bandwidth, protocol::SpectatorMessage, record::current_record_setup};

/// Shows a match to a client that watches it as a [`Spectator`](crate::Spectator). When the stream begins, the plugin
/// inserts a [`Playback`], which follows the match until it is paused or moved, and adds every segment that arrives.
/// After the connection ends the playback stays, until the next stream begins. Add it after
/// [`UnlagClientNetPlugin`](crate::UnlagClientNetPlugin); it adds [`PlaybackPlugin`] if that is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpectatorPlugin {
    /// Most bytes of the stream that are kept, for going back in the match. Default:
    /// [`Playback::STREAM_BYTES`], 64 MiB: about two and a half hours of eight players.
    pub history_bytes: usize,
}

impl Default for SpectatorPlugin {
    fn default() -> Self {
        Self { history_bytes: Playback::STREAM_BYTES }
    }
}

/// State of the stream that a spectator's client receives.
#[derive(Resource, Clone, Debug, Default)]
pub struct SpectatorStream {
    history_bytes: usize,
    reader: StreamReader,
    setup: Option<StreamChunk>,
    is_begun: bool,
    segments: u64,
    bytes: u64,
    error: Option<String>,
}

impl SpectatorStream {
    /// Returns the segments that have arrived.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Returns the bytes that have arrived.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns why the stream cannot be shown, in one line.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

impl Plugin for SpectatorPlugin {
    fn build(&self, app: &mut App) {
        bevy_unlag_core::require_plugin(app, PlaybackPlugin);
        app.insert_resource(SpectatorStream { history_bytes: self.history_bytes, ..default() })
            .add_observer(begin)
            .add_systems(PreUpdate, receive.after(MessageSystems::Receive))
            .configure_sets(PostUpdate, PlaybackSystems::Advance);
    }
}

/// Expects a new stream from a new connection.
fn begin(
    connected: On<Add, Connected>,
    clients: Query<(), With<Client>>,
    mut stream: ResMut<SpectatorStream>,
) {
    if clients.contains(connected.entity) {
        *stream = SpectatorStream { history_bytes: stream.history_bytes, ..default() };
    }
}

fn receive(world: &mut World, links: &mut QueryState<&mut MessageReceiver<SpectatorMessage>, With<Client>>) {
    let mut parts = Vec::new();
    world.resource_scope(|world, mut bandwidth: Mut<Bandwidth>| {
        for mut link in links.iter_mut(world) {
            parts.extend(bandwidth.receive(&mut link));
        }
    });
    for SpectatorMessage(part) in parts {
        let mut stream = world.resource_mut::<SpectatorStream>();
        if stream.error.is_some() {
            return;
        }
        stream.bytes += part.len() as u64;
        let read = stream.reader.push(&part);
        let shown = read.and_then(|chunks| chunks.into_iter().try_for_each(|chunk| show(world, chunk)));
        if let Err(error) = shown {
            let line = format!("the match cannot be watched: {error}");
            warn!(target: "bevy_unlag::spectator", "{line}");
            world.resource_mut::<SpectatorStream>().error = Some(line);
        }
    }
}

fn show(world: &mut World, chunk: StreamChunk) -> Result<(), RecordError> {
    let mut stream = world.resource_mut::<SpectatorStream>();
    match chunk.header().kind {
        ChunkKind::Index => return Ok(()),
        ChunkKind::Setup => {
            (stream.setup, stream.is_begun) = (Some(chunk), false);
            return Ok(());
        }
        ChunkKind::Segment => stream.segments += 1,
    }
    if stream.is_begun {
        // The game may have removed it.
        return world.get_resource_mut::<Playback>().map_or(Ok(()), |mut playback| playback.push(&chunk));
    }
    let (setup, bytes) = (stream.setup.clone().ok_or(RecordError::NoSetup)?, stream.history_bytes);
    let own = own_setup(world);
    let playback = Playback::of_stream(&setup, &chunk, &own, bytes)?;
    world.insert_resource(playback);
    world.resource_mut::<SpectatorStream>().is_begun = true;
    Ok(())
}

/// Returns the setup of this build. The game loads the level by its name, perhaps only now.
fn own_setup(world: &mut World) -> RecordSetup {
    RecordSetup { level_hash: 0, ..current_record_setup(world, "", "") }
}

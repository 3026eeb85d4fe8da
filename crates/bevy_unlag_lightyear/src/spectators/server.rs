//! Stream of the recording, sent to each spectator within its budget.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, SimulationRate};
use bevy_unlag_record::StreamChunk;
use lightyear::{
    link::Link,
    prelude::{server::ClientOf, *},
};
use lightyear_guard::{Kick, KickReason, PendingKick};
use lightyear_transport::channel::ChannelKind;

use super::{Spectator, history::SpectatorHistory};
use crate::{
    bandwidth::Bandwidth,
    messages::ReliableSendQueue,
    protocol::{SpectatorChannel, SpectatorMessage},
    record::{MatchRecording, RecordPlugin, stream_setup},
    session::MatchRestarted,
};

/// Bytes of a message.
const MESSAGE_BYTES: usize = 1_000;

/// Settings of a server for its spectators. May be changed at any time.
#[doc(alias = "tv_delay")]
#[doc(alias = "tv_maxclients")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct SpectatorConfig {
    /// Time in the match by which spectators are behind at least; nothing that is younger is sent. Default 30 s, so
    /// that a spectator cannot tell a player where the others are. Raising it costs memory for as much of the stream.
    /// [`Spectator::delay`] overrides it for one of them.
    pub delay: Duration,
    /// Most spectators at once; further ones are kicked with
    /// [`KickReason::Spectators`](lightyear_guard::KickReason::Spectators). Default 128. They also count as clients of
    /// [`ServerAccess::max_clients`](lightyear_guard::ServerAccess::max_clients).
    pub max_spectators: usize,
    /// Most bytes per second for each spectator, retransmissions included. Default 64,000, twice what 64 players take.
    /// Raising it shows a match to a newcomer earlier.
    pub bytes_per_second: u32,
    /// Time in the match after which a spectator that cannot keep up skips what it has missed, up to the newest
    /// segment. Default 8 s. Raising it skips less often and lets slow spectators fall farther behind.
    pub max_lag: Duration,
}

impl Default for SpectatorConfig {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(30),
            max_spectators: 128,
            bytes_per_second: 64_000,
            max_lag: Duration::from_secs(8),
        }
    }
}

/// Counters of the stream that a server sends to its spectators.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct SpectatorStats {
    /// Spectators that are connected.
    pub spectators: usize,
    /// Segments that were sent, or begun.
    pub sent_segments: u64,
    /// Segments that slow spectators have skipped.
    pub skipped_segments: u64,
}

/// Sends the stream of the recording to each [`Spectator`] of a server. Add it after
/// [`RecordPlugin`], which it adds itself otherwise. The match is recorded in memory from the first frame on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpectatorServerPlugin;

impl Plugin for SpectatorServerPlugin {
    fn build(&self, app: &mut App) {
        bevy_unlag_core::require_plugin(app, RecordPlugin::default());
        app.world_mut().resource_mut::<MatchRecording>().keep_streaming();
        app.init_resource::<SpectatorConfig>()
            .init_resource::<SpectatorStats>()
            .init_resource::<SpectatorHistory>()
            .add_observer(admit)
            .add_observer(|_: On<MatchRestarted>, mut history: ResMut<SpectatorHistory>| history.setup = None)
            .add_systems(First, prepare_setup.run_if(is_setup_missing))
            .add_systems(PostUpdate, (collect, send).chain().before(MessageSystems::Send))
            .add_systems(Last, account);
    }
}

/// On the server's end of a spectator's link: how much of the stream it was sent.
#[derive(Component, Default, Debug)]
struct StreamCursor {
    queue: ReliableSendQueue,
    /// Chunk that is being sent, and the bytes of it that were passed on.
    current: Option<(StreamChunk, usize)>,
    has_setup: bool,
    /// Number of the next segment; the first one is chosen when it is released.
    next: Option<u64>,
}

impl StreamCursor {
    /// Returns the next bytes of the current chunk.
    fn part(&mut self) -> Option<Vec<u8>> {
        let (chunk, sent) = self.current.as_mut()?;
        let rest = chunk.bytes().get(*sent..).unwrap_or_default();
        let part = rest.get(..MESSAGE_BYTES).unwrap_or(rest).to_vec();
        *sent += part.len();
        if *sent >= chunk.bytes().len() {
            self.current = None;
        }
        Some(part)
    }
}

/// Gives a spectator its stream, or no place.
fn admit(
    added: On<Add, Spectator>,
    config: Res<SpectatorConfig>,
    others: Query<(), (With<StreamCursor>, Without<PendingKick>)>,
    mut commands: Commands,
) {
    let entity = added.entity;
    if others.iter().len() < config.max_spectators {
        commands.entity(entity).insert_if_new(StreamCursor::default());
    } else {
        commands.trigger(Kick { entity, reason: KickReason::Spectators });
    }
}

fn is_setup_missing(history: Res<SpectatorHistory>, waiting: Query<(), With<StreamCursor>>) -> bool {
    history.setup.is_none() && !waiting.is_empty()
}

fn prepare_setup(world: &mut World) {
    let setup = stream_setup(world);
    let chunk = StreamChunk::of_setup(&setup);
    if chunk.is_none() {
        error_once!("the setup of the match is too large for a stream: spectators see nothing");
    }
    world.resource_mut::<SpectatorHistory>().setup = chunk;
}

fn ticks(time: Duration, rate: &SimulationRate) -> i32 {
    (time.as_secs_f64() / rate.tick.as_secs_f64().max(1e-4)).ceil().min(1e9) as i32
}

/// Takes the segments that the recorder has finished.
fn collect(
    (config, rate): (Res<SpectatorConfig>, Res<SimulationRate>),
    spectators: Query<&Spectator>,
    mut recording: ResMut<MatchRecording>,
    mut history: ResMut<SpectatorHistory>,
) {
    let Some(recorder) = recording.recorder() else { return };
    let segments = recorder.take_stream();
    if segments.is_empty() {
        return;
    }
    let own = spectators.iter().filter_map(|spectator| spectator.delay).max().unwrap_or_default();
    let kept = ticks(config.delay.max(own) + config.max_lag, &rate).saturating_add(ticks(KEPT, &rate));
    segments.into_iter().for_each(|segment| history.push(segment, kept));
}

/// Time for which segments are kept beyond the delay, so that there is always one for a newcomer.
const KEPT: Duration = Duration::from_secs(10);

type Line = (
    &'static Spectator,
    &'static mut StreamCursor,
    &'static mut MessageSender<SpectatorMessage>,
    &'static Link,
);

fn send(
    (tick, rate, time): (Res<CurrentTick>, Res<SimulationRate>, Res<Time<Real>>),
    (config, history): (Res<SpectatorConfig>, Res<SpectatorHistory>),
    mut links: Query<Line, (With<ClientOf>, With<Connected>, Without<PendingKick>)>,
    (mut stats, mut bandwidth): (ResMut<SpectatorStats>, ResMut<Bandwidth>),
) {
    stats.spectators = links.iter().len();
    let (bytes, lag) = (config.bytes_per_second as f32, ticks(config.max_lag, &rate));
    for (spectator, mut cursor, mut sender, link) in &mut links {
        cursor.queue.refill(bytes, time.delta());
        loop {
            if let Some(part) = cursor.queue.next(bytes, link.stats.rtt) {
                bandwidth.send(&mut sender, part);
                continue;
            }
            // One message waits at most: what is chosen later may skip ahead.
            if cursor.queue.has_queued() {
                break;
            }
            if cursor.current.is_none() {
                if !cursor.has_setup {
                    let Some(setup) = &history.setup else { break };
                    (cursor.has_setup, cursor.current) = (true, Some((setup.clone(), 0)));
                } else {
                    let released =
                        history.released(tick.0, ticks(spectator.delay.unwrap_or(config.delay), &rate));
                    let Some(number) = history.next(&released, cursor.next, lag) else { break };
                    let Some(segment) = history.segment(number) else { break };
                    stats.sent_segments += 1;
                    stats.skipped_segments += number - cursor.next.unwrap_or(number);
                    (cursor.next, cursor.current) = (Some(number + 1), Some((segment.clone(), 0)));
                }
            }
            let Some(part) = cursor.part() else { break };
            cursor.queue.push(part, usize::MAX);
        }
    }
}

/// Reads from lightyear which messages were sent and acknowledged.
fn account(mut links: Query<(&Transport, &mut StreamCursor)>) {
    for (transport, mut cursor) in &mut links {
        let cursor = cursor.bypass_change_detection();
        if let Some(channel) = transport.channel_send(ChannelKind::of::<SpectatorChannel>()) {
            let (sent, acked) = (channel.messages_sent().iter(), channel.message_acks().iter());
            cursor.queue.account(sent.map(|id| id.0), acked.map(|id| id.0), |_| ());
        }
    }
}

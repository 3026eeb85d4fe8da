//! Resource that starts and stops recordings.

use std::{collections::HashMap, path::PathBuf};

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{NetId, ProxyUpdate, SimulationRate, Tick};
use bevy_unlag_record::{
    Extra, HiddenNotice, MatchRecorder, PlayerNumber, RecorderConfig, RecorderStats, Roster,
};
use bevy_unlag_weapons::ShotJournal;
use lightyear::prelude::PeerId;

use super::{RecordPlugin, sent_rows::SentRows, setup::stream_setup};

/// Target of log lines.
const TARGET: &str = "bevy_unlag::record";

/// Request of the game, until the next frame.
#[derive(Debug)]
enum Request {
    Start(PathBuf),
    Stop,
    SaveRing(PathBuf),
}

/// Recording of the current match, on a server with a [`RecordPlugin`]. Start and stop it at any time.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_lightyear::MatchRecording;
///
/// fn record_the_final(mut recording: ResMut<MatchRecording>) {
///     recording.start("final.unlagrec");
/// }
///
/// fn save_the_last_seconds(mut recording: ResMut<MatchRecording>) {
///     recording.save_ring("highlight.unlagrec");
/// }
/// ```
///
/// A disk that is full or fails ends the file, with an error in the log, and never the match.
#[derive(Resource, Debug)]
pub struct MatchRecording {
    config: RecordPlugin,
    requests: Vec<Request>,
    recorder: Option<MatchRecorder>,
    /// Recorders whose threads still write.
    ending: Vec<MatchRecorder>,
    is_file_wanted: bool,
    /// Whether spectators need the recording, with or without files.
    is_streaming: bool,
    players: HashMap<PeerId, PlayerNumber>,
    names: HashMap<PeerId, String>,
    pub(super) links: EntityHashMap<PlayerNumber>,
    rows: SentRows,
    reported: Option<String>,
}

impl MatchRecording {
    pub(super) fn new(config: RecordPlugin) -> Self {
        Self {
            config,
            requests: Vec::new(),
            recorder: None,
            ending: Vec::new(),
            is_file_wanted: false,
            is_streaming: false,
            players: HashMap::new(),
            names: HashMap::new(),
            links: EntityHashMap::default(),
            rows: SentRows::default(),
            reported: None,
        }
    }

    /// Starts a file from the next frame on, within a segment's length. A file that is open is closed.
    pub fn start(&mut self, path: impl Into<PathBuf>) {
        self.requests.push(Request::Start(path.into()));
    }

    /// Closes the file. The ring goes on.
    pub fn stop(&mut self) {
        self.requests.push(Request::Stop);
    }

    /// Writes the ring of the last seconds into a file of its own. Without a ring nothing is written.
    pub fn save_ring(&mut self, path: impl Into<PathBuf>) {
        self.requests.push(Request::SaveRing(path.into()));
    }

    /// Sets the name of the level for files that start later.
    pub fn set_level(&mut self, level: impl Into<String>) {
        self.config.level = level.into();
    }

    /// Sets the name of a player in recordings.
    pub fn name_player(&mut self, player: PeerId, name: impl Into<String>) {
        self.names.insert(player, name.into());
    }

    /// Returns whether a file, the ring or the stream for spectators is being recorded.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns what has been written and what went wrong; `None` while nothing is recorded.
    #[must_use]
    pub fn stats(&self) -> Option<RecorderStats> {
        self.recorder.as_ref().map(MatchRecorder::stats)
    }

    /// Returns the recorder, for entries of the game's own; `None` while nothing is recorded.
    pub fn recorder(&mut self) -> Option<&mut MatchRecorder> {
        self.recorder.as_mut()
    }

    /// Records from the next frame on, for spectators.
    pub(crate) fn keep_streaming(&mut self) {
        self.is_streaming = true;
    }

    /// Returns the names of the game and the level.
    pub(super) fn names(&self) -> (String, String) {
        (self.config.game.clone(), self.config.level.clone())
    }

    /// Returns whether it records without a file, too.
    fn is_kept(&self) -> bool {
        self.is_streaming || !self.config.ring.is_zero()
    }

    pub(super) fn has_requests(&self) -> bool {
        !self.requests.is_empty() || self.recorder.is_none() && self.is_kept()
    }

    pub(super) fn number_of(&mut self, peer: PeerId) -> PlayerNumber {
        let next = PlayerNumber(u16::try_from(self.players.len()).unwrap_or(u16::MAX));
        *self.players.entry(peer).or_insert(next)
    }

    pub(super) fn name_of(&self, peer: PeerId) -> &str {
        self.names.get(&peer).map_or("", String::as_str)
    }

    /// Notes which updates of the frame a link was sent, by their indices, of `all`. `over_budget`: whether its
    /// bandwidth budget left any out.
    pub(crate) fn note_sent(
        &mut self,
        link: Entity,
        (all, over_budget): (usize, bool),
        sent: impl Iterator<Item = usize>,
    ) {
        if let Some(player) = self.links.get(&link) {
            self.rows.push(*player, (all, over_budget), sent);
        }
    }

    /// Records a notice to a link about pawns that it is not sent after `since`.
    pub(crate) fn note_hidden(&mut self, link: Entity, since: Tick, pawns: &[NetId]) {
        if let (Some(player), Some(recorder)) = (self.links.get(&link), &mut self.recorder) {
            for some in pawns.chunks(HiddenNotice::MAX_PAWNS) {
                recorder.hidden(&HiddenNotice { player: *player, since, pawns: some.to_vec() });
            }
        }
    }

    /// Records bytes of another part of the suite, if a recording is in progress.
    pub(crate) fn note_bytes(&mut self, channel: u8, bytes: &[u8]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.extra(&Extra { channel, bytes: bytes.to_vec() });
        }
    }

    pub(super) fn roster(&self) -> Option<&Roster> {
        self.recorder.as_ref().map(MatchRecorder::roster)
    }

    /// Records the updates of a frame, for the links that were noted.
    pub(crate) fn publish<'a>(&mut self, updates: impl Iterator<Item = (NetId, &'a ProxyUpdate)>) {
        if let Some(recorder) = &mut self.recorder {
            let rows = &self.rows;
            recorder.publish(updates, |player| rows.of(player));
        }
        self.rows.clear();
    }
}

/// Fulfils the game's requests.
pub(super) fn start(world: &mut World) {
    let setup = stream_setup(world);
    let tick = world.resource::<SimulationRate>().tick.as_secs_f64().max(1e-4);
    let mut recording = world.resource_mut::<MatchRecording>();
    let recording = &mut *recording;
    let ticks = |time: core::time::Duration| (time.as_secs_f64() / tick).round() as u32;
    let has_ring = !recording.config.ring.is_zero();
    let begin = |recording: &mut MatchRecording| {
        let config = RecorderConfig {
            segment_ticks: ticks(recording.config.segment).max(1),
            ring_ticks: ticks(recording.config.ring),
            queue: recording.config.queue,
            stream: recording.is_streaming,
            ..RecorderConfig::default()
        };
        recording.recorder.get_or_insert_with(|| MatchRecorder::new(setup.clone(), config));
    };
    let is_kept = recording.is_kept();
    if is_kept {
        begin(recording);
    }
    for request in core::mem::take(&mut recording.requests) {
        match request {
            Request::Start(path) => {
                begin(recording);
                recording.is_file_wanted = true;
                info!(target: TARGET, file = %path.display(), "recording");
                if let Some(recorder) = &mut recording.recorder {
                    recorder.set_setup(setup.clone());
                    recorder.open_file(path);
                }
            }
            Request::Stop => {
                recording.is_file_wanted = false;
                if let Some(recorder) = &mut recording.recorder {
                    recorder.close_file();
                }
            }
            Request::SaveRing(path) if has_ring => {
                if let Some(recorder) = &mut recording.recorder {
                    recorder.set_setup(setup.clone());
                    recorder.save_ring(path);
                }
            }
            Request::SaveRing(_) => warn!(target: TARGET, "there is no ring to save: set RecordPlugin::ring"),
        }
    }
    if !is_kept
        && !recording.is_file_wanted
        && let Some(mut recorder) = recording.recorder.take()
    {
        recorder.finish();
        recording.ending.push(recorder);
        recording.links.clear();
    }
    let is_recording = recording.is_recording();
    if !is_recording {
        world.remove_resource::<ShotJournal>();
    } else if !world.contains_resource::<ShotJournal>() {
        world.init_resource::<ShotJournal>();
    }
}

/// Logs errors of files, each once, and lets recorders end that have finished.
pub(super) fn report_errors(mut recording: ResMut<MatchRecording>, mut frames: Local<u32>) {
    *frames = frames.wrapping_add(1);
    if !frames.is_multiple_of(32) {
        return;
    }
    let recording = &mut *recording;
    let error = recording.recorder.as_ref().and_then(|recorder| recorder.stats().error);
    if error.is_some() && error != recording.reported {
        error!(target: TARGET, "{}", error.as_deref().unwrap_or_default());
        recording.reported = error;
    }
    recording.ending.retain_mut(|recorder| {
        let is_over = recorder.is_finished();
        if is_over && let Some(error) = recorder.stats().error {
            error!(target: TARGET, "{error}");
        }
        !is_over
    });
}

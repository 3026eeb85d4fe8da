//! Thread that compresses segments, writes the file and keeps the ring.

use core::time::Duration;
use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
};

use bevy::platform::time::Instant;
use bevy_unlag_core::Tick;

use crate::{
    chunk::{ChunkKind, encode},
    file_writer::FileWriter,
    recorder::RecorderConfig,
    ring::Ring,
    setup::RecordSetup,
    stream::{StreamChunk, StreamQueue},
};

/// Counters and errors of a recorder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecorderStats {
    /// Segments that were compressed.
    pub segments: u64,
    /// Segments that were left out: the thread was behind, or a segment was too large.
    pub dropped_segments: u64,
    /// Bytes in files so far.
    pub file_bytes: u64,
    /// Bytes in the ring.
    pub ring_bytes: u64,
    /// Ticks in the ring.
    pub ring_ticks: u32,
    /// Whether a file is open.
    pub is_file_open: bool,
    /// Files that are complete.
    pub closed_files: u64,
    /// Last error of a file, in one line. The file is closed at its first error, and recording goes on without it.
    pub error: Option<String>,
}

/// Work for the thread.
#[derive(Debug)]
pub(crate) enum Command {
    Segment { content: Vec<u8>, sequence: u32, ticks: (Tick, Tick) },
    Open { path: PathBuf, setup: RecordSetup },
    Close,
    SaveRing { path: PathBuf, setup: RecordSetup },
}

/// Handle of the thread, and the commands that wait for it.
#[derive(Debug)]
pub(crate) struct Worker {
    sender: Option<SyncSender<Command>>,
    thread: Option<JoinHandle<()>>,
    waiting: VecDeque<Command>,
    most_waiting: usize,
    stats: Arc<Mutex<RecorderStats>>,
    stream: Option<Arc<Mutex<StreamQueue>>>,
}

impl Worker {
    /// Longest time for which the end of a recorder waits for its thread.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    pub fn start(config: RecorderConfig) -> Self {
        let (sender, receiver) = sync_channel(config.queue.clamp(1, 16));
        let stats = Arc::new(Mutex::new(RecorderStats::default()));
        let stream = config.stream.then(Arc::<Mutex<StreamQueue>>::default);
        let files = Files::new(config, Arc::clone(&stats), stream.clone());
        let work = move || files.run(&receiver);
        let thread = thread::Builder::new().name("unlag_record".to_owned()).spawn(work);
        let thread = thread
            .inspect_err(|error| {
                let line = format!("the thread of the recorder cannot start: {error}");
                stats.lock().unwrap_or_else(PoisonError::into_inner).error = Some(line);
            })
            .ok();
        let sender = thread.is_some().then_some(sender);
        Self { sender, thread, waiting: VecDeque::new(), most_waiting: config.queue.max(1), stats, stream }
    }

    /// Queues a command without waiting. Beyond the limit the oldest segment is left out.
    pub fn queue(&mut self, command: Command) {
        self.waiting.push_back(command);
        self.flush();
        let is_segment = |command: &Command| matches!(command, Command::Segment { .. });
        if self.waiting.iter().filter(|command| is_segment(command)).count() > self.most_waiting
            && let Some(oldest) = self.waiting.iter().position(is_segment)
        {
            self.waiting.remove(oldest);
            self.note(|stats| stats.dropped_segments += 1);
        }
    }

    /// Passes on what waits, as far as the thread has room.
    pub fn flush(&mut self) {
        while let Some(command) = self.waiting.pop_front() {
            let Some(sender) = &self.sender else { continue };
            match sender.try_send(command) {
                Ok(()) => {}
                Err(TrySendError::Full(command)) => {
                    self.waiting.push_front(command);
                    return;
                }
                Err(TrySendError::Disconnected(_)) => self.sender = None,
            }
        }
    }

    pub fn stats(&self) -> RecorderStats {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn take_stream(&self) -> Vec<StreamChunk> {
        let take = |queue: &Arc<Mutex<StreamQueue>>| {
            queue.lock().unwrap_or_else(PoisonError::into_inner).take().collect()
        };
        self.stream.as_ref().map(take).unwrap_or_default()
    }

    fn note(&self, change: impl FnOnce(&mut RecorderStats)) {
        change(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets the thread end once it has done everything. Returns whether it has ended.
    pub fn end(&mut self) -> bool {
        self.flush();
        if self.waiting.is_empty() {
            self.sender = None;
        }
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Lets the thread finish, for a limited time.
    #[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
    pub fn stop(&mut self) {
        let until = Instant::now() + Self::PATIENCE;
        while !self.end() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.sender = None;
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished)
            && thread.join().is_err()
        {
            self.note(|stats| stats.error = Some("the thread of the recorder has panicked".to_owned()));
        }
    }
}

/// The thread's side.
struct Files {
    file: Option<FileWriter>,
    ring: Ring,
    stats: Arc<Mutex<RecorderStats>>,
    stream: Option<Arc<Mutex<StreamQueue>>>,
}

impl Files {
    fn new(
        config: RecorderConfig,
        stats: Arc<Mutex<RecorderStats>>,
        stream: Option<Arc<Mutex<StreamQueue>>>,
    ) -> Self {
        Self { file: None, ring: Ring::new(config.ring_ticks, config.ring_bytes), stats, stream }
    }

    fn run(mut self, commands: &Receiver<Command>) {
        for command in commands.iter() {
            match command {
                Command::Segment { content, sequence, ticks } => self.segment(&content, sequence, ticks),
                Command::Open { path, setup } => {
                    self.close();
                    let opened = FileWriter::create(&path, &setup);
                    self.file = self.report(opened);
                }
                Command::Close => self.close(),
                Command::SaveRing { path, setup } => {
                    let saved = self.ring.save(&path, &setup);
                    if let Some(bytes) = self.report(saved) {
                        self.note(|stats| {
                            stats.file_bytes += bytes;
                            stats.closed_files += 1;
                        });
                    }
                }
            }
            let (is_open, ring_bytes, ring_ticks) =
                (self.file.is_some(), self.ring.bytes() as u64, self.ring.ticks());
            self.note(|stats| {
                (stats.is_file_open, stats.ring_bytes, stats.ring_ticks) = (is_open, ring_bytes, ring_ticks);
            });
        }
        self.close();
    }

    fn segment(&mut self, content: &[u8], sequence: u32, ticks: (Tick, Tick)) {
        let Some((header, bytes)) = encode(ChunkKind::Segment, content, sequence, ticks) else {
            self.note(|stats| stats.dropped_segments += 1);
            return;
        };
        self.note(|stats| stats.segments += 1);
        if let Some(file) = &mut self.file {
            let written = file.append(header, &bytes);
            if self.report(written).is_some() {
                self.note(|stats| stats.file_bytes += bytes.len() as u64);
            } else {
                self.file = None;
            }
        }
        if let Some(stream) = &self.stream {
            let chunk = StreamChunk::new(header, &bytes);
            stream.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        }
        self.ring.push(header, bytes);
    }

    fn close(&mut self) {
        if let Some(file) = self.file.take() {
            let closed = file.close();
            if self.report(closed).is_some() {
                self.note(|stats| stats.closed_files += 1);
            }
        }
    }

    /// Returns the value of a result, or notes its error.
    fn report<T>(&self, result: std::io::Result<T>) -> Option<T> {
        result
            .inspect_err(|error| {
                let line = format!("the recording cannot be written: {error}");
                self.note(|stats| stats.error = Some(line));
            })
            .ok()
    }

    fn note(&self, change: impl FnOnce(&mut RecorderStats)) {
        change(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

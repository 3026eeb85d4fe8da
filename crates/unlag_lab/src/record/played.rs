//! A recorded match of eight players, and the size of its file.

use std::{
    io::Cursor,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use bevy_unlag::{
    net::{Bandwidth, MatchRecording, RecordPlugin},
    record::{Recording, SegmentSizes},
};

use super::poses::{self, DrawnPoses};
use crate::{agreement::CONTROL, prelude::*};

/// Seconds of the file whose size is a figure.
const TEN_MINUTES: f64 = 600.0;

/// A recorded match.
pub struct Played {
    /// The file.
    pub bytes: Vec<u8>,
    /// Seconds that it covers.
    pub seconds: f64,
    /// Bytes of the messages that the server sent to the clients meanwhile.
    sent_bytes: u64,
    /// Poses that each client drew, and its own recording of them.
    pub screens: Vec<(DrawnPoses, Vec<u8>)>,
}

/// Returns a path for a file that is removed soon.
pub fn temporary_file(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("unlag_lab_{}_{name}_{number}.unlagrec", std::process::id()))
}

/// Reads a file and removes it.
fn take_file(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let _ = std::fs::remove_file(path);
    bytes
}

/// Plays and records a match of eight.
pub fn play(options: &Options) -> Result<Played, String> {
    let seconds = options.extent(30.0, TEN_MINUTES);
    let match_options = MatchOptions {
        players: 8,
        conditions: CONTROL.conditions(),
        seed: options.seed,
        fps: 60.0,
        ..default()
    };
    let path = temporary_file("match");
    let mut game = Match::start_with(&match_options, |server| {
        server.add_plugins(RecordPlugin {
            level: "arena".to_owned(),
            // Stepped time is faster than a disk.
            queue: 1 << 16,
            ..default()
        });
    })?;
    let files = poses::watch(&mut game);
    let sent = |game: &Match| game.server.world().resource::<Bandwidth>().down().bytes;
    let before = sent(&game);
    game.server.world_mut().resource_mut::<MatchRecording>().start(&path);
    game.fight(seconds - 3.0);
    let sent_bytes = sent(&game) - before;
    game.server.world_mut().resource_mut::<MatchRecording>().stop();
    game.run(TICK * 3);
    let drawn = poses::take(&mut game);
    // The recorders wait for their threads.
    drop(game);
    let screens = drawn.into_iter().zip(&files).map(|(drawn, path)| Ok((drawn, take_file(path)?)));
    let screens = screens.collect::<Result<_, String>>()?;
    Ok(Played { bytes: take_file(&path)?, seconds, sent_bytes, screens })
}

impl Played {
    /// Opens the recording.
    ///
    /// # Errors
    /// Returns a message if it cannot be read.
    pub fn open(&self) -> Result<Recording<Cursor<&[u8]>>, String> {
        Recording::read(Cursor::new(&self.bytes[..])).map_err(|error| error.to_string())
    }

    pub fn add_size(&self, figures: &mut Figures) -> Result<(), String> {
        let in_ten_minutes = |bytes: f64| bytes / self.seconds * TEN_MINUTES / 1e6;
        let mut recording = self.open()?;
        let raw: u64 = recording.segments().iter().map(|place| u64::from(place.header.raw_bytes)).sum();
        let mut sizes = SegmentSizes::default();
        for index in 0..recording.segments().len() {
            sizes += recording.sizes(index).map_err(|error| error.to_string())?;
        }
        let mut parts: Vec<_> = sizes.iter().filter(|(_, bits)| *bits > 0).collect();
        parts.sort_by_key(|(_, bits)| core::cmp::Reverse(*bits));
        let parts =
            parts.iter().map(|(name, bits)| format!("{name} {:.2}", in_ten_minutes(*bits as f64 / 8.0)));
        let note = format!(
            "{} bytes in {:.0} s, {} segments; MB before compression: {:.2}, of which {}",
            self.bytes.len(),
            self.seconds,
            recording.segments().len(),
            in_ten_minutes(raw as f64),
            parts.collect::<Vec<_>>().join(", ")
        );
        figures.add_noted("file_mb_10min_8", in_ten_minutes(self.bytes.len() as f64), note)?;
        // What a recorder of each client's messages would write.
        figures.add("control_file_mb_10min_8_messages", in_ten_minutes(self.sent_bytes as f64))
    }
}

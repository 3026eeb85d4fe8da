//! Recordings of networked matches, for Bevy's suite `bevy_unlag` and any other transport.
//!
//! ```text
//!  in every tick of a server                       a thread of its own
//!
//!  updates of pawns, recipients ─┐                      ┌─► file
//!  moves, acknowledgements ──────┼─► MatchRecorder ─► chunks ─► ring of the last seconds
//!  shots, views, marks ──────────┘
//!
//!                                                  file ─► Recording ─► Segment ─► PlayerScreen ─► poses
//! ```
//!
//! * A [`MatchRecorder`] takes what a server knows, tick by tick: updates of pawns and who was sent them, moves,
//!   acknowledgements, views, shots with their verdicts, marks of the game. A thread of its own compresses and writes
//!   it, into a file, a ring of the last seconds in memory, or both.
//! * A [`Recording`] reads a file. It consists of chunks with checksums, so that a file which was cut anywhere is read
//!   up to the cut, and one that is damaged is read around the damage.
//! * A [`Segment`] is what one chunk contains; it needs no other. A [`PlayerScreen`] is what one player's screen had
//!   received: it gives the pose of each pawn at any view time, bit for bit as the live screen drew it.
//! * A [`StreamChunk`] is a chunk on its way to spectators, whose [`Playback`] grows while the match goes on.
//! * A [`Playback`] shows a match in an app with a [`PlaybackPlugin`]: it spawns and poses pawns that the game dresses,
//!   from a free camera, behind a player or through its eyes, at any speed. A [`MatchIndex`] lists what happens.
//! * Updates and inputs are packed by [`Wire`](bevy_unlag_core::Wire), exactly as they were sent.
//!
//! # Example
//!
//! ```
//! use bevy_unlag_core::Tick;
//! use bevy_unlag_record::{Entry, Mark, MatchRecorder, RecordSetup, Recording, RecorderConfig};
//!
//! let path = std::env::temp_dir().join("bevy_unlag_record_example.unlagrec");
//! let mut recorder = MatchRecorder::new(RecordSetup::default(), RecorderConfig::default());
//! recorder.open_file(&path);
//! for tick in 0..300 {
//!     recorder.begin_tick(Tick(tick));
//!     if tick == 200 {
//!         recorder.mark(&Mark { name: "flag".to_owned(), ..Mark::default() });
//!     }
//! }
//! drop(recorder);
//!
//! let mut recording = Recording::open(&path)?;
//! let around = recording.read_span(Tick(200), Tick(200))?;
//! let marks = around.iter().flat_map(|segment| segment.entries());
//! let found = marks.filter(|(_, entry)| matches!(entry, Entry::Mark(mark) if mark.name == "flag"));
//! assert_eq!(found.map(|(tick, _)| tick).collect::<Vec<_>>(), [Tick(200)]);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), bevy_unlag_record::RecordError>(())
//! ```
//!
//! # In the book
//!
//! In the repository, `book/src/reference/recording.md` describes what is recorded, the file format, and the costs.
//! `RecordPlugin` of `bevy_unlag_lightyear` records a match without further code.

mod chunk;
mod crc;
mod entry;
mod error;
mod file_writer;
mod match_index;
mod moves;
mod packing;
mod playback;
mod recorder;
mod recording;
mod ring;
mod roster;
mod screen;
mod segment;
mod setup;
mod stream;
mod worker;

pub use chunk::{ChunkHeader, ChunkKind, MAX_CHUNK_BYTES};
pub use entry::{
    Entry, Extra, HiddenNotice, Mark, PlayerAck, Publication, Recipients, RecordedCorrection, RecordedHit,
    RecordedShot, RecordedTick, RecordedVerdict, RecordedView, ShotOutcome,
};
pub use error::RecordError;
pub use match_index::{IndexedPlayer, IndexedShot, MatchIndex, PlaybackMark, PlaybackMarkKind};
pub use moves::{MoveRecorder, MoveTrack, RecordedMove};
pub use playback::{
    Playback, PlaybackCamera, PlaybackEvent, PlaybackLookPlugin, PlaybackPawn, PlaybackPlugin,
    PlaybackSystems, PlaybackView, ScreenFrame, ScreenPlayback, ScreenSource,
};
pub use recorder::{MatchRecorder, RecorderConfig};
pub use recording::{FileEnd, MAX_SEGMENTS, Recording, SegmentPlace};
pub use roster::{MAX_ROSTER, PlayerNumber, RecordedPawn, RecordedPlayer, Roster, RosterChange};
pub use screen::PlayerScreen;
pub use segment::{MAX_SEGMENT_TICKS, Segment, SegmentSizes};
pub use setup::{RecordDifference, RecordSetup, RecordedSampler};
pub use stream::{StreamChunk, StreamReader};
pub use worker::RecorderStats;

/// First bytes of every file.
pub const FILE_MAGIC: [u8; 8] = *b"UNLAGREC";
/// Version of the file format; changes with every change of the format. A reader refuses other versions.
pub const FORMAT_VERSION: u16 = 2;

//! Disks that fail: recording goes on, and the match never notices.

use core::time::Duration;
use std::time::Instant;

use bevy_unlag_core::Tick;
use bevy_unlag_record::*;

use crate::example_match::{ExampleMatch, TempFile};

#[test]
fn file_that_cannot_be_created_is_reported_and_the_ring_goes_on() {
    let config = RecorderConfig { ring_ticks: 1_000, ..RecorderConfig::default() };
    let mut example = ExampleMatch::new(2, Tick(0), config);
    example.recorder.open_file("/no/such/folder/match.unlagrec");
    example.run(400);
    let until = Instant::now() + Duration::from_secs(10);
    while example.recorder.stats().error.is_none() || example.recorder.stats().ring_ticks == 0 {
        assert!(Instant::now() < until, "{:?}", example.recorder.stats());
        std::thread::sleep(Duration::from_millis(1));
    }
    let stats = example.recorder.stats();
    let error = stats.error.expect("it cannot be created");
    assert!(error.contains("/no/such/folder") && !error.contains('\n'), "{error}");
    assert!(!stats.is_file_open && stats.file_bytes == 0);
    // Another file can be written.
    let file = TempFile::new();
    example.recorder.open_file(&file.0);
    example.run(300);
    drop(example);
    assert_eq!(Recording::open(&file.0).expect("a recording").end(), FileEnd::Closed);
}

/// On Linux every write to this device fails as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_ends_the_file_and_not_the_recorder() {
    let mut example = ExampleMatch::new(2, Tick(0), RecorderConfig::default());
    example.recorder.open_file("/dev/full");
    let slowest = (0..2_000)
        .map(|_| {
            let began = Instant::now();
            example.run(1);
            began.elapsed()
        })
        .max();
    assert!(slowest.is_some_and(|slowest| slowest < Duration::from_millis(500)), "{slowest:?}");
    let until = Instant::now() + Duration::from_secs(10);
    while example.recorder.stats().error.is_none() {
        assert!(Instant::now() < until, "{:?}", example.recorder.stats());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!example.recorder.stats().is_file_open);
}

/// A named pipe without a reader blocks whoever opens it: the slowest of all disks.
#[cfg(target_os = "linux")]
#[test]
fn disk_that_hangs_costs_segments_and_no_time() {
    let pipe = TempFile::new();
    let made = std::process::Command::new("mkfifo").arg(&pipe.0).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is missing");
    let config = RecorderConfig { segment_ticks: 4, queue: 3, ..RecorderConfig::default() };
    let mut example = ExampleMatch::new(2, Tick(0), config);
    example.recorder.open_file(&pipe.0);
    let began = Instant::now();
    example.run(1_000);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let stats = example.recorder.stats();
    assert!(stats.dropped_segments > 200, "{stats:?}");
    // Somebody reads after all: the thread goes on.
    let path = pipe.0.clone();
    let reader = std::thread::spawn(move || std::fs::read(path));
    drop(example);
    let read = reader.join().expect("it reads").expect("it is a pipe");
    assert!(read.starts_with(&FILE_MAGIC), "{} bytes", read.len());
}

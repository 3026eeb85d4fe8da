//! Integration tests: files written by a recorder and read back whole, cut, damaged and of another build.

#![expect(clippy::disallowed_methods, reason = "tests wait for the recorder's thread")]

mod cut_files;
mod damaged_files;
mod example_match;
mod faults;
mod playback;
mod ring;
mod round_trip;
mod screens;
mod seeking;

//! Seeded simulation of bad network links: latency, jitter, loss, bursts, duplication, reordering, rate and
//! pulses.
//!
//! ```text
//!                               seed
//!                                 │
//!  push(now, &conditions, packet) ─► loss, bursts ─► rate ─► latency, jitter, reordering ─► duplication
//!                                                                                               │
//!                                                        pop(now) ◄── queue by due time ◄───────┘
//! ```
//!
//! * [`LinkConditions`] describes one direction of a link; the default is a perfect link.
//! * [`Pulse`] makes those worse for a moment, periodically.
//! * [`Conditioner`] applies conditions to a stream of packets of any type. It has no clock and no socket:
//!   the caller passes the time.
//! * [`LinkPreset`] names conditions worth testing under, from a LAN to unplayable; [`LinkPresets`] is a list
//!   of them, read from a file. [`PRESETS`] are the built-in ones.
//!
//! All randomness comes from a seed and all time from the caller, so a run under stepped time repeats
//! exactly.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use link_conditioner::{Conditioner, LinkPreset};
//!
//! let conditions = LinkPreset::find("Average (UE)")?.up();
//! let mut link = Conditioner::new(7);
//! link.push(Duration::ZERO, &conditions, "hello");
//! assert_eq!(link.pop(Duration::from_millis(20)), None);
//! assert_eq!(link.pop(Duration::from_millis(60)), Some("hello"));
//! # Ok::<(), link_conditioner::UnknownPreset>(())
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `bevy` | no | `Reflect` for the conditions, so that inspectors show and change them. |
//!
//! # In the book
//!
//! In the repository of `bevy_unlag`, `book/src/reference/link_conditioner.md` lists every field, the presets and the
//! form of a file of presets.

mod conditioner;
mod preset;

pub use checked_ron::{RonError, RonFile};
pub use conditioner::{Conditioner, LinkConditions, LinkCounters, MAX_DELAY, MAX_QUEUED, Pulse};
pub use preset::{LinkPreset, LinkPresets, PRESETS, UnknownPreset};

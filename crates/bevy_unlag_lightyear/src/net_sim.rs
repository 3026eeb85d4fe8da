//! Link conditioner: seeded latency, jitter, loss, burst loss, duplication, reordering, rate limits and
//! pulses.
//!
//! * [`LinkConditions`] describes one direction of a link; the default is a perfect link.
//! * [`Pulse`] makes the conditions worse periodically.
//! * [`LinkPreset`] is a named set of conditions, from a LAN to unplayable; [`LinkPresets`] is a list of them
//!   that can be read from a file.
//! * [`Conditioner`] applies conditions to a stream of packets. It depends on neither Bevy nor lightyear.
//! * [`NetSim`] puts two conditioners, one per direction, on a lightyear link; [`NetSimPlugin`] drives them.
//!
//! All randomness comes from the seed and all time from `Time<Real>`, so a run with stepped time is
//! reproducible.

mod conditioner;
mod plugin;
mod preset;

pub use conditioner::{Conditioner, LinkConditions, LinkCounters, MAX_DELAY, MAX_QUEUED, Pulse};
pub use plugin::{NetSim, NetSimPlugin, NetSimSystems};
pub use preset::{LinkPreset, LinkPresets, PRESETS, PresetError, UnknownPreset};

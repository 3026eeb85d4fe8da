//! A bad network on demand: seeded latency, jitter, loss, bursts, duplication, reordering and pulses.
//!
//! * [`LinkConditions`] says how one direction of a link behaves; the default is a perfect link.
//! * [`Pulse`] makes those worse for a moment, again and again.
//! * [`LinkPreset`] names conditions worth testing under, from a LAN to unplayable; [`LinkPresets`] is a list of them,
//!   read from a file.
//! * [`Conditioner`] applies conditions to a stream of packets. It knows neither Bevy nor lightyear.
//! * [`NetSim`] puts two conditioners, one each way, on a lightyear link, and [`NetSimPlugin`]
//!   drives them.
//!
//! All randomness comes from the seed and all time from `Time<Real>`, so a run under stepped time
//! repeats exactly.

mod conditioner;
mod plugin;
mod preset;

pub use conditioner::{Conditioner, LinkConditions, LinkCounters, MAX_DELAY, MAX_QUEUED, Pulse};
pub use plugin::{NetSim, NetSimPlugin, NetSimSystems};
pub use preset::{LinkPreset, LinkPresets, PRESETS, PresetError, UnknownPreset};

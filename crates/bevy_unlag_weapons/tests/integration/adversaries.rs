//! Modified clients against the real server, each compared with an honest client that does the same and hits.

mod aim;
mod cheat;
mod eye_position;
mod rate;
mod repetition;
mod spread;
mod stage;
mod targets;
mod view_time;
mod weapons;

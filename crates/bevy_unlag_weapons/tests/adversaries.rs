//! Modified clients against the real server, each compared with an honest client that does the same and hits.

#[path = "adversaries/aim.rs"]
mod aim;
#[path = "adversaries/cheat.rs"]
mod cheat;
#[path = "adversaries/place.rs"]
mod place;
#[path = "adversaries/rate.rs"]
mod rate;
#[path = "adversaries/replayed.rs"]
mod replayed;
#[path = "adversaries/spread.rs"]
mod spread;
#[path = "adversaries/stage.rs"]
mod stage;
#[path = "adversaries/stamps.rs"]
mod stamps;
#[path = "adversaries/targets.rs"]
mod targets;
#[path = "adversaries/weapons.rs"]
mod weapons;

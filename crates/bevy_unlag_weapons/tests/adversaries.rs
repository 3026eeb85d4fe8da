//! Modified clients against the real server, each compared with an honest client that does the same and hits.

#[path = "adversaries/aim.rs"]
mod aim;
#[path = "adversaries/cheat.rs"]
mod cheat;
#[path = "adversaries/eye_position.rs"]
mod eye_position;
#[path = "adversaries/rate.rs"]
mod rate;
#[path = "adversaries/repetition.rs"]
mod repetition;
#[path = "adversaries/spread.rs"]
mod spread;
#[path = "adversaries/stage.rs"]
mod stage;
#[path = "adversaries/targets.rs"]
mod targets;
#[path = "adversaries/view_time.rs"]
mod view_time;
#[path = "adversaries/weapons.rs"]
mod weapons;

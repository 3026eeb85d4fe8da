//! Weapons through the public API: a listen server host shoots a dummy.

#[path = "rifle/range.rs"]
mod range;
#[path = "rifle/rounds.rs"]
mod rounds;
#[path = "rifle/shot_kinds.rs"]
mod shot_kinds;
#[path = "rifle/trigger.rs"]
mod trigger;

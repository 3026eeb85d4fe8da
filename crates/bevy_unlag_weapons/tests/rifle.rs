//! Weapons through the public API: a listen server host shoots a dummy.

#[path = "rifle/kinds.rs"]
mod kinds;
#[path = "rifle/range.rs"]
mod range;
#[path = "rifle/rounds.rs"]
mod rounds;
#[path = "rifle/trigger.rs"]
mod trigger;

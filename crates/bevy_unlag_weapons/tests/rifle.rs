//! Weapons through the public API: the host of a listen server shoots a dummy.

#[path = "rifle/kinds.rs"]
mod kinds;
#[path = "rifle/range.rs"]
mod range;
#[path = "rifle/rounds.rs"]
mod rounds;
#[path = "rifle/trigger.rs"]
mod trigger;

//! All rewind queries against an oracle that poses every box in the world and tests each with parry.

#[path = "shapes/range.rs"]
mod range;

#[path = "shapes/blasts.rs"]
mod blasts;
#[path = "shapes/changes.rs"]
mod changes;
#[path = "shapes/claims.rs"]
mod claims;
#[path = "shapes/flights.rs"]
mod flights;
#[path = "shapes/heads.rs"]
mod heads;
#[path = "shapes/hidden.rs"]
mod hidden;
#[path = "shapes/measure.rs"]
mod measure;
#[path = "shapes/overlaps.rs"]
mod overlaps;
#[path = "shapes/rays.rs"]
mod rays;
#[path = "shapes/sanity.rs"]
mod sanity;
#[path = "shapes/swings.rs"]
mod swings;

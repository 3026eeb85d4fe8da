//! All rewind queries against an oracle that poses every box in the world and tests each with parry.

#[path = "shapes/range.rs"]
mod range;

#[path = "shapes/blasts.rs"]
mod blasts;
#[path = "shapes/claimed_targets.rs"]
mod claimed_targets;
#[path = "shapes/flights.rs"]
mod flights;
#[path = "shapes/head_priority.rs"]
mod head_priority;
#[path = "shapes/invalid_queries.rs"]
mod invalid_queries;
#[path = "shapes/measure.rs"]
mod measure;
#[path = "shapes/melee.rs"]
mod melee;
#[path = "shapes/overlaps.rs"]
mod overlaps;
#[path = "shapes/partial_logs.rs"]
mod partial_logs;
#[path = "shapes/rays.rs"]
mod rays;
#[path = "shapes/rig_changes.rs"]
mod rig_changes;

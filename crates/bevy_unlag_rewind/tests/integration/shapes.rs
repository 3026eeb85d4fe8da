//! All rewind queries against an oracle that poses every box in the world and tests each with parry.

mod range;

mod blasts;
mod claimed_targets;
mod drawn_overrides;
mod flights;
mod head_priority;
mod invalid_queries;
mod measure;
mod melee;
mod overlaps;
mod partial_logs;
mod rays;
mod rig_changes;

//! Integration tests of smoothing through the plugin: updates into inboxes, drawn poses out.

mod bases;
mod blending;
mod component;
mod game_speed;
mod harness;
mod hostile;
mod modes;
mod outages;
mod rates;
mod simulation;

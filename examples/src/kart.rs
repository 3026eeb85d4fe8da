//! Kart race with a server, a scripted driver and a watching client.
//!
//! * [`track`]: ground, ramp, walls and pillars; [`driver`]: a scripted driver that laps on it.
//! * [`app`]: a server app and a client app, built from the suite's generic plugins.
//! * [`race_settings`]: settings that can change at run time: the update rate, and what the owner does with
//!   the server's state; [`owner_overwrite`] implements the latter.
//! * [`copies`]: five copies of the remote kart, each with another smoothing mode; [`ground_truth`]: the
//!   server's positions; [`error_meter`]: the error of each copy.
//! * [`race`]: a server and two clients under stepped time, and the report; [`background_race`]: a server and
//!   a driver in threads, over UDP.

pub mod app;
pub mod background_race;
pub mod copies;
pub mod driver;
pub mod error_meter;
pub mod ground_truth;
pub mod owner_overwrite;
pub mod race;
pub mod race_settings;
pub mod track;

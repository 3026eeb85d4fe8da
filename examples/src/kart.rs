//! Kart race with a server, a scripted driver and a watching client.
//!
//! * [`track`]: ground, ramp, walls and pillars; [`driver`]: a scripted driver that laps on it.
//! * [`app`]: a server app and a client app, built from the suite's generic plugins.
//! * [`switches`]: settings that can change at run time: the update rate, and what the owner does with the
//!   server's state; [`owner`] implements the latter.
//! * [`copies`]: five copies of the remote kart, each with another smoothing mode; [`truth`]: the server's
//!   positions; [`meter`]: the error of each copy.
//! * [`race`]: a server and two clients under stepped time, and the report; [`threads`]: a server and a
//!   driver in threads, over UDP.

pub mod app;
pub mod copies;
pub mod driver;
pub mod meter;
pub mod owner;
pub mod race;
pub mod switches;
pub mod threads;
pub mod track;
pub mod truth;

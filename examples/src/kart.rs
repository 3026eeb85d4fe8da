//! The kart of the course: a server, a driver, and somebody who watches.
//!
//! * [`track`]: the ground, a ramp, walls and pillars; [`driver`] laps on it by itself.
//! * [`app`]: a server app and a client app, made of the suite's generic plugins.
//! * [`switches`]: what can be changed while they run: the rate of updates, and what the owner does
//!   with the server's state; [`owner`] does it.
//! * [`copies`]: the other kart five times, drawn in five ways; [`truth`] is where it was on the
//!   server, [`meter`] how far each is from that.
//! * [`race`]: a server and two clients under stepped time, and its table; [`threads`]: a server and
//!   a driver in threads, over UDP.

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

//! Projectiles on a server and on a shooter's screen, without a network.

mod agreement;
mod dodging;
mod falloff;
mod gravity;
mod impacts;
mod joining;
mod screens;
mod stage;
mod teams;
mod tunnelling;

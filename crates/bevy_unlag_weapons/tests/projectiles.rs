//! Projectiles on a server and on a shooter's screen, without a network.

#[path = "projectiles/agreement.rs"]
mod agreement;
#[path = "projectiles/bursts.rs"]
mod bursts;
#[path = "projectiles/comings.rs"]
mod comings;
#[path = "projectiles/screens.rs"]
mod screens;
#[path = "projectiles/stage.rs"]
mod stage;
#[path = "projectiles/tunnels.rs"]
mod tunnels;

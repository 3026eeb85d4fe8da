//! Projectiles on a server and on a shooter's screen, without a network.

#[path = "projectiles/agreement.rs"]
mod agreement;
#[path = "projectiles/impacts.rs"]
mod impacts;
#[path = "projectiles/joining.rs"]
mod joining;
#[path = "projectiles/screens.rs"]
mod screens;
#[path = "projectiles/stage.rs"]
mod stage;
#[path = "projectiles/tunnelling.rs"]
mod tunnelling;

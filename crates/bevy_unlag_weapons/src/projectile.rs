//! What flies.
//!
//! A projectile lives on the time line of its shooter's screen. It was fired when that showed everyone else at a
//! moment V; at any moment t its age is t - V, on the server and on every screen, and where it is at an age is a
//! [`Trajectory`]. So the server's is where the shooter's own is drawn, and nothing is to be merged.

mod burst;
mod client;
mod launches;
mod server;
mod shown;
mod trajectory;
mod wire;

use bevy::prelude::*;
use bevy_unlag_core::VisualSystems;

use crate::{Projectile, Shot, Weapon};

pub use client::{
    DrawnProjectile, ForgetProjectiles, ProjectileDrawn, ProjectileEnded, ProjectileShown, ProjectileSystems,
};
pub(crate) use launches::{Launch, Launches, Seen};
pub use server::Flights;
pub use trajectory::{PathEnd, Piece, Trajectory};
pub use wire::{ProjectileEnd, ProjectileEndKind, ProjectileLaunch};

/// What the server honours of projectiles.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProjectileRules {
    /// Projectiles of one shooter that fly at once; a shot beyond is refused. Default 64. Raising it lets a cheat
    /// cost the server more: each takes about a microsecond of a tick.
    pub per_shooter: usize,
    /// Projectiles that fly at once. Default 1,024. Raising it costs about a millisecond of a tick for a
    /// thousand more, and some hundred bytes each.
    pub total: usize,
    /// Whom it meets between the moment that its shooter's screen showed and the one in which the server hears
    /// of it. Default: whom the screen showed.
    pub catch_up: CatchUp,
}

impl Default for ProjectileRules {
    fn default() -> Self {
        Self { per_shooter: 64, total: 1_024, catch_up: CatchUp::default() }
    }
}

/// Where everyone else is while a projectile is flown from its shooter's past to the present.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CatchUp {
    /// Where the shooter's screen showed them, moment by moment.
    #[default]
    Seen,
    /// Where they are when the server hears of the shot: Unreal Tournament's way, to compare with. What a shooter
    /// aims right at is missed.
    Present,
}

/// What of a weapon flies.
fn flying(weapon: &Weapon) -> Option<&Projectile> {
    match &weapon.shot {
        Shot::Projectile(projectile) => Some(projectile),
        _ => None,
    }
}

/// What does not depend on the model that is armed.
pub(crate) fn add(app: &mut App) {
    app.init_resource::<Launches>()
        .init_resource::<ProjectileRules>()
        .init_resource::<Flights>()
        .init_resource::<shown::Screen>()
        .add_message::<ProjectileLaunch>()
        .add_message::<ProjectileEnd>()
        .add_message::<ProjectileShown>()
        .add_message::<ProjectileEnded>()
        .add_message::<ProjectileDrawn>()
        .add_message::<ForgetProjectiles>()
        .add_systems(
            FixedPostUpdate,
            server::fly.in_set(crate::WeaponSystems::Fly).after(crate::WeaponSystems::Judge),
        )
        .add_systems(
            PostUpdate,
            client::draw
                .in_set(ProjectileSystems::Draw)
                .after(VisualSystems::Draw)
                .before(VisualSystems::Follow),
        );
}

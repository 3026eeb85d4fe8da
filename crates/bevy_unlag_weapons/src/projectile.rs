//! Projectiles.
//!
//! A projectile lives on the time line of its shooter's screen. If it was fired when that screen showed
//! remote pawns at view time V, then at view time t its age is t − V, on the server and on every screen, and
//! its position at an age is given by a [`Trajectory`]. So the server simulates it exactly where the shooter
//! sees its own predicted one, and the two never have to be merged.

mod client;
mod display;
mod display_time;
mod impact;
mod launches;
mod server;
mod server_projectile;
mod trajectory;
mod wire;

use bevy::prelude::*;
use bevy_unlag_core::{OwnMoveDelay, TickSystems, VisualSystems, WorldGravity};

use crate::{
    system_sets::WeaponSystems,
    weapon::{Projectile, Shot, Weapon},
};

pub use client::{
    ClearProjectiles, DisplayedProjectileHit, DrawnProjectile, ProjectileAppeared, ProjectileDisappeared,
};
pub use display_time::{ProjectileDisplay, ProjectileTime};
pub(crate) use launches::{LaunchView, PendingLaunch, PendingLaunches};
pub use server::ProjectilesInFlight;
pub use trajectory::{PathEnd, PathSegment, Trajectory};
pub use wire::{ProjectileEnd, ProjectileEndKind, ProjectileLaunch};

/// Server limits and catch-up policy for projectiles.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ProjectileRules {
    /// Maximum number of projectiles of one shooter in flight; further shots are refused. Default: 64.
    /// Raising it lets a cheat use more server time: each costs about a microsecond per tick.
    pub per_shooter: usize,
    /// Maximum number of projectiles in flight in total. Default: 1,024. A thousand more cost about a
    /// millisecond per tick and some hundred bytes each.
    pub total: usize,
    /// Targets that a projectile meets between the view time of its shot and the tick in which the server
    /// processes it. Default: [`CatchUp::Displayed`].
    pub catch_up: CatchUp,
}

impl Default for ProjectileRules {
    fn default() -> Self {
        Self { per_shooter: 64, total: 1_024, catch_up: CatchUp::default() }
    }
}

/// Poses of remote pawns that a projectile is tested against while the server catches it up from its
/// shooter's view time to the present.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[doc(alias = "CatchupTick")]
pub enum CatchUp {
    /// The poses that the shooter's screen showed, moment by moment.
    #[default]
    Displayed,
    /// The poses at the tick in which the server processes the shot, as in Unreal Tournament; for comparison.
    /// Shots aimed directly at a moving target miss.
    Present,
}

/// Returns the projectile parameters of a weapon that fires projectiles.
fn flying(weapon: &Weapon) -> Option<&Projectile> {
    match &weapon.shot {
        Shot::Projectile(projectile) => Some(projectile),
        _ => None,
    }
}

/// Adds the parts that do not depend on the movement model.
pub(crate) fn add(app: &mut App) {
    app.init_resource::<PendingLaunches>()
        .init_resource::<ProjectileRules>()
        .init_resource::<ProjectilesInFlight>()
        .init_resource::<WorldGravity>()
        .init_resource::<display::DisplayedProjectiles>()
        .init_resource::<ProjectileDisplay>()
        .init_resource::<OwnMoveDelay>()
        .add_message::<ProjectileLaunch>()
        .add_message::<ProjectileEnd>()
        .add_message::<ProjectileAppeared>()
        .add_message::<ProjectileDisappeared>()
        .add_message::<DisplayedProjectileHit>()
        .add_message::<ClearProjectiles>()
        .configure_sets(FixedPostUpdate, WeaponSystems::AdvanceProjectiles.in_set(TickSystems))
        .add_systems(
            FixedPostUpdate,
            server::fly.in_set(WeaponSystems::AdvanceProjectiles).after(WeaponSystems::Validate),
        )
        .add_systems(
            PostUpdate,
            client::draw
                .in_set(WeaponSystems::DrawProjectiles)
                .after(VisualSystems::Draw)
                .before(VisualSystems::Follow),
        );
}

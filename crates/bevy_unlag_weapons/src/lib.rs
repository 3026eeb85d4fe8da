//! The fire flow: weapons as data, fired inside the movement tick, shown at once, judged by the
//! server against what the shooter's screen showed.
//!
//! * An [`Arsenal`] says what weapons there are: rays, pellets, projectiles, blades and beams, by
//!   trigger, rate, spread, recoil, ammunition and damage.
//! * [`Arms`] is a [`MoveExtension`](bevy_unlag_core::MoveExtension): what is in hand, ammunition and
//!   cooldown ride with the body's predicted state and replay with it. A model with it is [`Armed<M>`].
//! * On the client, pull the [`Trigger`] and turn the [`Aim`]: what the screen shows is latched
//!   when the trigger goes down, the shot leaves in the next tick, [`ShotFired`] is written at
//!   once.
//! * On the server every shot of the move stream is judged once: a [`ShotVerdict`] for the
//!   shooter, [`Damage`] for the game, a [`Tracer`] for everyone else.
//! * What flies does so on the time line of its shooter's screen: [`DrawnProjectile`]s on every screen are where the
//!   server has them at the moment that the screen shows. See [`ProjectileRules`] and [`Trajectory`].
//! * [`HeldWeapon`] says on every screen what is in whose hands.
//! * Beside that, for games that want them: [`VitalsPlugin`] for health, death and respawn, [`HighPingPlugin`] for
//!   the warning of a slow connection, [`PredictedValue`] for what a player changes and the server confirms.
//!
//! No message carries a damage figure, and none that says who was hit is proof: the wire carries what the
//! screen showed, and the server looks. See [`HitClaims`] for what a claim can be worth.

mod aim;
mod arms;
mod arsenal;
mod arsenal_asset;
mod claim;
mod fire;
mod held_weapon;
mod high_ping;
mod judge;
mod loadout;
mod predicted_value;
mod projectile;
mod rules;
mod shoot;
#[cfg(feature = "gizmos")]
mod shot_view;
mod spread;
mod tracer;
mod verdict;
mod vitals;
mod weapon;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{Extended, MoveModel, MoveSystems, StepEvent};
use bevy_unlag_rewind::{RewindQueryPlugin, RewindSystems};

pub use aim::Aim;
pub use arms::{Arms, ArmsEvent, ArmsInput, ArmsState, MOST_ROUNDS, NotFired, Round, SLOTS, Slot, Turn};
pub use arsenal::Arsenal;
pub use arsenal_asset::{ArsenalAsset, ArsenalReplaced};
pub use checked_ron::{RonError, RonFile};
pub use claim::HitClaims;
pub use fire::{FireInput, MAX_OVERRIDES, Sight};
pub use held_weapon::HeldWeapon;
pub use high_ping::{HighPingHidden, HighPingPlugin, HighPingShown, HighPingWarning};
pub use judge::SpreadSecret;
pub use loadout::Loadout;
pub use predicted_value::{PredictedCount, PredictedValue};
pub use projectile::{
    CatchUp, DrawnProjectile, Flights, ForgetProjectiles, PathEnd, Piece, ProjectileDrawn, ProjectileEnd,
    ProjectileEndKind, ProjectileEnded, ProjectileLaunch, ProjectileRules, ProjectileShown,
    ProjectileSystems, Trajectory,
};
pub use rules::FireRules;
pub use shoot::{ShotFired, ShotRay, Trigger};
#[cfg(feature = "gizmos")]
pub use shot_view::ShotViewPlugin;
pub use spread::{Cone, MAX_PELLETS, offset};
pub use tracer::{Mailed, OutgoingVerdicts, Tracer, Trail};
pub use verdict::{Damage, HitList, RefusedShots, ShotRefusal, ShotResult, ShotVerdict, TargetCount};
pub use vitals::{
    Dead, DeathCause, Died, Hazard, Health, Hurt, Protected, Respawn, RespawnDue, Score, VitalsPlugin,
    VitalsRules, VitalsSystems, smallest_team,
};
pub use weapon::{
    Ammo, Bounce, Damages, Falloff, FireMode, Projectile, Recoil, Reload, Shot, Splash, Spread, SpreadSource,
    Weapon, WeaponId,
};

/// A model that carries [`Arms`].
pub type Armed<M> = Extended<M, Arms>;

/// When weapons work.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeaponSystems {
    /// In [`RunFixedMainLoop`] before the fixed loop: a pulled trigger latches what the screen
    /// shows. Write [`Trigger`] and [`Aim`] before it.
    Latch,
    /// In [`RunFixedMainLoop`] after the fixed loop: [`HeldWeapon`] is written where pawns are simulated.
    Hold,
    /// In [`FixedPostUpdate`] after the frames were recorded: the server judges the shots of
    /// this tick.
    Judge,
    /// In [`FixedPostUpdate`] after that: the server's projectiles fly on.
    Fly,
}

/// Arms pawns of the model `M`: predict [`Armed<M>`] instead of `M`.
#[derive(Debug)]
pub struct WeaponsPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for WeaponsPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel> Plugin for WeaponsPlugin<M> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<RewindQueryPlugin>() {
            app.add_plugins(RewindQueryPlugin);
        }
        arsenal_asset::add(app);
        projectile::add(app);
        app.init_resource::<Arsenal>()
            .init_resource::<FireRules>()
            .init_resource::<SpreadSecret>()
            .add_message::<StepEvent<Armed<M>>>()
            .add_message::<ShotFired>()
            .add_message::<ShotVerdict>()
            .add_message::<Damage>()
            .add_message::<Tracer>()
            .add_systems(
                RunFixedMainLoop,
                shoot::latch::<M>
                    .in_set(WeaponSystems::Latch)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            )
            .add_systems(
                FixedUpdate,
                (shoot::arm::<M>.in_set(MoveSystems::Extend), shoot::report::<M>.in_set(MoveSystems::React)),
            )
            .add_systems(
                RunFixedMainLoop,
                held_weapon::hold::<M>
                    .in_set(WeaponSystems::Hold)
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(FixedPreUpdate, loadout::hand_out::<M>)
            .add_systems(
                FixedPostUpdate,
                (judge::judge::<M>, judge::mark::<M>)
                    .chain()
                    .in_set(WeaponSystems::Judge)
                    .after(RewindSystems::Follow),
            );
    }
}

//! Weapons: data-driven definitions, firing inside the predicted movement tick, and lag-compensated hit
//! validation on the server.
//!
//! * An [`Arsenal`] holds the weapon definitions: rays, pellets, projectiles, melee arcs and beams, each with
//!   its fire mode, rate, spread, recoil, ammunition and damage.
//! * [`Arms`] is a [`MoveExtension`](bevy_unlag_core::MoveExtension): the held weapon, ammunition and
//!   cooldown are part of the pawn's predicted state and are replayed with it. A movement model extended with
//!   it is [`Armed<M>`].
//! * On the client, set the [`Trigger`] and the [`Aim`]. When the trigger goes down, the view on the screen
//!   is captured; the shot leaves in the next tick, and [`ShotFired`] is written immediately.
//! * On the server, each shot of the move stream is validated exactly once. The shooter gets a
//!   [`ShotVerdict`], the game gets [`Damage`], and all other clients get a [`Tracer`].
//! * Projectiles fly on the time line of their shooter's screen: a [`DrawnProjectile`] is, on every screen,
//!   where the server has it at the moment that this screen shows. See [`ProjectileRules`] and
//!   [`Trajectory`].
//! * [`HeldWeapon`] is the weapon that each pawn visibly holds, available on every client.
//! * Optional parts: [`VitalsPlugin`] for health, death and respawn, [`HighPingPlugin`] for a high latency
//!   warning, `PredictedValue` of the prediction crate for values that a player changes locally and the server confirms.
//!
//! No message carries a damage figure, and a client's hit claim is never proof: clients send what their
//! screen showed, and the server traces the shot itself. See [`HitClaims`] for how much a claim can count.

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
mod projectile;
mod reset;
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

/// A movement model extended with weapons ([`Arms`]).
pub type Armed<M> = Extended<M, Arms>;

/// System sets of the weapon systems.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeaponSystems {
    /// In [`RunFixedMainLoop`], before the fixed loop: captures the view on the screen when the trigger is
    /// pulled. Write [`Trigger`] and [`Aim`] before this set.
    Latch,
    /// In [`RunFixedMainLoop`], after the fixed loop: writes [`HeldWeapon`] of locally simulated pawns.
    Hold,
    /// In [`FixedPostUpdate`], after the frames of this tick have been recorded: the server validates the
    /// shots of this tick and resolves their hits.
    Judge,
    /// In [`FixedPostUpdate`], after [`Judge`](Self::Judge): the server advances projectiles.
    Fly,
}

/// Adds weapons to pawns of the movement model `M`. Predict [`Armed<M>`] instead of `M`.
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
        // Once, however many models carry weapons.
        if !app.world().contains_resource::<Flights>() {
            projectile::add(app);
            reset::plugin(app);
        }
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

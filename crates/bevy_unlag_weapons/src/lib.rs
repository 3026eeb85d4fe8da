//! Weapons: data-driven definitions, firing inside the predicted movement tick, and lag-compensated hit
//! validation on the server.
//!
//! * An [`Arsenal`] holds the weapon definitions: rays, pellets, projectiles, melee arcs and beams, each with
//!   its fire mode, rate, spread, recoil, ammunition and damage.
//! * [`WeaponExtension`] is a [`MoveExtension`](bevy_unlag_core::MoveExtension): the held weapon, ammunition and
//!   cooldown are part of the pawn's predicted state and are replayed with it. A movement model extended with
//!   it is [`WithWeapons<M>`].
//! * On the client, set the [`WeaponControls`] and the [`Aim`]. When the trigger goes down, the view on the screen
//!   is captured; the shot leaves in the next tick, and [`ShotFired`] is written immediately.
//! * On the server, each shot of the move stream is validated exactly once. The shooter gets a
//!   [`ShotVerdict`], the game gets [`Damage`], and all other clients get a [`Tracer`].
//! * Projectiles fly on the time line of their shooter's screen: a [`DrawnProjectile`] is, on every screen,
//!   where the server has it at the moment that this screen shows. See [`ProjectileRules`] and
//!   [`Trajectory`].
//! * [`HeldWeapon`] is the weapon that each pawn visibly holds, available on every client.
//! * Optional parts: [`HealthPlugin`] for health, death and respawn, [`HighPingPlugin`] for a high latency
//!   warning, `PredictedValue` of the prediction crate for values that a player changes locally and the server confirms.
//!
//! No message carries a damage figure, and a client's hit claim is never proof: clients send what their
//! screen showed, and the server traces the shot itself. See [`HitClaims`] for how much a claim can count.

mod aim;
mod arsenal;
mod arsenal_asset;
mod fire_input;
mod fire_rules;
mod firing;
mod health;
mod held_weapon;
mod high_ping;
mod hit_claims;
mod loadout;
mod projectile;
mod reflection;
mod reset;
mod shot_validation;
#[cfg(feature = "gizmos")]
mod shot_view;
mod spread;
mod tracer;
mod verdict;
mod weapon;
mod weapon_extension;

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{Extended, MoveModel, MoveSystems, StepEvent};
use bevy_unlag_rewind::{RewindQueryPlugin, RewindSystems};

pub use aim::Aim;
pub use arsenal::Arsenal;
pub use arsenal_asset::{ArsenalAsset, ArsenalReplaced};
pub use checked_ron::{RonError, RonFile};
pub use fire_input::{FireInput, MAX_OVERRIDES, ShooterView};
pub use fire_rules::FireRules;
pub use firing::{ShotFired, ShotRay, WeaponControls};
pub use health::{
    Dead, DeathCause, Died, Hazard, Health, HealthPlugin, HealthSystems, LastAttacker, PlayerScore, Respawn,
    RespawnDue, RespawnRules, SpawnProtection, smallest_team,
};
pub use held_weapon::HeldWeapon;
pub use high_ping::{HideHighPing, HighPingPlugin, HighPingWarning, ShowHighPing};
pub use hit_claims::HitClaims;
pub use loadout::Loadout;
pub use projectile::{
    CatchUp, ClearProjectiles, DisplayedProjectileHit, DrawnProjectile, PathEnd, PathSegment,
    ProjectileAppeared, ProjectileDisappeared, ProjectileEnd, ProjectileEndKind, ProjectileLaunch,
    ProjectileRules, ProjectileSystems, ProjectilesInFlight, Trajectory,
};
pub use shot_validation::SpreadSecret;
#[cfg(feature = "gizmos")]
pub use shot_view::ShotViewPlugin;
pub use spread::{MAX_PELLETS, SpreadCone, offset};
pub use tracer::{OutgoingShotMessages, ShotMessage, Tracer, TracerPath};
pub use verdict::{Damage, HitList, RefusedShots, ShotRefusal, ShotResult, ShotVerdict, TargetCount};
pub use weapon::{
    Ammo, Bounce, DamageTable, Falloff, FireMode, Projectile, Recoil, Reload, Shot, Splash, Spread,
    SpreadSource, Weapon, WeaponId,
};
pub use weapon_extension::{
    FastestTurn, MAX_ROUNDS, NotFired, PredictedShot, SLOTS, WeaponEvent, WeaponExtension, WeaponInput,
    WeaponSlot, WeaponState,
};

/// A movement model extended with weapons ([`WeaponExtension`]).
pub type WithWeapons<M> = Extended<M, WeaponExtension>;

/// System sets of the weapon systems.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeaponSystems {
    /// In [`RunFixedMainLoop`], before the fixed loop: captures the view on the screen when the trigger is
    /// pulled. Write [`WeaponControls`] and [`Aim`] before this set.
    CaptureView,
    /// In [`RunFixedMainLoop`], after the fixed loop: writes [`HeldWeapon`] of locally simulated pawns.
    UpdateHeldWeapons,
    /// In [`FixedPostUpdate`], after the frames of this tick have been recorded: the server validates the
    /// shots of this tick and resolves their hits.
    Validate,
    /// In [`FixedPostUpdate`], after [`Validate`](Self::Validate): the server advances projectiles.
    AdvanceProjectiles,
}

/// Adds weapons to pawns of the movement model `M`. Predict [`WithWeapons<M>`] instead of `M`.
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
        if !app.world().contains_resource::<ProjectilesInFlight>() {
            projectile::add(app);
            reset::plugin(app);
        }
        reflection::register_types(app);
        app.init_resource::<Arsenal>()
            .init_resource::<FireRules>()
            .init_resource::<SpreadSecret>()
            .add_message::<StepEvent<WithWeapons<M>>>()
            .add_message::<ShotFired>()
            .add_message::<ShotVerdict>()
            .add_message::<Damage>()
            .add_message::<Tracer>()
            .add_systems(
                RunFixedMainLoop,
                firing::capture_view_time::<M>
                    .in_set(WeaponSystems::CaptureView)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
            )
            .add_systems(
                FixedUpdate,
                (
                    firing::add_weapon_input::<M>.in_set(MoveSystems::Extend),
                    firing::emit_shot_fired::<M>.in_set(MoveSystems::React),
                ),
            )
            .add_systems(
                RunFixedMainLoop,
                held_weapon::update_held_weapons::<M>
                    .in_set(WeaponSystems::UpdateHeldWeapons)
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(FixedPreUpdate, loadout::equip_loadouts::<M>)
            .add_systems(
                FixedPostUpdate,
                (shot_validation::resolve_shots::<M>, shot_validation::mark_shots::<M>)
                    .chain()
                    .in_set(WeaponSystems::Validate)
                    .after(RewindSystems::Follow),
            );
    }
}

//! Weapons: data-driven definitions, firing inside the predicted movement tick, and lag-compensated hit
//! validation on the server.
//!
//! ```text
//!  shooter's client                                  server                              other clients
//!
//!  WeaponControls, Aim
//!         │
//!  WeaponExtension::step ────── move ──────────────► WeaponExtension::step
//!         │                                                  │
//!  ShotFired                                           rewind, FireRules
//!  muzzle flash, tracer                                      │
//!         ◄────────────────── ShotVerdict ───────────────────┼─────────── Tracer ──────► tracer
//!                                                            ▼
//!                                                   Damage ─► HealthPlugin ─► Died
//! ```
//!
//! * An [`Arsenal`] holds the weapon definitions: rays, pellets, projectiles, melee arcs and beams, each with
//!   its fire mode, rate, spread, recoil, ammunition and damage.
//! * [`WeaponExtension`] is a [`MoveExtension`](bevy_unlag_core::MoveExtension): the held weapon, ammunition
//!   and cooldown are part of the pawn's predicted state and are replayed with it. A movement model extended
//!   with it is [`WithWeapons<M>`].
//! * On the client, set the [`WeaponControls`] and the [`Aim`]. When the trigger goes down, the view on the
//!   screen is captured; the shot leaves in the next tick, and [`ShotFired`] is written immediately.
//! * On the server, each shot of the move stream is validated exactly once. The shooter gets a
//!   [`ShotVerdict`], the game gets [`Damage`], and all other clients get a [`Tracer`].
//! * Projectiles fly on the time line of their shooter's screen: a [`DrawnProjectile`] is, on every screen,
//!   where the server has it at the moment that this screen shows. See [`ProjectileRules`] and
//!   [`Trajectory`].
//! * [`FireRules`] are the server's rules for accepting shots, [`FriendlyFire`] among them: the effect of shots
//!   on teammates.
//! * [`HeldWeapon`] is the weapon that each pawn visibly holds, available on every client.
//! * Optional parts: [`HealthPlugin`] for health, death and respawn, [`HighPingPlugin`] for a high latency
//!   warning, `PredictedValue` of the prediction crate for values that a player changes locally and the
//!   server confirms.
//!
//! No message carries a damage figure, and a client's hit claim is never proof: clients send what their
//! screen showed, and the server traces the shot itself. See [`HitClaims`] for how much a claim can count.
//!
//! # Example
//!
//! The weapons of a game, and a system of its server that reacts to hits:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_weapons::{Arsenal, Damage, RonFile, WeaponId};
//!
//! /// Headshots, for an announcer.
//! fn announce(mut hits: MessageReader<Damage>) {
//!     for hit in hits.read() {
//!         info!("{:?} hit {:?} for {:.0}", hit.shooter, hit.target, hit.amount);
//!     }
//! }
//!
//! let arsenal = Arsenal::from_ron(r#"[
//!     (
//!         name: "carbine",
//!         shot: Ray(range: 150.0),
//!         mode: Auto,
//!         interval: 0.1,
//!         ammo: (magazine: 30, reserve: 90, reload: Magazine(time: 2.0)),
//!         damage: (head: 60.0, body: 25.0, limb: 18.0),
//!     ),
//! ]"#)?;
//! assert_eq!(arsenal.named("carbine"), Some(WeaponId(0)));
//!
//! // Insert the same arsenal on client and server.
//! let mut app = App::new();
//! app.insert_resource(arsenal).add_message::<Damage>().add_systems(Update, announce);
//! app.update();
//! # Ok::<(), bevy_unlag_weapons::RonError>(())
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `gizmos` | no | `ShotViewPlugin`, a debug view of shots. |
//!
//! # In the book
//!
//! In the repository, `book/src/reference/weapons.md` lists every field of a weapon, the rules and the events;
//! `book/src/recipes/weapons_and_rules.md` has tasks such as friendly fire or a grenade.

mod aim;
mod arsenal;
mod arsenal_asset;
mod fire_input;
mod fire_rules;
mod firing;
mod friendly_fire;
mod health;
mod held_weapon;
mod high_ping;
mod hit_claims;
mod loadout;
mod missed_shots;
mod plugin;
mod position_format;
mod projectile;
mod reflection;
mod reset;
mod setup_diagnostics;
mod shot_detail;
mod shot_explanation;
#[cfg(feature = "gizmos")]
mod shot_gizmos;
mod shot_journal;
mod shot_messages;
mod shot_validation;
mod spread;
mod system_sets;
mod verdict;
mod weapon;
mod weapon_extension;

pub use aim::Aim;
pub use arsenal::Arsenal;
pub use arsenal_asset::{ArsenalAsset, ArsenalReplaced};
pub use checked_ron::{RonError, RonFile};
pub use fire_input::{FireInput, MAX_OVERRIDES, ShooterView};
pub use fire_rules::{FireRules, ScreenRules};
pub use firing::{ShotFired, ShotRay, WeaponControls};
pub use friendly_fire::FriendlyFire;
pub use health::{
    Dead, DeathCause, Died, Hazard, Health, HealthPlugin, LastAttacker, PlayerScore, Respawn, RespawnDue,
    RespawnRules, SpawnProtection, smallest_team,
};
pub use held_weapon::HeldWeapon;
pub use high_ping::{HideHighPing, HighPingPlugin, HighPingWarning, ShowHighPing};
pub use hit_claims::HitClaims;
pub use loadout::Loadout;
pub use plugin::WeaponsPlugin;
pub use projectile::{
    CatchUp, ClearProjectiles, DisplayedProjectileHit, DrawnProjectile, PathEnd, PathSegment,
    ProjectileAppeared, ProjectileDisappeared, ProjectileDisplay, ProjectileEnd, ProjectileEndKind,
    ProjectileLaunch, ProjectileRules, ProjectileTime, ProjectilesInFlight, Trajectory,
};
pub use shot_detail::{ShotDetail, ShotTimes, UsedView};
pub use shot_explanation::{
    DeathExplained, DeathExplanationPlugin, ExplainedTarget, ExplanationViewer, ShotExplanation,
};
#[cfg(feature = "gizmos")]
pub use shot_gizmos::ShotViewPlugin;
pub use shot_journal::{JournalShot, ShotJournal};
pub use shot_messages::{OutgoingShotMessages, ShotMessage, Tracer, TracerPath};
pub use shot_validation::{RecordedRound, ShotReplay, SpreadSecret};
pub use spread::{MAX_PELLETS, SpreadCone, pellet_offset};
pub use system_sets::WeaponSystems;
pub use verdict::{
    Damage, HitList, RefusedShots, ShotRefusal, ShotResolved, ShotResult, ShotVerdict, TargetCount,
};
pub use weapon::{
    Ammo, Bounce, DamageTable, Falloff, FireMode, Projectile, Recoil, Reload, Shot, Splash, Spread,
    SpreadSource, Weapon, WeaponId,
};
pub use weapon_extension::{
    FastestTurn, HasWeapons, MAX_ROUNDS, NotFired, PredictedShot, SLOTS, WeaponEvent, WeaponExtension,
    WeaponInput, WeaponSlot, WeaponState, WithWeapons,
};

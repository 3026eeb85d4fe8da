//! Reflection of the public components, resources, messages and events.

use bevy::prelude::*;
use bevy_unlag_movement::CapsuleModel;
use bevy_unlag_weapons::*;

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, WeaponsPlugin::<CapsuleModel>::default(), HealthPlugin, HighPingPlugin))
        .add_plugins(DeathExplanationPlugin);
    assert_registered!(
        app, ReflectComponent:
        Aim, Dead, DrawnProjectile, Health, HeldWeapon, LastAttacker, Loadout,
        OutgoingShotMessages, PlayerScore, RefusedShots, SpawnProtection, WeaponControls,
    );
    assert_registered!(
        app, ReflectResource:
        Arsenal, ArsenalAsset, FireRules, HighPingWarning, ProjectileRules, RespawnRules,
        ShotJournal, SpreadSecret,
    );
    assert_registered!(
        app, ReflectMessage:
        ArsenalReplaced, ClearProjectiles, Damage, DeathExplained, Died, DisplayedProjectileHit, Hazard,
        HideHighPing, ProjectileAppeared, ProjectileDisappeared, ProjectileEnd, ProjectileLaunch,
        Respawn, RespawnDue, ShotFired, ShotResolved, ShotVerdict, ShowHighPing, Tracer,
    );
}

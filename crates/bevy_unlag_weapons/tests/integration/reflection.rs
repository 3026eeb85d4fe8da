//! Reflection of the public components, resources, messages and events.

use core::any::TypeId;

use bevy::prelude::*;
use bevy_unlag_movement::CapsuleModel;
use bevy_unlag_weapons::*;

/// Asserts that each type is registered and has the type data.
macro_rules! assert_registered {
    ($app:expr, $data:ty: $($kind:ty),* $(,)?) => {
        let registry = $app.world().resource::<AppTypeRegistry>().read();
        $(assert!(
            registry.get_type_data::<$data>(TypeId::of::<$kind>()).is_some(),
            concat!(stringify!($kind), " is not registered, or without ", stringify!($data)),
        );)*
    };
}

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, WeaponsPlugin::<CapsuleModel>::default(), HealthPlugin, HighPingPlugin));
    assert_registered!(
        app, ReflectComponent:
        Aim, Dead, DrawnProjectile, Health, HeldWeapon, LastAttacker, Loadout,
        OutgoingShotMessages, PlayerScore, RefusedShots, SpawnProtection, WeaponControls,
    );
    assert_registered!(
        app, ReflectResource:
        Arsenal, ArsenalAsset, FireRules, HighPingWarning, ProjectileRules, RespawnRules,
        SpreadSecret,
    );
    assert_registered!(
        app, ReflectMessage:
        ArsenalReplaced, ClearProjectiles, Damage, Died, DisplayedProjectileHit, Hazard,
        HideHighPing, ProjectileAppeared, ProjectileDisappeared, ProjectileEnd, ProjectileLaunch,
        Respawn, RespawnDue, ShotFired, ShotVerdict, ShowHighPing, Tracer,
    );
}

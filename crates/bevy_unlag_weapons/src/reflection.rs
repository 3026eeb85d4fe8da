//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types of weapons and projectiles for inspectors.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<Aim>()
        .register_type::<Arsenal>()
        .register_type::<ArsenalAsset>()
        .register_type::<ArsenalReplaced>()
        .register_type::<ClearProjectiles>()
        .register_type::<Damage>()
        .register_type::<DisplayedProjectileHit>()
        .register_type::<DrawnProjectile>()
        .register_type::<FireRules>()
        .register_type::<HeldWeapon>()
        .register_type::<Loadout>()
        .register_type::<OutgoingShotMessages>()
        .register_type::<ProjectileAppeared>()
        .register_type::<ProjectileDisappeared>()
        .register_type::<ProjectileEnd>()
        .register_type::<ProjectileLaunch>()
        .register_type::<ProjectileRules>()
        .register_type::<RefusedShots>()
        .register_type::<ShotFired>()
        .register_type::<ShotVerdict>()
        .register_type::<SpreadSecret>()
        .register_type::<Tracer>()
        .register_type::<WeaponControls>();
}

/// Registers the public types of health and respawns.
pub(crate) fn register_health_types(app: &mut App) {
    app.register_type::<Damage>()
        .register_type::<Dead>()
        .register_type::<Died>()
        .register_type::<Hazard>()
        .register_type::<Health>()
        .register_type::<LastAttacker>()
        .register_type::<PlayerScore>()
        .register_type::<Respawn>()
        .register_type::<RespawnDue>()
        .register_type::<RespawnRules>()
        .register_type::<SpawnProtection>();
}

/// Registers the public types of the warning about a high ping.
pub(crate) fn register_high_ping_types(app: &mut App) {
    app.register_type::<HideHighPing>().register_type::<HighPingWarning>().register_type::<ShowHighPing>();
}

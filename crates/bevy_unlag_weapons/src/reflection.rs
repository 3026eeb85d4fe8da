//! Registration of the reflected types of this crate.

use bevy::prelude::*;

use crate::*;

/// Registers the public types of weapons and projectiles for inspectors.
pub(crate) fn register_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        Aim, Arsenal, ArsenalAsset, ArsenalReplaced, ClearProjectiles, Damage, DisplayedProjectileHit,
        DrawnProjectile, FireRules, HeldWeapon, Loadout, OutgoingShotMessages, ProjectileAppeared,
        ProjectileDisappeared, ProjectileDisplay, ProjectileEnd, ProjectileLaunch, ProjectileRules, RefusedShots,
        ShotFired, ShotJournal, ShotResolved, ShotVerdict, SpreadSecret, Tracer, WeaponControls,
    }
}

/// Registers the public types of health and respawns.
pub(crate) fn register_health_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        Damage, Dead, Died, Hazard, Health, LastAttacker, PlayerScore, Respawn, RespawnDue, RespawnRules,
        SpawnProtection,
    }
}

/// Registers the public types of the warning about a high ping.
pub(crate) fn register_high_ping_types(app: &mut App) {
    app.register_type::<HideHighPing>().register_type::<HighPingWarning>().register_type::<ShowHighPing>();
}

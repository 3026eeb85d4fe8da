//! System sets of weapons.

use bevy::prelude::*;

/// System sets of the weapon systems.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeaponSystems {
    /// In [`RunFixedMainLoop`], before the fixed loop: captures the view on the screen when the trigger is
    /// pulled. Write [`WeaponControls`](crate::WeaponControls) and [`Aim`](crate::Aim) before this set.
    CaptureView,
    /// In [`RunFixedMainLoop`], after the fixed loop: writes [`HeldWeapon`](crate::HeldWeapon) of locally
    /// simulated pawns.
    UpdateHeldWeapons,
    /// In [`FixedPostUpdate`], after the frames of this tick have been recorded: the server validates the
    /// shots of this tick and resolves their hits.
    Validate,
    /// In [`FixedPostUpdate`], after [`Validate`](Self::Validate): the server advances projectiles.
    AdvanceProjectiles,
    /// In [`FixedLast`]: applies all damage and healing of the tick together; writes [`Died`](crate::Died).
    ApplyDamage,
    /// In [`FixedLast`], after [`ApplyDamage`](Self::ApplyDamage): handles each [`Respawn`](crate::Respawn)
    /// of the tick; writes [`RespawnDue`](crate::RespawnDue).
    Respawn,
    /// In [`PostUpdate`], after remote pawns have been drawn: advances every
    /// [`DrawnProjectile`](crate::DrawnProjectile) to the current frame.
    DrawProjectiles,
}

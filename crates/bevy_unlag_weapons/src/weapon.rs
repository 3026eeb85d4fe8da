//! Weapon definitions.

mod damage;
mod handling;

use bevy::prelude::*;
use bevy_unlag_core::Wire;
use serde::{Deserialize, Serialize};

pub use damage::{DamageTable, Falloff};
pub use handling::{Ammo, FireMode, Recoil, Reload, Spread, SpreadSource};

/// Identifier of a weapon: its index in the [`Arsenal`](crate::Arsenal).
#[derive(Wire, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Reflect)]
pub struct WeaponId(#[wire(bits = WeaponId::BITS)] pub u8);

impl WeaponId {
    pub(crate) const BITS: u32 = 6;
}

/// A weapon definition, the same on client and server. Only the server reads its damage.
///
/// Units are metres, seconds and degrees. All times are rounded to ticks.
///
/// ```
/// use bevy_unlag_weapons::{Arsenal, FireMode, Weapon, WeaponId};
///
/// let smg = Weapon { name: "smg".to_owned(), mode: FireMode::Auto, interval: 0.06, ..Weapon::rifle() };
/// let arsenal = Arsenal::new(vec![Weapon::rifle(), smg])?;
/// assert_eq!(arsenal.named("smg"), Some(WeaponId(1)));
/// # Ok::<(), bevy_unlag_weapons::RonError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
#[doc(alias = "AUTWeapon")]
#[doc(alias = "CBaseCombatWeapon")]
pub struct Weapon {
    /// Display name; unique within an arsenal.
    pub name: String,
    /// Kind of shot.
    pub shot: Shot,
    /// Fire mode. Default: one round per pull.
    #[serde(default)]
    pub mode: FireMode,
    /// Time between two rounds, in seconds: 0.01 to 60.
    pub interval: f32,
    /// Spread of the rounds. Default: none.
    #[serde(default)]
    pub spread: Spread,
    /// Recoil. Default: none.
    #[serde(default)]
    pub recoil: Recoil,
    /// Ammunition and reload. Default: unlimited ammunition without reloading.
    #[serde(default)]
    pub ammo: Ammo,
    /// Seconds from equipping the weapon until it can fire. Default: 0.3.
    #[serde(default = "Weapon::default_switch")]
    pub switch: f32,
    /// Damage per hit group and distance.
    pub damage: DamageTable,
    /// Upper limit of the rewind for this weapon, in seconds, where it is less than
    /// [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age). Default: `None`, only that limit
    /// applies.
    #[serde(default)]
    pub max_rewind: Option<f32>,
}

/// Kind of shot that a weapon fires.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
pub enum Shot {
    /// One ray (hitscan).
    Ray {
        /// Maximum distance.
        range: f32,
        /// Number of targets that the ray passes through before it stops in the next one. Default: 0.
        #[serde(default)]
        pierce: u8,
        /// Damage factor that applies after each pierced target. Default: 0.5.
        #[serde(default = "half")]
        pierced: f32,
        /// Radius of the ray, in metres, for a weapon that forgives a near miss. The whole ball must pass: it also
        /// stops at a wall that it touches. A ray with a radius pierces nothing. Default: 0.
        #[serde(default)]
        #[doc(alias = "TraceRadius")]
        radius: f32,
    },
    /// Several rays at once.
    Pellets {
        /// Number of pellets, at most [`MAX_PELLETS`](crate::MAX_PELLETS).
        count: u8,
        /// Maximum distance.
        range: f32,
    },
    /// A projectile with a flight time.
    Projectile(Projectile),
    /// A melee swing that hits all targets within an arc.
    Melee {
        /// Maximum distance.
        reach: f32,
        /// Half the angle of the arc, to either side of the aim.
        half_angle: f32,
        /// Half the height of the arc, up and down from the eye. Default: 1.
        #[serde(default = "one")]
        half_height: f32,
        /// Damage factor of hits from behind (within 60° of straight behind). Default: 1.
        #[serde(default = "one")]
        backstab: f32,
    },
    /// A continuous ray with a radius, cast in every tick while the trigger is down. Its damage is per
    /// second.
    Beam {
        /// Maximum distance.
        range: f32,
        /// Radius of the beam. Default: 0.
        #[serde(default)]
        radius: f32,
    },
}

/// Projectile parameters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
#[doc(alias = "AUTProjectile")]
#[doc(alias = "UProjectileMovementComponent")]
pub struct Projectile {
    /// Initial speed, in metres per second. For a weapon with [`FireMode::Charge`] it is multiplied by the
    /// charge.
    pub speed: f32,
    /// Collision radius; 0 is a point. Default: 0.
    #[serde(default)]
    pub radius: f32,
    /// Acceleration in ordinary gravity, in metres per second squared. Default: 0. It acts along the gravity of the
    /// place where the projectile is, and in proportion to its strength; see
    /// [`WorldGravity`](bevy_unlag_core::WorldGravity).
    #[serde(default)]
    pub gravity: f32,
    /// Lifetime in seconds, after which the projectile disappears, or explodes if it has a splash. Default:
    /// 10. Raising it lets more projectiles be in flight at once.
    #[serde(default = "ten")]
    pub life: f32,
    /// Bouncing off static geometry. Default: `None`, the projectile ends at the first wall.
    #[serde(default)]
    pub bounce: Option<Bounce>,
    /// Splash damage where the projectile ends. Default: `None`.
    #[serde(default)]
    pub splash: Option<Splash>,
}

/// Bounce parameters of a projectile.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
#[doc(alias = "bShouldBounce")]
pub struct Bounce {
    /// Number of bounces before the projectile ends.
    pub times: u8,
    /// Fraction of the speed that remains after each bounce. Default: 0.5.
    #[serde(default = "half")]
    pub keep: f32,
    /// Whether it also bounces off pawns instead of hitting them. Default: no.
    #[serde(default)]
    pub off_pawns: bool,
}

/// Splash damage around the end point of a projectile.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
#[doc(alias = "ApplyRadialDamageWithFalloff")]
pub struct Splash {
    /// Radius in metres.
    pub radius: f32,
    /// Damage at the centre, in points of health of usually 100; it decreases linearly towards the edge.
    pub damage: f32,
    /// Fraction of that damage at the edge. Default: 0.
    #[serde(default)]
    pub edge: f32,
    /// Factor for damage to the shooter itself. Default: 0.5.
    #[serde(default = "half")]
    pub own: f32,
    /// Knockback speed at the centre, in metres per second. Default: 0.
    #[serde(default)]
    pub throw: f32,
}

fn half() -> f32 {
    0.5
}

fn one() -> f32 {
    1.0
}

fn ten() -> f32 {
    10.0
}

impl Weapon {
    fn default_switch() -> f32 {
        0.3
    }

    /// An automatic rifle: 640 rounds per minute, no spread, unlimited ammunition.
    #[must_use]
    pub fn rifle() -> Self {
        Self {
            name: "rifle".to_owned(),
            shot: Shot::Ray { range: 200.0, pierce: 0, pierced: 0.5, radius: 0.0 },
            mode: FireMode::Auto,
            interval: 0.093_75,
            spread: Spread::default(),
            recoil: Recoil::default(),
            ammo: Ammo::default(),
            switch: 0.3,
            damage: DamageTable { head: 100.0, body: 34.0, limb: 20.0, falloff: Falloff::default() },
            max_rewind: None,
        }
    }

    /// Returns the maximum distance that one shot can reach, in metres.
    #[must_use]
    pub fn range(&self) -> f32 {
        match self.shot {
            Shot::Ray { range, .. } | Shot::Pellets { range, .. } | Shot::Beam { range, .. } => range,
            Shot::Melee { reach, .. } => reach,
            Shot::Projectile(projectile) => projectile.speed * projectile.life,
        }
    }

    /// Returns the number of rays per shot; 0 for projectiles.
    #[must_use]
    pub fn pellets(&self) -> u8 {
        match self.shot {
            Shot::Pellets { count, .. } => count,
            Shot::Projectile(_) => 0,
            _ => 1,
        }
    }

    /// Whether the weapon fires projectiles, which hit pawns where they are when they arrive.
    #[must_use]
    pub fn is_projectile(&self) -> bool {
        matches!(self.shot, Shot::Projectile(_))
    }

    /// Whether the weapon fires a beam, that is, a shot in every tick.
    #[must_use]
    pub fn is_beam(&self) -> bool {
        matches!(self.shot, Shot::Beam { .. })
    }
}

/// Converts seconds to ticks; at least 1.
#[must_use]
pub(crate) fn ticks(seconds: f32, dt: f32) -> u16 {
    let ticks = if dt > 1e-6 { (seconds / dt).round() } else { 1.0 };
    // A NaN casts to 0.
    (ticks.clamp(1.0, f32::from(u16::MAX)) as u16).max(1)
}

/// Converts degrees to 1/65,536 of a turn; negative angles become 0.
#[must_use]
pub(crate) fn units(degrees: f32) -> u16 {
    // A NaN casts to 0.
    (degrees * (65_536.0 / 360.0)).round().clamp(0.0, 32_000.0) as u16
}

//! Weapons of the agreement measurements.

use crate::prelude::*;

/// Weapon that every player of a cell fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MeasuredWeapon {
    /// A single ray.
    #[default]
    Hitscan,
    /// A shotgun with twelve pellets.
    Shotgun,
    /// A projectile at 60 m/s.
    Projectile,
    /// A projectile at 160 m/s, which arrives in about the time that its shot takes to reach the server.
    Bolt,
}

impl MeasuredWeapon {
    /// Returns the projectile's speed in metres per second, or `None` for hitscan weapons.
    pub fn speed(self) -> Option<f32> {
        match self {
            Self::Hitscan | Self::Shotgun => None,
            Self::Projectile => Some(60.0),
            Self::Bolt => Some(160.0),
        }
    }

    /// Returns an arsenal of this weapon with zero damage and unlimited ammunition.
    pub fn arsenal(self) -> Arsenal {
        let rifle = Weapon::rifle();
        let damage = DamageTable { head: 0.0, body: 0.0, limb: 0.0, ..rifle.damage.clone() };
        let (shot, interval, still) = match self {
            Self::Hitscan => (rifle.shot, rifle.interval, 0.0),
            Self::Shotgun => (Shot::Pellets { count: 12, range: 60.0 }, 0.4, 2.6),
            Self::Projectile | Self::Bolt => {
                let rocket = Projectile {
                    speed: self.speed().unwrap_or_default(),
                    radius: 0.1,
                    gravity: 0.0,
                    life: 4.0,
                    bounce: None,
                    splash: None,
                };
                (Shot::Projectile(rocket), 0.3, 0.0)
            }
        };
        let spread = Spread { still, ..Spread::default() };
        Arsenal::new(vec![Weapon { shot, interval, spread, damage, ..rifle }]).unwrap_or_default()
    }
}

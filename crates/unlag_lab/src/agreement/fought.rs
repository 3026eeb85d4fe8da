//! With what a cell is fought.

use bevy_unlag::{
    prelude::*,
    weapons::{DamageTable, Projectile, Spread},
};

/// With what a cell is fought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fought {
    /// One ray.
    #[default]
    Hitscan,
    /// Twelve pellets.
    Shotgun,
    /// Something that flies at 60 m/s.
    Projectile,
    /// The same at 160 m/s: it is there in about the time that its shot takes to the server.
    Bolt,
}

impl Fought {
    /// As in keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hitscan => "hitscan",
            Self::Shotgun => "shotgun",
            Self::Projectile => "projectile",
            Self::Bolt => "bolt",
        }
    }

    /// How fast it flies, in metres per second; `None` for what is there at once.
    pub fn speed(self) -> Option<f32> {
        match self {
            Self::Hitscan | Self::Shotgun => None,
            Self::Projectile => Some(60.0),
            Self::Bolt => Some(160.0),
        }
    }

    /// Its weapon, which hurts nobody and never runs dry.
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

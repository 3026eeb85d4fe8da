//! A weapon as data.

mod damage;
mod handling;

use serde::{Deserialize, Serialize};

pub use damage::{Damages, Falloff};
pub use handling::{Ammo, FireMode, Recoil, Reload, Spread, SpreadSource};

/// A weapon's name: its place in the [`Arsenal`](crate::Arsenal).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WeaponId(pub u8);

/// A weapon as data, the same on both sides. What it does to whom it hits only the server asks.
///
/// Metres, seconds, degrees. Every time is rounded to ticks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weapon {
    /// What people call it.
    pub name: String,
    /// What leaves it.
    pub shot: Shot,
    /// What the trigger does. Default: a round for every pull.
    #[serde(default)]
    pub mode: FireMode,
    /// Seconds from one round to the next, 0.01 to 60.
    pub interval: f32,
    /// How far rounds stray. Default: not at all.
    #[serde(default)]
    pub spread: Spread,
    /// How it kicks. Default: not at all.
    #[serde(default)]
    pub recoil: Recoil,
    /// What it fires. Default: it never runs dry.
    #[serde(default)]
    pub ammo: Ammo,
    /// Seconds until it can be used after somebody took it in hand. Default: 0.3.
    #[serde(default = "Weapon::default_switch")]
    pub switch: f32,
    /// What it does.
    pub damage: Damages,
    /// The oldest view that is honoured for it, in seconds, when that is less than
    /// [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age). Default: as old as that.
    #[serde(default)]
    pub max_rewind: Option<f32>,
}

/// What leaves a weapon.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Shot {
    /// One ray.
    Ray {
        /// How far it reaches.
        range: f32,
        /// How many it goes through before the last one whom it hits. Default: 0.
        #[serde(default)]
        pierce: u8,
        /// The part of its damage that is left behind each of them. Default: 0.5.
        #[serde(default = "half")]
        pierced: f32,
    },
    /// Many rays at once.
    Pellets {
        /// How many, at most [`MAX_PELLETS`](crate::MAX_PELLETS).
        count: u8,
        /// How far they reach.
        range: f32,
    },
    /// Something that flies.
    Projectile(Projectile),
    /// A swing at whatever is near.
    Melee {
        /// How far it reaches.
        reach: f32,
        /// How far to either side.
        half_angle: f32,
        /// How far up and down.
        #[serde(default = "one")]
        half_height: f32,
        /// By how much more it hurts from behind: within 60° of there. Default: 1.
        #[serde(default = "one")]
        backstab: f32,
    },
    /// One thick ray in every tick for as long as the trigger is down. Its damage is for a second.
    Beam {
        /// How far it reaches.
        range: f32,
        /// How thick it is.
        #[serde(default)]
        radius: f32,
    },
}

/// Something that flies.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Projectile {
    /// With which it leaves, in metres per second. A charged one leaves with the part that it is charged.
    pub speed: f32,
    /// Its radius; 0 is a point. Default: 0.
    #[serde(default)]
    pub radius: f32,
    /// What pulls it down, in metres per second squared. Default: 0.
    #[serde(default)]
    pub gravity: f32,
    /// Seconds after which it is gone, or bursts when it has a splash. Default: 10. Raising it lets more of
    /// them fly at once.
    #[serde(default = "ten")]
    pub life: f32,
    /// How it bounces off what never moves. Default: it ends there.
    #[serde(default)]
    pub bounce: Option<Bounce>,
    /// What it does around where it ends. Default: nothing.
    #[serde(default)]
    pub splash: Option<Splash>,
}

/// How a projectile bounces.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounce {
    /// How often, before it ends.
    pub times: u8,
    /// The part of its speed that is left each time.
    #[serde(default = "half")]
    pub keep: f32,
    /// Whether it also bounces off whom it meets, instead of hitting them. Default: no.
    #[serde(default)]
    pub off_pawns: bool,
}

/// What a projectile does around where it ends.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splash {
    /// How far it reaches.
    pub radius: f32,
    /// What it does in the middle, of 100 points of health; less and less towards the edge.
    pub damage: f32,
    /// The part of that at the edge. Default: 0.
    #[serde(default)]
    pub edge: f32,
    /// How much of it its own shooter takes. Default: 0.5.
    #[serde(default = "half")]
    pub own: f32,
    /// How fast it throws whoever stands in the middle, in metres per second. Default: 0.
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

    /// An automatic rifle: 640 rounds a minute, no spread, never dry.
    #[must_use]
    pub fn rifle() -> Self {
        Self {
            name: "rifle".to_owned(),
            shot: Shot::Ray { range: 200.0, pierce: 0, pierced: 0.5 },
            mode: FireMode::Auto,
            interval: 0.093_75,
            spread: Spread::default(),
            recoil: Recoil::default(),
            ammo: Ammo::default(),
            switch: 0.3,
            damage: Damages { head: 100.0, body: 34.0, limb: 20.0, falloff: Falloff::default() },
            max_rewind: None,
        }
    }

    /// How far one round of it can reach at most.
    #[must_use]
    pub fn range(&self) -> f32 {
        match self.shot {
            Shot::Ray { range, .. } | Shot::Pellets { range, .. } | Shot::Beam { range, .. } => range,
            Shot::Melee { reach, .. } => reach,
            Shot::Projectile(projectile) => projectile.speed * projectile.life,
        }
    }

    /// Rays of one shot.
    #[must_use]
    pub fn pellets(&self) -> u8 {
        match self.shot {
            Shot::Pellets { count, .. } => count,
            Shot::Projectile(_) => 0,
            _ => 1,
        }
    }

    /// Whether it fires in every tick.
    #[must_use]
    pub fn is_beam(&self) -> bool {
        matches!(self.shot, Shot::Beam { .. })
    }
}

/// Seconds as ticks, at least one.
#[must_use]
pub(crate) fn ticks(seconds: f32, dt: f32) -> u16 {
    let ticks = if dt > 1e-6 { (seconds / dt).round() } else { 1.0 };
    // A NaN casts to 0.
    (ticks.clamp(1.0, f32::from(u16::MAX)) as u16).max(1)
}

/// Degrees as 1/65,536 of a turn; what is less than none is none.
#[must_use]
pub(crate) fn units(degrees: f32) -> u16 {
    // A NaN casts to 0.
    (degrees * (65_536.0 / 360.0)).round().clamp(0.0, 32_000.0) as u16
}

//! Weapon handling: fire modes, spread, recoil and ammunition.

use bevy::prelude::*;

use serde::{Deserialize, Serialize};

/// Fire mode of a weapon: how the trigger works.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
pub enum FireMode {
    /// One round per pull.
    #[default]
    Semi,
    /// Rounds for as long as the trigger is down.
    Auto,
    /// A fixed number of rounds per pull.
    Burst {
        /// Rounds per burst.
        rounds: u8,
        /// Seconds between two rounds of a burst; [`Weapon::interval`](super::Weapon::interval) is the time
        /// from the last round of a burst to the next burst.
        pace: f32,
    },
    /// One round on release, stronger the longer the trigger was down.
    Charge {
        /// Minimum charge time, in seconds; released earlier, nothing is fired.
        least: f32,
        /// Seconds until full charge.
        full: f32,
    },
}

/// Spread: half the angle of the cone around the aim, in degrees. All terms that apply are added up.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields, default)]
#[doc(alias = "inaccuracy")]
pub struct Spread {
    /// Base spread. Default: 0.
    pub still: f32,
    /// Added per metre per second of the shooter's speed. Default: 0.
    pub moving: f32,
    /// Added while the shooter is airborne. Default: 0.
    pub airborne: f32,
    /// Factor on the sum while the shooter aims down sights. Default: 1.
    pub aiming: f32,
    /// Added per fired round (bloom). Default: 0.
    pub bloom: f32,
    /// Upper limit of the bloom. Default: 5.
    pub most_bloom: f32,
    /// Recovery rate of the bloom, in degrees per second. Default: 10.
    pub recovery: f32,
    /// Side that chooses the directions of rounds within the cone. Default: the shared [seed](SpreadSource::Seed).
    pub source: SpreadSource,
}

/// Source of the pseudo-random directions within the spread cone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize, Reflect)]
pub enum SpreadSource {
    /// A seed that the server assigned to the pawn, combined with the pawn's shot count. Both sides know it,
    /// so the screen shows every pellet exactly where it counts, and a client cannot choose directions. A
    /// cheat that reads the seed can compensate for the spread of the next round.
    #[default]
    Seed,
    /// Only the server: the screen shows pellets at arbitrary places in the cone, and the verdict reports
    /// which of them hit. A client cannot know where a round goes before it is fired.
    Server,
    /// The client: it sends the direction of each pellet, and the server checks that each lies in the cone. A
    /// cheat can put all pellets in one place. Costs two bytes per pellet.
    Client,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            still: 0.0,
            moving: 0.0,
            airborne: 0.0,
            aiming: 1.0,
            bloom: 0.0,
            most_bloom: 5.0,
            recovery: 10.0,
            source: SpreadSource::default(),
        }
    }
}

/// Recoil of a weapon. Rounds are fired along the kicked aim, and the camera should follow it:
/// [`WeaponState::recoil_angles`](crate::WeaponState::recoil_angles).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields, default)]
#[doc(alias = "view punch")]
#[doc(alias = "aimPunchAngle")]
pub struct Recoil {
    /// Kick per round of continuous fire, in degrees: (right, up). The last entry repeats. Empty: no recoil.
    pub pattern: Vec<(f32, f32)>,
    /// Recovery rate, in degrees per second, also between rounds. Default: 20.
    pub recovery: f32,
}

impl Default for Recoil {
    fn default() -> Self {
        Self { pattern: Vec::new(), recovery: 20.0 }
    }
}

/// Ammunition of a weapon.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields, default)]
pub struct Ammo {
    /// Rounds in a full magazine, at most 1,023. Default: 0, unlimited ammunition.
    pub magazine: u16,
    /// Rounds that a pawn carries in addition to the magazine, at most 1,023. Default: 0.
    pub reserve: u16,
    /// Reload behaviour. Default: the whole magazine in 2 s.
    pub reload: Reload,
}

/// Reload behaviour of a weapon.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
pub enum Reload {
    /// The whole magazine at once.
    Magazine {
        /// Reload time in seconds.
        time: f32,
    },
    /// Round by round; firing interrupts it.
    Rounds {
        /// Seconds until the first round is loaded.
        first: f32,
        /// Seconds from each round to the next.
        each: f32,
    },
}

impl Default for Reload {
    fn default() -> Self {
        Self::Magazine { time: 2.0 }
    }
}

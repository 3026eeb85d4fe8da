//! How a weapon is handled: trigger, spread, recoil, ammunition.

use serde::{Deserialize, Serialize};

/// What the trigger does.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FireMode {
    /// A round for every pull.
    #[default]
    Semi,
    /// Rounds for as long as it is down.
    Auto,
    /// Some rounds for every pull.
    Burst {
        /// How many.
        rounds: u8,
        /// Seconds from one of them to the next; [`Weapon::interval`](super::Weapon::interval) is from the
        /// last one of a burst to the next burst.
        pace: f32,
    },
    /// A round when it is let go, the stronger the longer it was down.
    Charge {
        /// Seconds before which nothing leaves.
        least: f32,
        /// Seconds after which it is at its strongest.
        full: f32,
    },
}

/// How far rounds stray from the aim: half the angle of the cone in degrees. All that applies is added.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spread {
    /// Always. Default: 0.
    pub still: f32,
    /// For each metre per second at which the shooter moves. Default: 0.
    pub moving: f32,
    /// While the shooter stands on nothing. Default: 0.
    pub airborne: f32,
    /// The part of all that is left while the shooter takes aim. Default: 1.
    pub aiming: f32,
    /// More for each round fired. Default: 0.
    pub bloom: f32,
    /// The most that rounds fired add. Default: 5.
    pub most_bloom: f32,
    /// How fast that goes back, in degrees per second. Default: 10.
    pub recovery: f32,
    /// Who says where rounds go. Default: the [seed](SpreadSource::Seed).
    pub source: SpreadSource,
}

/// Who says where in the cone rounds go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
pub enum SpreadSource {
    /// A number that the server gave the pawn, and how many rounds it has fired: both sides know, so the
    /// screen shows every pellet where it counts, and nobody can choose. A cheat that knows the number
    /// can aim against the next round's spread.
    #[default]
    Seed,
    /// Only the server: the screen shows pellets somewhere in the cone, and which of them hit is learned from
    /// the verdict. Nobody can know where a round goes before it is fired.
    Server,
    /// The client: it sends where each pellet went, and the server checks that each is in the cone. A cheat
    /// can put all of them in one place. Two bytes a pellet.
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

/// How a weapon kicks. Rounds go where the kick points, and so should the camera:
/// [`ArmsState::kick`](crate::ArmsState::kick).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recoil {
    /// What each round of a stretch adds, in degrees: to the right, up. The last one goes on. Empty: none.
    pub pattern: Vec<(f32, f32)>,
    /// How fast it goes back, in degrees per second, also between rounds. Default: 20.
    pub recovery: f32,
}

impl Default for Recoil {
    fn default() -> Self {
        Self { pattern: Vec::new(), recovery: 20.0 }
    }
}

/// What a weapon fires.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ammo {
    /// Rounds in a full magazine, at most 1,023. Default 0: it never runs dry.
    pub magazine: u16,
    /// Rounds that a pawn can carry beside that, at most 1,023. Default: 0.
    pub reserve: u16,
    /// How it is loaded. Default: 2 s for a magazine.
    pub reload: Reload,
}

/// How a weapon is loaded.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Reload {
    /// All at once.
    Magazine {
        /// Seconds.
        time: f32,
    },
    /// Round by round, and firing ends it.
    Rounds {
        /// Seconds to the first one.
        first: f32,
        /// Seconds from one to the next.
        each: f32,
    },
}

impl Default for Reload {
    fn default() -> Self {
        Self::Magazine { time: 2.0 }
    }
}

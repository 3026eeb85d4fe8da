//! What a weapon does to whom it hits: only the server asks.

use bevy_unlag_rewind::HitGroup;
use serde::{Deserialize, Serialize};

/// What a weapon does, of 100 points of health.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Damages {
    /// To the head.
    pub head: f32,
    /// To chest and belly.
    pub body: f32,
    /// To arms and legs.
    pub limb: f32,
    /// How much of it is left from afar. Default: all.
    #[serde(default)]
    pub falloff: Falloff,
}

/// How much of a weapon's damage is left from afar: pairs of metres and parts of one, nearest first. Between
/// two of them it changes evenly. Empty: all of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Falloff(pub Vec<(f32, f32)>);

impl Falloff {
    /// The part that is left so many metres away.
    #[must_use]
    pub fn at(&self, distance: f32) -> f32 {
        let Some(first) = self.0.first() else { return 1.0 };
        let mut before = (0.0, first.1);
        for next in &self.0 {
            if distance < next.0 {
                let part = ((distance - before.0) / (next.0 - before.0).max(1e-6)).clamp(0.0, 1.0);
                return before.1 + (next.1 - before.1) * part;
            }
            before = *next;
        }
        before.1
    }
}

impl Damages {
    /// What it does to a part of the body from so many metres away.
    #[must_use]
    pub fn to(&self, group: HitGroup, distance: f32) -> f32 {
        let damage = match group {
            HitGroup::Head => self.head,
            HitGroup::Body => self.body,
            HitGroup::Limb => self.limb,
        };
        damage * self.falloff.at(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_falls_off_evenly_between_two_distances() {
        let falloff = Falloff(vec![(10.0, 1.0), (30.0, 0.5)]);
        for (distance, left) in [(0.0, 1.0), (10.0, 1.0), (20.0, 0.75), (30.0, 0.5), (900.0, 0.5)] {
            assert!((falloff.at(distance) - left).abs() < 1e-6, "{distance} m");
        }
        assert_eq!(Falloff::default().at(50.0), 1.0);
    }
}

//! Damage tables of weapons. Only the server reads them.

use bevy::prelude::*;
use bevy_unlag_rewind::HitGroup;
use serde::{Deserialize, Serialize};

/// Damage per hit group, in points of health of usually 100.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[serde(deny_unknown_fields)]
pub struct DamageTable {
    /// Damage to the head.
    pub head: f32,
    /// Damage to chest and belly.
    pub body: f32,
    /// Damage to arms and legs.
    pub limb: f32,
    /// Damage falloff over distance. Default: none.
    #[serde(default)]
    pub falloff: Falloff,
}

/// Damage falloff: pairs of a distance in metres and a damage factor, nearest first. The factor is
/// interpolated linearly between two pairs and constant outside of them. Empty: no falloff.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, Reflect)]
#[serde(transparent)]
#[doc(alias = "DistanceDamageFalloff")]
pub struct Falloff(pub Vec<(f32, f32)>);

impl Falloff {
    /// Returns the damage factor at a distance in metres.
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

impl DamageTable {
    /// Returns the damage to a hit group at a distance in metres.
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
    fn falloff_interpolates_linearly_between_two_distances() {
        let falloff = Falloff(vec![(10.0, 1.0), (30.0, 0.5)]);
        for (distance, left) in [(0.0, 1.0), (10.0, 1.0), (20.0, 0.75), (30.0, 0.5), (900.0, 0.5)] {
            assert!((falloff.at(distance) - left).abs() < 1e-6, "{distance} m");
        }
        assert_eq!(Falloff::default().at(50.0), 1.0);
    }
}

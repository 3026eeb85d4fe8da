//! What a hit does, by weapon: known to the server alone.

use bevy::prelude::*;
use bevy_unlag_rewind::HitGroup;

/// A weapon's name in the [`DamageTable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct WeaponId(pub u8);

/// What one weapon does to each part of the body, of 100 points of health.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WeaponDamage {
    /// To the head.
    pub head: f32,
    /// To chest and belly.
    pub body: f32,
    /// To arms and legs.
    pub limb: f32,
}

/// What every weapon does, in the order of [`WeaponId`]s. Default: one rifle with 100, 34 and 20.
#[derive(Resource, Clone, PartialEq, Debug)]
pub struct DamageTable(pub Vec<WeaponDamage>);

impl Default for DamageTable {
    fn default() -> Self {
        Self(vec![WeaponDamage { head: 100.0, body: 34.0, limb: 20.0 }])
    }
}

impl DamageTable {
    /// What `weapon` does to a part of the body; nothing when there is no such weapon.
    #[must_use]
    pub fn look_up(&self, weapon: WeaponId, group: HitGroup) -> f32 {
        self.0.get(usize::from(weapon.0)).map_or(0.0, |damage| match group {
            HitGroup::Head => damage.head,
            HitGroup::Body => damage.body,
            HitGroup::Limb => damage.limb,
        })
    }
}

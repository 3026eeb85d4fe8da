//! Weapon sets of the shooter.

use bevy_unlag::{link_conditioner::RonFile, prelude::*};

/// A set of weapons to play with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WeaponSet {
    /// One rifle with unlimited ammunition, for measurements.
    #[default]
    Rifle,
    /// Rifle, shotgun, rocket launcher and knife: `assets/weapons/shooter.weapons.ron`.
    All,
}

impl WeaponSet {
    /// Returns its weapons.
    ///
    /// # Panics
    /// Panics when the weapon file is invalid; the message says where.
    #[must_use]
    pub fn arsenal(self) -> Arsenal {
        match self {
            Self::Rifle => Arsenal::default(),
            Self::All => Arsenal::from_ron(include_str!("../../assets/weapons/shooter.weapons.ron"))
                .unwrap_or_else(|error| panic!("assets/weapons/shooter.weapons.ron: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weapon_file_has_the_ids_that_scripts_expect_and_round_trips() {
        let arsenal = WeaponSet::All.arsenal();
        for (index, name) in ["Rifle", "Shotgun", "Rocket launcher", "Knife"].into_iter().enumerate() {
            assert_eq!(arsenal.named(name), Some(WeaponId(index as u8)));
        }
        let again = Arsenal::from_ron(&arsenal.to_ron().expect("it can be written"));
        assert_eq!(again.as_ref(), Ok(&arsenal));
    }
}

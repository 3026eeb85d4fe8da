//! The weapons of the shooter.

use bevy_unlag::prelude::*;

/// What there is to fight with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Armoury {
    /// One rifle that never runs dry: for measuring.
    #[default]
    Rifle,
    /// A rifle, a shotgun, a rocket launcher and a knife: `examples/assets/shooter.weapons.ron`.
    All,
}

impl Armoury {
    /// Its weapons.
    ///
    /// # Panics
    /// When somebody broke the file: the message says where.
    #[must_use]
    pub fn arsenal(self) -> Arsenal {
        match self {
            Self::Rifle => Arsenal::default(),
            Self::All => Arsenal::from_ron(include_str!("../assets/shooter.weapons.ron"))
                .unwrap_or_else(|error| panic!("examples/assets/shooter.weapons.ron: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_the_scripts_think() {
        let arsenal = Armoury::All.arsenal();
        for (index, name) in ["Rifle", "Shotgun", "Rocket launcher", "Knife"].into_iter().enumerate() {
            assert_eq!(arsenal.named(name), Some(WeaponId(index as u8)));
        }
        let again = Arsenal::from_ron(&arsenal.to_ron().expect("it can be written"));
        assert_eq!(again.as_ref(), Ok(&arsenal));
    }
}

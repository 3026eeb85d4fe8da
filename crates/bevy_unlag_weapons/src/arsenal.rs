//! Weapon definitions of a game.

mod text;
mod validation;

use bevy::{asset::Asset, prelude::*};
use checked_ron::RonError;

use crate::weapon::{Shot, Splash, Weapon, WeaponId};

/// All weapons of a game, by their [`WeaponId`]s; the same on both sides, but for damage, which only the
/// server asks for. Default: one [rifle](Weapon::rifle).
///
/// ```
/// # use bevy_unlag_weapons::{Arsenal, RonFile, WeaponId};
/// let arsenal = Arsenal::from_ron(r#"[
///     (
///         name: "shotgun",
///         shot: Pellets(count: 12, range: 60.0),
///         interval: 0.8,
///         spread: (still: 3.0),
///         ammo: (magazine: 6, reserve: 24, reload: Rounds(first: 0.6, each: 0.4)),
///         damage: (head: 16.0, body: 9.0, limb: 7.0, falloff: [(8.0, 1.0), (25.0, 0.3)]),
///     ),
///     (
///         name: "rocket launcher",
///         shot: Projectile((speed: 30.0, radius: 0.1, splash: Some((radius: 4.0, damage: 90.0)))),
///         interval: 0.8,
///         damage: (head: 100.0, body: 100.0, limb: 100.0),
///     ),
/// ]"#)?;
/// assert_eq!(arsenal.named("rocket launcher"), Some(WeaponId(1)));
/// # Ok::<(), bevy_unlag_weapons::RonError>(())
/// ```
///
/// In the book: *Weapons and health*, `book/src/reference/weapons.md`.
#[derive(Resource, Asset, Clone, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct Arsenal {
    weapons: Vec<Weapon>,
    hash: u32,
}

const _: () = assert!(Arsenal::MAX_WEAPONS == 1 << WeaponId::BITS);

impl Default for Arsenal {
    fn default() -> Self {
        let weapons = vec![Weapon::rifle()];
        Self { hash: hash(&weapons), weapons }
    }
}

impl Arsenal {
    /// Maximum number of weapons.
    pub const MAX_WEAPONS: usize = 64;

    /// Creates an arsenal of these weapons; the first one is `WeaponId(0)`.
    ///
    /// # Errors
    /// Names the first invalid weapon and field, and what to change.
    pub fn new(weapons: Vec<Weapon>) -> Result<Self, RonError> {
        validation::check(&weapons)?;
        Ok(Self { hash: hash(&weapons), weapons })
    }

    /// Returns a weapon by its identifier.
    #[must_use]
    pub fn get(&self, weapon: WeaponId) -> Option<&Weapon> {
        self.weapons.get(usize::from(weapon.0))
    }

    /// Returns the identifier of a weapon by its name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<WeaponId> {
        self.weapons.iter().position(|weapon| weapon.name == name).map(|index| WeaponId(index as u8))
    }

    /// Returns all weapons in the order of their identifiers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (WeaponId, &Weapon)> {
        self.weapons.iter().enumerate().map(|(index, weapon)| (WeaponId(index as u8), weapon))
    }

    /// Returns a hash of everything except damage and rewind limits; client and server compare it.
    #[must_use]
    pub fn hash(&self) -> u32 {
        self.hash
    }
}

fn hash(weapons: &[Weapon]) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for weapon in weapons {
        let mut hashed = Weapon { damage: Weapon::rifle().damage, max_rewind: None, ..weapon.clone() };
        if let Shot::Projectile(projectile) = &mut hashed.shot {
            // Splash damage is excluded as well; its radius is included, because clients show it.
            let reach = |splash: Splash| Splash { damage: 0.0, edge: 0.0, own: 0.0, throw: 0.0, ..splash };
            projectile.splash = projectile.splash.map(reach);
        }
        // The debug text contains every field, with floats as their shortest exact decimals.
        for byte in format!("{hashed:?}").bytes() {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    hash
}

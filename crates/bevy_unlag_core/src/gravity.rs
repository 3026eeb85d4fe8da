//! Gravity as a function of the place, for everything that flies.

use std::sync::Arc;

use bevy::prelude::*;

/// Gravity at one place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LocalGravity {
    /// Unit vector against gravity.
    pub up: Vec3,
    /// Strength relative to the app's ordinary gravity; 0 for none.
    pub scale: f32,
}

impl Default for LocalGravity {
    /// Ordinary gravity along -Y.
    fn default() -> Self {
        Self { up: Vec3::Y, scale: 1.0 }
    }
}

impl LocalGravity {
    /// Returns the direction of gravity as a unit vector.
    #[must_use]
    pub fn down(&self) -> Vec3 {
        // Unlike a negation, it makes no negative zeros: exactly -Y where +Y is up.
        Vec3::ZERO - self.up
    }

    /// Returns the acceleration of something that accelerates by `ordinary` in ordinary gravity, in metres per
    /// second squared.
    #[must_use]
    pub fn acceleration(&self, ordinary: f32) -> Vec3 {
        self.down() * (ordinary * self.scale)
    }
}

type GravityAt = dyn Fn(Vec3) -> LocalGravity + Send + Sync;

/// Gravity everywhere in the level, the same on all machines. The crate that moves pawns provides it: the
/// movement crate from its configuration and its volumes. Default: unknown, and a projectile falls along its
/// shooter's up direction at the launch.
#[derive(Resource, Clone, Default, Reflect)]
#[reflect(Resource, Default)]
pub struct WorldGravity {
    // A function has no fields to show.
    #[reflect(ignore)]
    gravity: Option<Arc<GravityAt>>,
}

impl core::fmt::Debug for WorldGravity {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("WorldGravity").field("known", &self.gravity.is_some()).finish()
    }
}

impl WorldGravity {
    /// Creates the resource from a pure function of a point in the world.
    #[must_use]
    pub fn new(gravity: impl Fn(Vec3) -> LocalGravity + Send + Sync + 'static) -> Self {
        Self { gravity: Some(Arc::new(gravity)) }
    }

    /// Returns the gravity at a point in the world; `None` if it is not known.
    #[must_use]
    pub fn at(&self, point: Vec3) -> Option<LocalGravity> {
        let here = self.gravity.as_deref()?(point);
        (here.up.is_finite() && here.scale.is_finite()).then_some(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_gravity_has_the_bits_of_a_fall_along_minus_y() {
        for strength in [9.81_f32, 0.0, 20.0, 1e-3] {
            let expected = Vec3::NEG_Y * strength;
            let acceleration = LocalGravity::default().acceleration(strength);
            assert_eq!(acceleration.to_array().map(f32::to_bits), expected.to_array().map(f32::to_bits));
        }
    }

    #[test]
    fn gravity_follows_the_place_and_is_unknown_by_default() {
        assert_eq!(WorldGravity::default().at(Vec3::ZERO), None);
        let planet = WorldGravity::new(|point| LocalGravity { up: point.normalize(), scale: 0.5 });
        let side = planet.at(Vec3::X * 40.0).expect("it is known");
        assert_eq!(side.acceleration(10.0), Vec3::NEG_X * 5.0);
        assert_eq!(planet.at(Vec3::ZERO), None, "there is no direction at the centre");
    }
}

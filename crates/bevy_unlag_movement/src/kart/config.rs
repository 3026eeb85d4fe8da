//! Tuning of the kart.

use bevy::prelude::*;
use bevy_unlag_core::PawnClass;

use crate::{
    config::{InvalidConfig, PawnCollision, check_ranges, ranged_config},
    floor::FloorRules,
    pawn_capsules::PawnCollisionConfig,
    pawn_classes::{self, TooManyClasses},
    sweep::Body,
};

/// Upper bound of plausible kilograms, newtons and so on.
const MAX_VALUE: f32 = 1e6;

ranged_config! {
    /// Tuning of [`KartModel`](crate::KartModel). It must be the same on client and server: a difference
    /// causes a misprediction in every tick.
    ///
    /// At top speed, drag and rolling resistance equal the driving force: √((`max_driving_force` -
    /// `rolling_resistance` · `mass` · `gravity`) / `drag`), by default 24.8 m/s.
    #[derive(Resource, Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize, Reflect)]
    #[reflect(Resource, Debug, Default)]
    #[serde(default)]
    pub struct KartConfig(config) {
        /// Mass in kilograms; default 1,000. Raising it makes the kart slower to start and to stop.
        pub mass: f32 = 1_000.0, within 0.001..=MAX_VALUE;
        /// Driving force at full throttle, forwards and backwards, in newtons; default 10,000.
        pub max_driving_force: f32 = 10_000.0, within 0.0..=MAX_VALUE;
        /// Radius in metres of the circle that full steering drives, at any speed; default 10.
        pub min_turning_radius: f32 = 10.0, within 0.01..=MAX_VALUE;
        /// Drag in newtons at 1 m/s; it grows with the square of the speed; default 16. Raising it lowers
        /// the top speed.
        pub drag: f32 = 16.0, within 0.0..=MAX_VALUE;
        /// Rolling resistance in newtons per newton of weight; default 0.015. It stops a kart that coasts.
        pub rolling_resistance: f32 = 0.015, within 0.0..=100.0;
        /// Gravity in metres per second squared, downwards; default 9.81.
        pub gravity: f32 = 9.81, within 0.0..=10_000.0;
        /// Deceleration of sideways slip by the tyres, in metres per second squared; default 20. Only a
        /// wall, a landing or a push causes slip. At 0 a kart leaves a wall as if on ice.
        pub side_grip: f32 = 20.0, within 0.0..=MAX_VALUE;
        /// Speed in metres per second; default 2. The wheels stay on a floor that falls away no faster than
        /// this; otherwise, such as at the end of a ramp, the kart takes off in its current direction.
        /// Raising it keeps fast karts on the floor at crests.
        pub stick_speed: f32 = 2.0, within 0.0..=MAX_VALUE;
        /// Upper limit of any speed, falls included, in metres per second; default 60. Raising it makes fast
        /// moves more expensive.
        pub max_speed: f32 = 60.0, within 0.1..=1_000.0;

        /// Radius of the capsule in metres; default 0.7. The kart collides as an upright capsule: its
        /// heading does not change the gaps that it fits through.
        pub radius: f32 = 0.7, within 0.01..=100.0;
        /// Distance from the middle to the ground in metres; default 0.7. Must not be less than the radius.
        pub half_height: f32 = 0.7, within config.radius..=100.0;
        /// Height of the camera above the ground in metres; default 1.2.
        pub eye_height: f32 = 1.2, within 0.0..=200.0;
        /// Height in metres; default 0.25. Karts drive over edges up to this height and follow floors up to
        /// this far below. Raising it makes driving past clutter more expensive.
        pub clearance: f32 = 0.25, within 0.0..=2.0 * config.half_height;
        /// Smallest upward component of the normal of a floor; default 0.71, about 44.8°. A steeper surface
        /// is a wall.
        pub walkable_floor_y: f32 = 0.71, within 0.2..=1.0;

        /// Collision with other pawns. Default: [`PawnCollision::Block`].
        pub pawns: PawnCollision = PawnCollision::Block;
        /// Speed in metres per second at which overlapping karts drift apart with [`PawnCollision::Push`];
        /// default 3.
        pub pawn_push_speed: f32 = 3.0, within 0.0..=config.max_speed;
        /// Rapier collision groups whose members block a kart; default all. Colliders without groups always
        /// block it.
        pub blocked_by: u32 = u32::MAX;

        /// Configurations of the classes from 1 on; see [`add_class`](Self::add_class). Class 0 is this one.
        pub classes: Vec<Self> = Vec::new();
    }
}

impl KartConfig {
    /// Adds the configuration of a class and returns the class. Add the same classes in the same order on client
    /// and server.
    ///
    /// # Errors
    /// Returns [`TooManyClasses`] when there are already 256 classes.
    pub fn add_class(&mut self, class: Self) -> Result<PawnClass, TooManyClasses> {
        let number = pawn_classes::next(&self.classes)?;
        self.classes.push(Self { classes: Vec::new(), ..class });
        Ok(number)
    }

    /// Returns whether there is a class: class 0, or one that [`add_class`](Self::add_class) has returned.
    #[must_use]
    pub fn has_class(&self, class: PawnClass) -> bool {
        pawn_classes::has(&self.classes, class)
    }

    /// Returns the configuration of a class; this one for an unknown class.
    #[must_use]
    pub fn class(&self, class: PawnClass) -> &Self {
        pawn_classes::find(self, &self.classes, class)
    }

    /// Returns the speed that a kart reaches on a floor at full throttle, in metres per second. Without
    /// drag it is [`max_speed`](Self::max_speed).
    #[must_use]
    pub fn top_speed(&self) -> f32 {
        let rolling = self.rolling_resistance * self.mass * self.gravity;
        ((self.max_driving_force - rolling).max(0.0) / self.drag).sqrt().min(self.max_speed)
    }

    /// Checks that all fields are in range, those of the classes included. [`KartPlugin`](crate::KartPlugin) calls
    /// this when the resource changes, and logs a warning.
    ///
    /// # Errors
    /// Returns the first field that is out of range.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        check_ranges("KartConfig", self.ranges())?;
        self.classes.iter().try_for_each(Self::check)
    }

    pub(crate) fn body(&self) -> Body {
        Body::new(self.radius, self.half_height)
    }

    pub(crate) fn floor_rules(&self) -> FloorRules {
        FloorRules {
            walkable_y: self.walkable_floor_y,
            step_height: self.clearance,
            flat_base: false,
            perch_threshold: 0.0,
            perch_height: 0.0,
            rim_height: self.clearance,
        }
    }
}

impl PawnCollisionConfig for KartConfig {
    fn pawns(&self) -> PawnCollision {
        self.pawns
    }

    fn size(&self, class: PawnClass, _crouched: bool) -> (f32, f32) {
        let config = self.class(class);
        (config.radius, config.half_height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_config_passes_the_check_and_an_invalid_field_is_named() {
        let usual = KartConfig::default;
        assert_eq!(usual().check(), Ok(()));
        assert!((usual().top_speed() - 24.815).abs() < 1e-2, "{}", usual().top_speed());
        let field = |config: KartConfig| config.check().map_err(|error| error.field);
        assert_eq!(field(KartConfig { mass: 0.0, ..usual() }), Err("mass"));
        assert_eq!(field(KartConfig { min_turning_radius: f32::NAN, ..usual() }), Err("min_turning_radius"));
        assert_eq!(field(KartConfig { half_height: 0.1, ..usual() }), Err("half_height"));
        let Err(error) = (KartConfig { drag: -1.0, ..usual() }).check() else {
            panic!("invalid config accepted")
        };
        assert_eq!(error.to_string(), "KartConfig::drag is -1; it must be from 0 to 1000000");
    }

    #[test]
    fn class_has_its_own_tuning_and_an_unknown_class_that_of_class_0() {
        let mut config = KartConfig::default();
        let truck = KartConfig { mass: 4_000.0, radius: 1.2, half_height: 1.3, ..KartConfig::default() };
        assert_eq!(config.add_class(truck), Ok(PawnClass(1)));
        assert_eq!((config.class(PawnClass(0)).mass, config.class(PawnClass(1)).mass), (1_000.0, 4_000.0));
        assert_eq!(config.size(PawnClass(1), false), (1.2, 1.3));
        assert!(config.has_class(PawnClass(0)) && config.has_class(PawnClass(1)));
        assert!(!config.has_class(PawnClass(2)));
        assert_eq!(config.class(PawnClass(2)).mass, 1_000.0);
        assert_eq!(config.check(), Ok(()));
        config.classes[0].mass = 0.0;
        assert_eq!(config.check().map_err(|error| error.field), Err("mass"), "a field of a class");
        config.classes = vec![KartConfig::default(); 255];
        assert_eq!(config.add_class(KartConfig::default()), Err(TooManyClasses));
    }
}

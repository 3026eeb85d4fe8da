//! The tuning of the kart.

use bevy::prelude::*;

use crate::{
    InvalidConfig, PawnCollision,
    config::{Figure, check_figures},
    floor::Footing,
    placing::PawnSize,
    sweep::Body,
};

/// The tuning of [`KartModel`](crate::KartModel). It must be the same on both sides: a difference is
/// a misprediction in every tick.
///
/// The top speed is where drag and rolling resistance take as much as the engine gives:
/// √((`max_driving_force` - `rolling_resistance` · `mass` · `gravity`) / `drag`), by default 24.8 m/s.
#[derive(Resource, Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct KartConfig {
    /// Kilograms; default 1,000. Raising it makes everything slower to start and to stop.
    pub mass: f32,
    /// Newtons at full throttle, forwards and backwards; default 10,000.
    pub max_driving_force: f32,
    /// Metres; default 10. The radius of the circle that full steering drives, at any speed.
    pub min_turning_radius: f32,
    /// Newtons at 1 m/s, growing with the square of the speed; default 16. Raising it lowers the
    /// top speed.
    pub drag: f32,
    /// Newtons per newton of weight; default 0.015. What stops a kart that is let roll.
    pub rolling_resistance: f32,
    /// Metres per second squared, downwards; default 9.81.
    pub gravity: f32,
    /// Metres per second squared; default 20. How fast the tyres take away speed across the heading,
    /// which only a wall, a landing or a push gives. At 0 a kart leaves a wall as if on ice.
    pub side_grip: f32,
    /// Metres per second; default 2. What falls away from under the wheels no faster is followed; off
    /// anything else, such as the end of a ramp, a kart flies on as it came. Raising it keeps fast
    /// karts on crests.
    pub stick_speed: f32,
    /// Metres per second; default 60. No kart is ever faster, falls included. Raising it makes fast
    /// moves dearer.
    pub max_speed: f32,

    /// Metres; default 0.7. The kart is an upright capsule to the level and to others: whichever way
    /// it points, it fits through the same gaps.
    pub radius: f32,
    /// Metres from the middle to the ground; default 0.7. Not less than the radius.
    pub half_height: f32,
    /// Metres above the ground that a camera looks from; default 1.2.
    pub eye_height: f32,
    /// Metres; default 0.25. Edges up to this height are driven over, and floors up to this far
    /// below are followed. Raising it makes driving past clutter dearer.
    pub clearance: f32,
    /// The upward part of a floor's normal; default 0.71, about 44.8°. Steeper is a wall.
    pub walkable_floor_y: f32,

    /// What other pawns are. Default: [`PawnCollision::Block`].
    pub pawns: PawnCollision,
    /// Metres per second at which two karts in one place drift apart, with
    /// [`PawnCollision::Push`]; default 3.
    pub pawn_push_speed: f32,
    /// Rapier's collision groups whose members stop a kart; default all, and colliders without
    /// groups always do.
    pub blocked_by: u32,
}

impl Default for KartConfig {
    fn default() -> Self {
        Self {
            mass: 1_000.0,
            max_driving_force: 10_000.0,
            min_turning_radius: 10.0,
            drag: 16.0,
            rolling_resistance: 0.015,
            gravity: 9.81,
            side_grip: 20.0,
            stick_speed: 2.0,
            max_speed: 60.0,
            radius: 0.7,
            half_height: 0.7,
            eye_height: 1.2,
            clearance: 0.25,
            walkable_floor_y: 0.71,
            pawns: PawnCollision::Block,
            pawn_push_speed: 3.0,
            blocked_by: u32::MAX,
        }
    }
}

impl KartConfig {
    /// Metres per second that a kart reaches on a floor at full throttle; endless without drag.
    #[must_use]
    pub fn top_speed(&self) -> f32 {
        let rolling = self.rolling_resistance * self.mass * self.gravity;
        ((self.max_driving_force - rolling).max(0.0) / self.drag).sqrt().min(self.max_speed)
    }

    /// Whether every figure makes sense. [`KartPlugin`](crate::KartPlugin) asks whenever the
    /// resource changes, and warns.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        const MUCH: f32 = 1e6;
        let figures: [Figure; 15] = [
            ("mass", self.mass, 0.001, MUCH),
            ("max_driving_force", self.max_driving_force, 0.0, MUCH),
            ("min_turning_radius", self.min_turning_radius, 0.01, MUCH),
            ("drag", self.drag, 0.0, MUCH),
            ("rolling_resistance", self.rolling_resistance, 0.0, 100.0),
            ("gravity", self.gravity, 0.0, 10_000.0),
            ("side_grip", self.side_grip, 0.0, MUCH),
            ("stick_speed", self.stick_speed, 0.0, MUCH),
            ("max_speed", self.max_speed, 0.1, 1_000.0),
            ("radius", self.radius, 0.01, 100.0),
            ("half_height", self.half_height, self.radius, 100.0),
            ("eye_height", self.eye_height, 0.0, 200.0),
            ("clearance", self.clearance, 0.0, 2.0 * self.half_height),
            ("walkable_floor_y", self.walkable_floor_y, 0.2, 1.0),
            ("pawn_push_speed", self.pawn_push_speed, 0.0, self.max_speed),
        ];
        check_figures("KartConfig", figures)
    }

    pub(crate) fn body(&self) -> Body {
        Body::new(self.radius, self.half_height)
    }

    pub(crate) fn footing(&self) -> Footing {
        Footing {
            walkable_y: self.walkable_floor_y,
            step_height: self.clearance,
            flat_base: false,
            perch_threshold: 0.0,
            perch_height: 0.0,
            rim_height: self.clearance,
        }
    }
}

impl PawnSize for KartConfig {
    fn pawns(&self) -> PawnCollision {
        self.pawns
    }

    fn size(&self, _crouched: bool) -> (f32, f32) {
        (self.radius, self.half_height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_course_makes_sense_and_nonsense_is_named() {
        let usual = KartConfig::default();
        assert_eq!(usual.check(), Ok(()));
        assert!((usual.top_speed() - 24.815).abs() < 1e-2, "{}", usual.top_speed());
        let field = |config: KartConfig| config.check().map_err(|error| error.field);
        assert_eq!(field(KartConfig { mass: 0.0, ..usual }), Err("mass"));
        assert_eq!(field(KartConfig { min_turning_radius: f32::NAN, ..usual }), Err("min_turning_radius"));
        assert_eq!(field(KartConfig { half_height: 0.1, ..usual }), Err("half_height"));
        let Err(error) = (KartConfig { drag: -1.0, ..usual }).check() else { panic!("it is wrong") };
        assert_eq!(error.to_string(), "KartConfig::drag is -1; it must be from 0 to 1000000");
    }
}

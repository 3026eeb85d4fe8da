//! The tuning of the capsule mover.

use bevy::prelude::*;

/// The tuning of [`CapsuleModel`](crate::CapsuleModel). It must be the same on both sides: a
/// difference is a misprediction in every tick. The defaults are Unreal's, in metres.
#[derive(Resource, Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct CapsuleConfig {
    /// Metres; default 0.34. A gap must be a little wider than twice this to walk through.
    pub radius: f32,
    /// Metres from the middle to the feet, standing; default 0.88, so 1.76 m tall.
    pub half_height: f32,
    /// Metres from the middle to the feet, crouched; default 0.40. Never less than the radius.
    pub crouched_half_height: f32,
    /// Metres above the feet that a standing pawn looks from; default 1.64.
    pub eye_height: f32,
    /// Metres above the feet that a crouched pawn looks from; default 0.66.
    pub crouched_eye_height: f32,
    /// Metres per second; default 6. What full input reaches on any walkable ground.
    pub max_walk_speed: f32,
    /// Metres per second; default 3. What full input reaches crouched.
    pub crouched_speed: f32,
    /// Metres per second squared; default 20.48. How fast input changes the speed: a stand turns
    /// into a run in 0.3 s.
    pub acceleration: f32,
    /// Per second; default 8. How fast a run turns to a new direction, and, twice, how hard a
    /// pawn without input brakes in proportion to its speed.
    pub ground_friction: f32,
    /// Metres per second squared; default 20.48. The constant part of braking.
    pub braking_deceleration: f32,
    /// Metres per second; default 4.2. The height of a jump is this squared over twice gravity.
    pub jump_speed: f32,
    /// Metres per second squared, downwards; default 9.8.
    pub gravity: f32,
    /// 0 to 1; default 0.05. The fraction of `acceleration` that input has in the air.
    pub air_control: f32,
    /// Metres per second; default 60. No pawn is ever faster, so that a move stays near the
    /// colliders that were looked up for it.
    pub max_speed: f32,
    /// Metres; default 0.45. Ledges up to this height above the floor are climbed, and floors up
    /// to this far below are stepped down to.
    pub step_height: f32,
    /// The upward part of a floor's normal; default 0.71, about 44.8°. Steeper is a wall.
    pub walkable_floor_y: f32,
}

impl Default for CapsuleConfig {
    fn default() -> Self {
        Self {
            radius: 0.34,
            half_height: 0.88,
            crouched_half_height: 0.40,
            eye_height: 1.64,
            crouched_eye_height: 0.66,
            max_walk_speed: 6.0,
            crouched_speed: 3.0,
            acceleration: 20.48,
            ground_friction: 8.0,
            braking_deceleration: 20.48,
            jump_speed: 4.2,
            gravity: 9.8,
            air_control: 0.05,
            max_speed: 60.0,
            step_height: 0.45,
            walkable_floor_y: 0.71,
        }
    }
}

//! Pose of a pawn at one moment.

use bevy::prelude::*;

use crate::base_poses::{BaseView, heading};

/// Pose of a pawn, both for drawing and for hit validation.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize, Reflect)]
pub struct PoseSample {
    /// Position of the root, in metres.
    pub position: Vec3,
    /// Velocity in metres per second: the derivative of the drawn position.
    pub velocity: Vec3,
    /// Acceleration in metres per second squared; zero if it was not sent.
    pub acceleration: Vec3,
    /// Orientation: +Y points to the head, turned by the heading.
    pub rotation: Quat,
    /// Turn rate in radians per second about the up axis: the derivative of the drawn heading.
    pub spin: f32,
    /// Pitch of the view in radians.
    pub pitch: f32,
    /// Crouch amount: 0 is standing, 1 fully crouched.
    pub crouch: f32,
    /// Whether the pawn can be drawn and hit.
    pub alive: bool,
    /// Whether the pawn stands on something.
    pub grounded: bool,
    /// Whether gravity acts on the pawn.
    pub falling: bool,
}

impl PoseSample {
    /// Returns the up direction, a unit vector: exactly +Y if the rotation is a heading only.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        let upright = self.rotation.x == 0.0 && self.rotation.z == 0.0;
        if upright { Vec3::Y } else { self.rotation * Vec3::Y }
    }

    /// Transforms the pose from the space of `base` into the world. Returns it unchanged if there is no such
    /// base. `turns`: whether the heading is relative to the base.
    #[must_use]
    pub fn to_world(self, base: u16, turns: bool, bases: &BaseView<'_>) -> Self {
        let Some(pose) = bases.pose(base) else { return self };
        // Only about its own up axis: the pawn stands upright in the world even on a tilted base.
        let turn = if turns { Quat::from_rotation_y(heading(pose.rotation)) } else { Quat::IDENTITY };
        Self {
            position: pose.transform_point(self.position).into(),
            velocity: pose.rotation * self.velocity + bases.velocity(base, self.position),
            acceleration: pose.rotation * self.acceleration,
            rotation: self.rotation * turn,
            ..self
        }
    }

    /// Extrapolates the pose by `seconds`, with its acceleration and along its curve. A decelerating pawn
    /// stops at rest and does not reverse.
    #[must_use]
    pub fn extrapolated(self, seconds: f32) -> Self {
        let speed = self.velocity.length();
        let forward = self.velocity / speed.max(1e-3);
        let along = self.acceleration.dot(forward);
        let driven = if speed > 1e-3 && along < 0.0 { seconds.min(speed / -along) } else { seconds };
        let up = self.rotation * Vec3::Y;
        // A pawn with a spin follows a curve. The acceleration determines the turn rate of its path, because
        // a sliding car does not drive where it points.
        let ahead = (self.rotation * Vec3::NEG_Z).dot(forward).abs();
        let rate = if self.spin == 0.0 || speed < SLOW || ahead < STRAIGHT {
            0.0
        } else if self.acceleration == Vec3::ZERO {
            self.spin
        } else {
            up.dot(forward.cross(self.acceleration)) / speed
        };
        let acceleration = if rate == 0.0 { self.acceleration } else { forward * along };
        let end = self.velocity + acceleration * driven;
        let way = (self.velocity + end) * (0.5 * driven) + end * (seconds - driven);
        let bend = (rate * seconds).clamp(-1.0, 1.0);
        // The chord of an arc bisects the angle between its tangents.
        let half = Quat::from_axis_angle(up, bend * 0.5);
        Self {
            position: self.position + half * way * (1.0 - bend * bend / 24.0),
            velocity: half * (half * end),
            acceleration: if driven < seconds { Vec3::ZERO } else { half * (half * self.acceleration) },
            rotation: Quat::from_axis_angle(up, self.spin * seconds) * self.rotation,
            ..self
        }
    }

    /// Returns the pose after a free fall of `seconds` with an acceleration in metres per second squared.
    pub(crate) fn fallen(self, gravity: Vec3, seconds: f32) -> Self {
        let gained = gravity * seconds;
        Self {
            position: self.position + (self.velocity + gained * 0.5) * seconds,
            velocity: self.velocity + gained,
            rotation: Quat::from_axis_angle(self.up(), self.spin * seconds) * self.rotation,
            ..self
        }
    }
}

/// Speed in metres per second below which the path is not curved.
const SLOW: f32 = 0.5;
/// Cosine of the angle between heading and velocity below which a pawn slides and its path is not curved.
const STRAIGHT: f32 = 0.7;

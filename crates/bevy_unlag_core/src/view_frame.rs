//! Frame of a pawn's view: which way is up for the pawn, and where its heading is measured from.

use bevy::prelude::*;

use crate::{
    angle::{look_angles, look_direction, units_to_angle},
    up::upright_rotation,
};

/// Frame in which a pawn measures the heading and pitch of its view; see
/// [`MoveModel::view_frame`](crate::MoveModel::view_frame). Default: the world's, in which +Y is up.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct ViewFrame {
    /// Unit vector against gravity.
    pub up: Vec3,
    /// Angle by which the world has turned the view about [`up`](Self::up), in 1/65,536 of a turn.
    pub turn: u16,
}

impl Default for ViewFrame {
    fn default() -> Self {
        Self::WORLD
    }
}

impl ViewFrame {
    /// The frame of the world: +Y is up, and nothing has turned the view.
    pub const WORLD: Self = Self { up: Vec3::Y, turn: 0 };

    /// Converts heading and pitch of a view to those of the same direction in the world. Where +Y is up, the
    /// result is exact, otherwise rounded to the nearest unit; it is bit-identical on every machine.
    #[must_use]
    pub fn to_world_angles(&self, (yaw, pitch): (u16, i16)) -> (u16, i16) {
        let yaw = yaw.wrapping_add(self.turn);
        if self.up == Vec3::Y {
            return (yaw, pitch);
        }
        look_angles(upright_rotation(self.up) * look_direction(yaw, pitch))
    }

    /// Returns the rotation from this frame to the world: for a camera, before heading and pitch.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        let turn = Quat::from_rotation_y(units_to_angle(self.turn));
        if self.up == Vec3::Y { turn } else { upright_rotation(self.up) * turn }
    }

    /// Converts a direction in the world to this frame: for a bot that aims at something in the world.
    #[must_use]
    pub fn to_local(&self, direction: Vec3) -> Vec3 {
        if *self == Self::WORLD { direction } else { self.rotation().inverse() * direction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPS: [Vec3; 6] = [Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z];

    #[test]
    fn angles_in_the_world_have_the_direction_of_the_view() {
        for up in UPS.into_iter().chain([Vec3::new(0.3, -0.8, 0.5).normalize()]) {
            for turn in [0, 9_000, 50_000] {
                let frame = ViewFrame { up, turn };
                for yaw in (0..=u16::MAX).step_by(1_999) {
                    for pitch in (-16_000..16_000).step_by(1_777) {
                        let expected = frame.rotation() * look_direction(yaw, pitch);
                        let (yaw, pitch) = frame.to_world_angles((yaw, pitch));
                        let off = look_direction(yaw, pitch).distance(expected);
                        assert!(off < 1e-4, "{frame:?}: {off} at {yaw}, {pitch}");
                    }
                }
            }
        }
    }

    #[test]
    fn frame_of_the_world_changes_no_bit() {
        for (yaw, pitch) in [(0, 0), (12_345, -16_383), (65_535, 16_384), (1, i16::MIN)] {
            assert_eq!(ViewFrame::WORLD.to_world_angles((yaw, pitch)), (yaw, pitch));
            let turned = ViewFrame { turn: 7, ..ViewFrame::WORLD };
            assert_eq!(turned.to_world_angles((yaw, pitch)), (yaw.wrapping_add(7), pitch));
        }
        let odd = Vec3::new(0.1, -0.7, 1e-20);
        assert_eq!(ViewFrame::WORLD.to_local(odd), odd);
    }

    #[test]
    fn direction_in_the_frame_turns_back_to_the_world() {
        for up in UPS {
            let frame = ViewFrame { up, turn: 11_000 };
            assert!(frame.to_local(up).distance(Vec3::Y) < 1e-5, "{up}");
            let along = Vec3::new(0.6, 0.64, -0.48);
            assert!((frame.rotation() * frame.to_local(along)).distance(along) < 1e-5, "{up}");
        }
    }
}

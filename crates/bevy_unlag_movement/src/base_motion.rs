//! Motion of a pawn with its movement base.

use bevy::prelude::*;
use bevy_rapier3d::parry::math::Pose;
use bevy_unlag_core::sin_cos_of_units;

use crate::{base::BaseId, part::Part, step_state::PawnStep, sweep::sweep_ignoring_base};

/// Destination to which a base carries the pawn in this step.
#[derive(Clone, Copy)]
pub(crate) struct BaseMotion {
    /// Pose of the base at the end of the step.
    pose: Pose,
    /// Position of the feet there, in the space of the step.
    pub(crate) feet: Vec3,
    /// Whether the distance is too large for continuous motion, that is the base teleported.
    pub(crate) is_teleport: bool,
}

/// Computes where the pawn's base carries it in this step, and updates base velocity and turn.
pub(crate) fn planned_base_motion(pawn: &mut PawnStep<'_>, dt: f32) -> Option<BaseMotion> {
    let base = pawn.state.base;
    if base == BaseId::NONE {
        return None;
    }
    let Some(pose) = pawn.scene.base_pose(base, pawn.seconds) else {
        // The base no longer exists.
        pawn.set_base(BaseId::NONE);
        return None;
    };
    let local = pawn.state.base_position;
    // Bases move in the world's time.
    let dt = dt / pawn.state.time_dilation.factor();
    pawn.state.base_velocity = pawn.base_velocity(base, &pose, local);
    if pawn.config.turn_with_base
        && let Some(before) = pawn.scene.base_pose(base, pawn.seconds - f64::from(dt))
    {
        // Rotation about the pawn's own up direction.
        let upright = pawn.frame.pose().rotation;
        let of = |rotation: Quat| heading(upright.inverse() * rotation * upright);
        let turn = of(pose.rotation).wrapping_sub(of(before.rotation));
        pawn.state.base_turn = pawn.state.base_turn.wrapping_add(turn);
        pawn.state.yaw = pawn.state.yaw.wrapping_add(turn);
    }
    let feet = pawn.frame.to_local(pose.transform_point(local));
    let is_teleport = feet.distance(pawn.feet) > pawn.config.max_speed * dt + 1.0;
    Some(BaseMotion { pose, feet, is_teleport })
}

/// Moves the pawn with its base, as far as nothing but the base itself blocks it.
pub(crate) fn move_with_base(pawn: &mut PawnStep<'_>, parts: &[Part], planned_base_motion: &BaseMotion) {
    let motion = planned_base_motion.feet - pawn.feet;
    if planned_base_motion.is_teleport {
        // The base teleported, such as a train at the end of its line: obstacles in between do not
        // matter.
        pawn.feet = planned_base_motion.feet;
        pawn.state.teleports = pawn.state.teleports.wrapping_add(1);
        return;
    }
    match sweep_ignoring_base(parts, pawn.body, pawn.feet, motion, pawn.state.base) {
        Some(hit) => pawn.feet += motion.normalize_or_zero() * hit.distance,
        None => {
            pawn.feet = planned_base_motion.feet;
            pawn.base_displacement = motion;
        }
    }
}

/// Stores the position of the pawn on its base. A pawn that did not move keeps it bit by bit; otherwise
/// rounding would make it creep.
pub(crate) fn store_base_position(
    pawn: &mut PawnStep<'_>,
    before: BaseId,
    planned_base_motion: Option<&BaseMotion>,
) {
    let base = pawn.state.base;
    if base == BaseId::NONE {
        pawn.state.base_position = Vec3::ZERO;
        pawn.state.base_velocity = Vec3::ZERO;
        return;
    }
    match planned_base_motion.filter(|_| base == before) {
        Some(planned_base_motion) => {
            let moved = pawn.frame.direction_to_world(pawn.feet - planned_base_motion.feet);
            if moved != Vec3::ZERO {
                pawn.state.base_position += planned_base_motion.pose.rotation.inverse() * moved;
            }
        }
        None => {
            let Some(pose) = pawn.scene.base_pose(base, pawn.seconds) else { return };
            pawn.state.base_position = pose.inverse_transform_point(pawn.frame.to_world(pawn.feet));
        }
    }
}

/// Returns the heading of a rotation's -Z about +Y, in 1/65,536 of a turn. Avoids the arc tangent of
/// std, which differs between platforms.
pub(crate) fn heading(rotation: Quat) -> u16 {
    let forward = rotation * Vec3::NEG_Z;
    let (sin, cos) = (-forward.x, -forward.z);
    let mut units = 0u16;
    // Binary search from half a turn down to one unit: each bit decides the side of the direction.
    if sin < 0.0 {
        units = 0x8000;
    }
    for bit in (0..15).rev() {
        let tried = units | (1 << bit);
        let (s, c) = sin_cos_of_units(tried);
        // Positive when the direction lies beyond the candidate.
        if sin * c - cos * s >= 0.0 {
            units = tried;
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_agrees_with_bevy_rotations() {
        for units in (0..=u16::MAX).step_by(97) {
            let turn = Quat::from_rotation_y(f32::from(units) / 65_536.0 * core::f32::consts::TAU);
            let off = heading(turn).wrapping_sub(units).cast_signed();
            assert!(off.abs() <= 2, "{units}: off by {off}");
        }
    }
}

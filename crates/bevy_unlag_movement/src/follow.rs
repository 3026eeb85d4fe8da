//! Motion of a pawn with its movement base.

use bevy::prelude::*;
use bevy_rapier3d::parry::math::Pose;
use bevy_unlag_core::sin_cos_of_units;

use crate::{BaseId, part::Part, slice::Slice, sweep::sweep_past};

/// Destination to which a base carries the pawn in this step.
#[derive(Clone, Copy)]
pub(crate) struct Carried {
    /// Pose of the base at the end of the step.
    pose: Pose,
    /// Position of the feet there, in the space of the step.
    pub(crate) feet: Vec3,
    /// Whether the distance is too large for continuous motion, that is the base teleported.
    pub(crate) jumps: bool,
}

/// Computes where the pawn's base carries it in this step, and updates base velocity and turn.
pub(crate) fn carried(slice: &mut Slice<'_>, dt: f32) -> Option<Carried> {
    let base = slice.state.base;
    if base == BaseId::NONE {
        return None;
    }
    let Some(pose) = slice.scene.base_pose(base, slice.seconds) else {
        // The base no longer exists.
        slice.set_base(BaseId::NONE);
        return None;
    };
    let local = slice.state.base_position;
    slice.state.base_velocity = slice.base_velocity(base, &pose, local);
    if slice.config.turn_with_base
        && let Some(before) = slice.scene.base_pose(base, slice.seconds - f64::from(dt))
    {
        // Rotation about the pawn's own up direction.
        let upright = slice.frame.pose().rotation;
        let of = |rotation: Quat| heading(upright.inverse() * rotation * upright);
        let turn = of(pose.rotation).wrapping_sub(of(before.rotation));
        slice.state.base_turn = slice.state.base_turn.wrapping_add(turn);
        slice.state.yaw = slice.state.yaw.wrapping_add(turn);
    }
    let feet = slice.frame.to_local(pose.transform_point(local));
    let jumps = feet.distance(slice.feet) > slice.config.max_speed * dt + 1.0;
    Some(Carried { pose, feet, jumps })
}

/// Moves the pawn with its base, as far as nothing but the base itself blocks it.
pub(crate) fn follow(slice: &mut Slice<'_>, parts: &[Part], carried: &Carried) {
    let motion = carried.feet - slice.feet;
    if carried.jumps {
        // The base teleported, such as a train at the end of its line: obstacles in between do not
        // matter.
        slice.feet = carried.feet;
        slice.state.teleports = slice.state.teleports.wrapping_add(1);
        return;
    }
    match sweep_past(parts, slice.body, slice.feet, motion, slice.state.base) {
        Some(hit) => slice.feet += motion.normalize_or_zero() * hit.distance,
        None => {
            slice.feet = carried.feet;
            slice.carried_by = motion;
        }
    }
}

/// Stores the position of the pawn on its base. A pawn that did not move keeps it bit by bit; otherwise
/// rounding would make it creep.
pub(crate) fn remember(slice: &mut Slice<'_>, before: BaseId, carried: Option<&Carried>) {
    let base = slice.state.base;
    if base == BaseId::NONE {
        slice.state.base_position = Vec3::ZERO;
        slice.state.base_velocity = Vec3::ZERO;
        return;
    }
    match carried.filter(|_| base == before) {
        Some(carried) => {
            let moved = slice.frame.direction_to_world(slice.feet - carried.feet);
            if moved != Vec3::ZERO {
                slice.state.base_position += carried.pose.rotation.inverse() * moved;
            }
        }
        None => {
            let Some(pose) = slice.scene.base_pose(base, slice.seconds) else { return };
            slice.state.base_position = pose.inverse_transform_point(slice.frame.to_world(slice.feet));
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

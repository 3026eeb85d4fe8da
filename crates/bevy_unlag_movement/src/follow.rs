//! Standing on something that moves.

use bevy::prelude::*;
use bevy_rapier3d::parry::math::Pose;
use bevy_unlag_core::sin_cos_of_units;

use crate::{BaseId, part::Part, slice::Slice, sweep::sweep_past};

/// Where a base carries the pawn in this step.
#[derive(Clone, Copy)]
pub(crate) struct Carried {
    /// The base's pose at the end of the step.
    pose: Pose,
    /// The feet there, in the space of the step.
    pub(crate) feet: Vec3,
    /// Whether that is further than anything moves.
    pub(crate) jumps: bool,
}

/// Where the base of the pawn is now and would take it.
pub(crate) fn carried(slice: &mut Slice<'_>, dt: f32) -> Option<Carried> {
    let base = slice.state.base;
    if base == BaseId::NONE {
        return None;
    }
    let Some(pose) = slice.scene.base_pose(base, slice.seconds) else {
        // The base is gone.
        slice.set_base(BaseId::NONE);
        return None;
    };
    let local = slice.state.base_position;
    slice.state.base_velocity = slice.base_velocity(base, &pose, local);
    if slice.config.turn_with_base
        && let Some(before) = slice.scene.base_pose(base, slice.seconds - f64::from(dt))
    {
        // About the pawn's own up.
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

/// Takes the pawn along, as far as nothing but the base itself is in the way.
pub(crate) fn follow(slice: &mut Slice<'_>, parts: &[Part], carried: &Carried) {
    let motion = carried.feet - slice.feet;
    if carried.jumps {
        // A train at the end of its line: what is between does not matter.
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

/// Remembers where on its base the pawn stands. What has not moved keeps its place to the last
/// bit, or rounding would make it creep.
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

/// Where a rotation's -Z points about +Y, in 1/65,536 of a turn, without an arc tangent: std's
/// differs between systems.
pub(crate) fn heading(rotation: Quat) -> u16 {
    let forward = rotation * Vec3::NEG_Z;
    let (sin, cos) = (-forward.x, -forward.z);
    let mut units = 0u16;
    // From half a turn down to the unit: the side on which the direction lies.
    if sin < 0.0 {
        units = 0x8000;
    }
    for bit in (0..15).rev() {
        let tried = units | (1 << bit);
        let (s, c) = sin_cos_of_units(tried);
        // Positive when the direction lies further round than what is tried.
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
    fn a_heading_is_bevys() {
        for units in (0..=u16::MAX).step_by(97) {
            let turn = Quat::from_rotation_y(f32::from(units) / 65_536.0 * core::f32::consts::TAU);
            let off = heading(turn).wrapping_sub(units).cast_signed();
            assert!(off.abs() <= 2, "{units}: off by {off}");
        }
    }
}

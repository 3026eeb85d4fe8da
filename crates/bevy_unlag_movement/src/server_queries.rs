//! Server-side queries about a pawn outside its step, and pushes that the server applies to it.

use core::fmt::Write;

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::{MoveDiagnostics, StepContext, TimeDilation, Wire};

use crate::{
    body::body_of,
    capsule_model::CapsuleModel,
    config::CapsuleConfig,
    frame::Frame,
    scene::Include,
    state::{CapsuleState, MAX_POSITION, MAX_VELOCITY},
    sweep::{Body, sweep},
    world::MoverWorld,
};

/// Distance in metres within which another pawn is considered the cause of a difference.
const NEAR_PAWN_DISTANCE: f32 = 0.5;

/// Push that the server applies to a capsule pawn at a tick that the owner knows, too. See
/// `ScheduledPushes` in `bevy_unlag_prediction`.
#[doc(alias = "LaunchCharacter")]
#[doc(alias = "AddImpulse")]
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub enum CapsulePush {
    /// Adds to the velocity, in metres per second, and makes the pawn fall: a knock-back, an explosion.
    #[doc(alias = "LaunchCharacter")]
    Launch(Vec3),
    /// Adds to the velocity, in metres per second, and keeps the mode: a conveyor, a gust.
    #[doc(alias = "AddImpulse")]
    Shove(Vec3),
    /// Moves the feet to another place, at rest and falling. It is neither smoothed nor counted as a
    /// prediction error.
    Teleport(Vec3),
    /// Sets the rate of the pawn's own time: a slow-motion grenade, a haste power-up. It holds until the next one, so
    /// end it by [`TimeDilation::NORMAL`].
    #[doc(alias = "CustomTimeDilation")]
    TimeDilation(TimeDilation),
}

impl CapsulePush {
    pub(crate) fn apply_to(self, state: &CapsuleState) -> CapsuleState {
        let mut pushed = *state;
        match self {
            Self::Launch(velocity) => pushed.launch(velocity),
            Self::Shove(velocity) if velocity.is_finite() => {
                let most = Vec3::splat(MAX_VELOCITY);
                pushed.velocity =
                    (pushed.velocity + velocity.clamp(-most, most)).clamp_length_max(MAX_VELOCITY);
            }
            Self::Teleport(position) if position.is_finite() => {
                pushed.teleport_to(position.clamp(Vec3::splat(-MAX_POSITION), Vec3::splat(MAX_POSITION)));
            }
            Self::TimeDilation(rate) => pushed.set_time_dilation(rate),
            Self::Shove(_) | Self::Teleport(_) => {}
        }
        pushed
    }
}

impl MoveDiagnostics<Self> for CapsuleModel {
    fn is_near_pawn(
        config: &CapsuleConfig,
        state: &CapsuleState,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> bool {
        if !state.is_valid() {
            return false;
        }
        let config = config.class(state.class);
        let frame = Frame::new(state.up, state.position);
        let body = body_of(config, state.crouched);
        is_near_other_pawn(config.blocked_by, frame, body, state.position, ctx, world)
    }

    fn config_hash(config: &CapsuleConfig, _world: &MoverWorld<'_, '_>) -> u32 {
        debug_hash(config)
    }

    fn surroundings_hash(config: &CapsuleConfig, state: &CapsuleState, world: &MoverWorld<'_, '_>) -> u32 {
        if !state.is_valid() {
            return 0;
        }
        let config = config.class(state.class);
        let head = state.position + state.up * (2.0 * config.half_height);
        world.scene.hash_around(config.blocked_by, state.position, head)
    }

    fn level_hash(world: &MoverWorld<'_, '_>) -> u32 {
        world.scene.level_hash()
    }

    fn outline(config: &CapsuleConfig, state: &CapsuleState) -> (f32, f32) {
        let config = config.class(state.class);
        let half_height = if state.crouched { config.crouched_half_height } else { config.half_height };
        (config.radius, half_height)
    }
}

/// Returns whether a body can move by a small offset without touching anything. The start and the offset
/// are in world space.
pub(crate) fn is_clear(
    mask: u32,
    frame: Frame,
    body: Body,
    (feet, by): (Vec3, Vec3),
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
) -> bool {
    let (feet, motion) = (frame.to_local(feet), frame.direction_to_local(by));
    let region = body.aabb(feet).merged(&body.aabb(feet + motion)).loosened(0.1);
    let seconds = world.step_seconds(ctx);
    world.scene.with_parts(ctx.entity, seconds, mask, frame, Include::Pawns, |near| {
        near.cover(region);
        sweep(near.parts(), body, feet, motion).is_none()
    })
}

/// Returns whether another pawn is within [`NEAR_PAWN_DISTANCE`] of a body with its feet at `feet`, in world
/// space.
pub(crate) fn is_near_other_pawn(
    mask: u32,
    frame: Frame,
    body: Body,
    feet: Vec3,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
) -> bool {
    let around = body.aabb(frame.to_local(feet)).loosened(NEAR_PAWN_DISTANCE);
    let seconds = world.step_seconds(ctx);
    world.scene.with_parts(ctx.entity, seconds, mask, frame, Include::Pawns, |near| {
        near.cover(around);
        near.parts().iter().any(|part| part.pawn && part.aabb.intersects(&around))
    })
}

/// Hashes the `Debug` output of a value. No field can be left out, and a float is printed with the
/// shortest digits that identify it.
pub(crate) fn debug_hash(value: &impl core::fmt::Debug) -> u32 {
    /// FNV-1a.
    struct Hash(u32);

    impl Write for Hash {
        fn write_str(&mut self, s: &str) -> core::fmt::Result {
            self.0 = s.bytes().fold(self.0, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
            Ok(())
        }
    }

    let mut hash = Hash(0x811c_9dc5);
    // Writing to the hash cannot fail.
    let _ = write!(hash, "{value:?}");
    hash.0 ^ (hash.0 >> 15)
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter};

    use super::*;

    #[test]
    fn config_hash_changes_with_each_changed_field() {
        let usual = debug_hash(&CapsuleConfig::default());
        let other = [
            CapsuleConfig { max_walk_speed: 6.000_001, ..CapsuleConfig::default() },
            CapsuleConfig { walk_off_ledges: false, ..CapsuleConfig::default() },
            CapsuleConfig { jump_max_count: 2, ..CapsuleConfig::default() },
        ];
        for config in &other {
            assert_ne!(usual & 0xffff, debug_hash(config) & 0xffff, "{config:?}");
        }
    }

    #[test]
    fn push_survives_a_wire_round_trip_and_non_finite_pushes_are_ignored() {
        let pawn = CapsuleState::at(Vec3::ONE);
        for push in [
            CapsulePush::Launch(Vec3::Y),
            CapsulePush::Shove(Vec3::X),
            CapsulePush::Teleport(Vec3::Z),
            CapsulePush::TimeDilation(TimeDilation::new(0.3)),
        ] {
            let mut w = BitWriter::default();
            push.write(&mut w);
            assert_eq!(CapsulePush::read(&mut BitReader::new(&w.finish())), Ok(push));
            assert_ne!(push.apply_to(&pawn), pawn);
        }
        for push in [
            CapsulePush::Launch(Vec3::NAN),
            CapsulePush::Shove(Vec3::INFINITY),
            CapsulePush::Teleport(Vec3::NAN),
        ] {
            assert_eq!(push.apply_to(&pawn), pawn);
        }
    }
}

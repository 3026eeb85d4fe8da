//! Regions that change how pawns move inside them.

use bevy::prelude::*;
use bevy_unlag_core::Wire;
use serde::{Deserialize, Serialize};

/// Identifier of a volume. It is part of the predicted state, so it must be the same on all machines.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize, Reflect, Wire,
)]
pub struct VolumeId(pub u16);

impl VolumeId {
    /// No volume.
    pub const NONE: Self = Self(0);
}

/// Gravity in a [`MoveVolume`].
#[doc(alias = "SetGravityDirection")]
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub enum GravityField {
    /// Constant gravity in metres per second squared.
    Uniform(Vec3),
    /// Gravity towards a point in world space, as on a small planet.
    Towards {
        /// Position of the point in metres.
        centre: Vec3,
        /// Strength in metres per second squared.
        strength: f32,
    },
}

/// Region that changes how pawns move while the middle of their standing capsule is inside. Its shape is
/// the collider on the same entity, which then blocks no pawn, whether it is a sensor or not. Unreal's
/// `APhysicsVolume`.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier3d::prelude::Collider;
/// use bevy_unlag_movement::{MoveVolume, VolumeId};
///
/// /// A pool and a jump pad, on client and server.
/// fn spawn_volumes(mut commands: Commands) {
///     let pool = MoveVolume::water(VolumeId(1));
///     commands.spawn((pool, Collider::cuboid(5.0, 1.5, 5.0), Transform::from_xyz(10.0, -1.5, 0.0)));
///     let pad = MoveVolume { launch: Some(Vec3::Y * 12.0), ..MoveVolume::trigger(VolumeId(2)) };
///     commands.spawn((pad, Collider::cuboid(1.0, 0.2, 1.0), Transform::from_xyz(-10.0, 0.2, 0.0)));
/// }
/// ```
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug)]
#[doc(alias = "APhysicsVolume")]
#[doc(alias = "trigger_push")]
pub struct MoveVolume {
    /// Unique identifier, the same on all machines; not [`VolumeId::NONE`].
    pub id: VolumeId,
    /// Priority where volumes overlap; the highest counts. Default 0.
    pub priority: i16,
    /// Whether it is water to swim in. Default: false.
    #[doc(alias = "bWaterVolume")]
    pub water: bool,
    /// Friction on swimming and flying pawns per second. Default: the config's.
    #[doc(alias = "FluidFriction")]
    pub fluid_friction: Option<f32>,
    /// Gravity. Default: the config's.
    pub gravity: Option<GravityField>,
    /// Factor on the top speeds of the config; default 1. Mud has less.
    pub speed_factor: f32,
    /// Launch velocity of a jump pad in metres per second, in world space; it replaces the velocity of
    /// pawns that enter. Default: none.
    pub launch: Option<Vec3>,
    /// Whether movement input is ignored inside. Default: false.
    pub ignore_input: bool,
}

impl MoveVolume {
    /// Creates a trigger: a volume that only changes
    /// [`CapsuleState::volume`](crate::CapsuleState::volume).
    #[must_use]
    pub const fn trigger(id: VolumeId) -> Self {
        Self {
            id,
            priority: 0,
            water: false,
            fluid_friction: None,
            gravity: None,
            speed_factor: 1.0,
            launch: None,
            ignore_input: false,
        }
    }

    /// Creates a volume of water to swim in.
    #[must_use]
    pub const fn water(id: VolumeId) -> Self {
        Self { water: true, ..Self::trigger(id) }
    }
}

/// Collider that blocks capsules from one side only: a platform to jump up through, a one-way door. A
/// pawn that is inside it, or comes from the other side, passes.
#[doc(alias = "PlatformEffector2D")]
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct OneWayCollider {
    /// Blocking side, in the collider's own space; default +Y.
    pub side: Vec3,
}

impl Default for OneWayCollider {
    fn default() -> Self {
        Self { side: Vec3::Y }
    }
}

//! Regions that change how pawns move in them.

use bevy::prelude::*;

/// Tells volumes apart, the same on every machine: it is part of the predicted state.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct VolumeId(pub u16);

impl VolumeId {
    /// No volume.
    pub const NONE: Self = Self(0);
}

/// Where gravity pulls in a [`MoveVolume`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum GravityField {
    /// The same way everywhere: metres per second squared.
    Uniform(Vec3),
    /// To a point in the world, as on a small planet.
    Towards {
        /// In metres.
        centre: Vec3,
        /// Metres per second squared.
        strength: f32,
    },
}

/// A region that changes how pawns move while the middle of their capsule, as it stands, is in it. Its shape is
/// the collider on the same entity, which then stops nobody, sensor or not. Unreal's
/// `APhysicsVolume`.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct MoveVolume {
    /// Which one, the same on every machine; not [`VolumeId::NONE`], and no two alike.
    pub id: VolumeId,
    /// Where volumes overlap, the highest counts. Default 0.
    pub priority: i16,
    /// Whether one swims in it. Default: false.
    pub water: bool,
    /// Per second; how much it slows what swims or flies. Default: the config's.
    pub fluid_friction: Option<f32>,
    /// Default: the config's.
    pub gravity: Option<GravityField>,
    /// Times the top speeds of the config; default 1. Mud has less.
    pub speed_factor: f32,
    /// Metres per second that whoever comes in gets, in the world: a jump pad. Default: none.
    pub launch: Option<Vec3>,
    /// Whether move input counts for nothing in it. Default: false.
    pub ignore_input: bool,
}

impl MoveVolume {
    /// A volume that changes nothing but
    /// [`CapsuleState::volume`](crate::CapsuleState::volume): a trigger.
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

    /// Water to swim in.
    #[must_use]
    pub const fn water(id: VolumeId) -> Self {
        Self { water: true, ..Self::trigger(id) }
    }
}

/// A collider that stops capsules from one side only: a platform to jump up through, a valve.
/// A pawn that is inside it, or comes from the other side, passes.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct OneWay {
    /// The side that stops, in the collider's own space; default +Y.
    pub side: Vec3,
}

impl Default for OneWay {
    fn default() -> Self {
        Self { side: Vec3::Y }
    }
}

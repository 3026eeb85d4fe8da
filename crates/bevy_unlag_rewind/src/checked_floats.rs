//! Checks of floats that serde reads.

use bevy::prelude::*;
use bevy_unlag_core::PoseSample;
use serde::{Deserialize, Deserializer, de::Error};

use crate::{file_shape::FileShape, hit_box::BodyBounds};

/// Largest absolute value of a float in a record, in any unit, so that its square is finite.
pub(crate) const LARGEST: f32 = 1e7;

/// Value whose floats can be checked.
pub(crate) trait Checked {
    /// Returns whether all floats are finite and within their bounds.
    fn is_sound(&self) -> bool;
}

impl Checked for f32 {
    fn is_sound(&self) -> bool {
        self.abs() <= LARGEST
    }
}

impl Checked for Vec3 {
    fn is_sound(&self) -> bool {
        self.to_array().iter().all(Checked::is_sound)
    }
}

impl Checked for Quat {
    fn is_sound(&self) -> bool {
        (self.length_squared() - 1.0).abs() < 1e-2
    }
}

impl Checked for Isometry3d {
    fn is_sound(&self) -> bool {
        Vec3::from(self.translation).is_sound() && self.rotation.is_sound()
    }
}

impl Checked for PoseSample {
    fn is_sound(&self) -> bool {
        [self.position, self.velocity, self.acceleration].iter().all(Checked::is_sound)
            && [self.spin, self.pitch, self.crouch].iter().all(Checked::is_sound)
            && self.rotation.is_sound()
    }
}

impl Checked for BodyBounds {
    fn is_sound(&self) -> bool {
        [self.radius, self.low, self.high].iter().all(Checked::is_sound)
    }
}

impl Checked for FileShape {
    fn is_sound(&self) -> bool {
        match *self {
            Self::Box { half } => half.iter().all(|half| half.is_sound() && *half >= 0.0),
            Self::Ball { radius } => radius.is_sound() && radius >= 0.0,
            Self::Capsule { a, b, radius } => {
                [a, b].as_flattened().iter().all(Checked::is_sound) && radius.is_sound() && radius >= 0.0
            }
        }
    }
}

impl<T: Checked> Checked for Option<T> {
    fn is_sound(&self) -> bool {
        self.as_ref().is_none_or(Checked::is_sound)
    }
}

impl<T: Checked> Checked for Vec<T> {
    fn is_sound(&self) -> bool {
        self.iter().all(Checked::is_sound)
    }
}

/// Deserialises a value and checks its floats, for `#[serde(deserialize_with)]`.
pub(crate) fn checked<'de, T: Deserialize<'de> + Checked, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = T::deserialize(deserializer)?;
    if value.is_sound() { Ok(value) } else { Err(D::Error::custom("a number is out of range")) }
}

/// A limit in metres; no limit is `None`, because JSON has no infinity.
pub(crate) mod limit {
    use serde::{Deserializer, Serialize, Serializer};

    use super::{Checked, checked};

    /// Serialises a limit.
    pub(crate) fn serialize<S: Serializer>(limit: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*limit).filter(Checked::is_sound).serialize(serializer)
    }

    /// Deserialises a limit.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        Ok(checked::<Option<f32>, D>(deserializer)?.unwrap_or(f32::INFINITY))
    }
}

//! Binary form of shot evidence, and the checks of every form that serde reads.

use bevy::prelude::*;
use bevy_unlag_core::{PoseSample, Snapshot, WireError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::ShotEvidence;
use crate::{hit_box_file::FileShape, hit_boxes::BodyBounds};

/// Version of the binary form: its first byte. Version 1 had none. Increase it when any type in a record
/// changes, also in core: the bytes hold no names of fields.
const VERSION: u8 = 2;
/// Largest record that is read, in bytes. It bounds the memory that reading takes.
const MAX_BYTES: usize = 1 << 20;
/// Largest absolute value of a float in a record, in any unit, so that its square is finite.
const LARGEST: f32 = 1e7;
/// Largest distance between two snapshots of one candidate, in ticks.
const MAX_SPAN: i32 = 1 << 16;

impl ShotEvidence {
    /// Serialises the record into bytes: a version, and the record in the format of `postcard`.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing to a vector cannot fail, and no bytes are no valid record.
        postcard::to_extend(self, vec![VERSION]).unwrap_or_default()
    }

    /// Deserialises the result of [`to_bytes`](Self::to_bytes), of at most 1 MiB.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the bytes are not a valid record of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WireError> {
        let [VERSION, record @ ..] = bytes else { return Err(WireError::Invalid) };
        if bytes.len() > MAX_BYTES {
            return Err(WireError::Invalid);
        }
        match postcard::take_from_bytes(record) {
            Ok((evidence, [])) => Ok(evidence),
            Err(postcard::Error::DeserializeUnexpectedEnd) => Err(WireError::Ended),
            Ok(_) | Err(_) => Err(WireError::Invalid),
        }
    }
}

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

/// Serialises a padding in metres, clamped so that any that a client or a game claims can be read.
pub(crate) fn clamped_padding<S: Serializer>(padding: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f32(if padding.is_nan() { 0.0 } else { padding.clamp(0.0, LARGEST) })
}

/// Deserialises snapshots and checks their order, without which the sampler would choose another pair than
/// the server did.
pub(super) fn ordered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Snapshot>, D::Error> {
    let snapshots = Vec::<Snapshot>::deserialize(deserializer)?;
    let newest = snapshots.last().map(|newest| newest.tick).unwrap_or_default();
    let is_ordered = snapshots.windows(2).all(|pair| pair[1].tick.is_newer_than(pair[0].tick))
        && snapshots.iter().all(|snapshot| (0..=MAX_SPAN).contains(&newest.since(snapshot.tick)));
    if is_ordered { Ok(snapshots) } else { Err(D::Error::custom("the snapshots are not in order")) }
}

/// A limit in metres; no limit is `None`, because JSON has no infinity.
pub(crate) mod limit {
    use super::{Checked, Deserializer, Serialize, Serializer, checked};

    /// Serialises a limit.
    pub(crate) fn serialize<S: Serializer>(limit: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*limit).filter(Checked::is_sound).serialize(serializer)
    }

    /// Deserialises a limit.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        Ok(checked::<Option<f32>, D>(deserializer)?.unwrap_or(f32::INFINITY))
    }
}

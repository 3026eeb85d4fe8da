//! Binary form of shot evidence, and the checks of every form that serde reads.

use bevy_unlag_core::{Snapshot, WireError};
use serde::{Deserialize, Deserializer, Serializer, de::Error};

use super::ShotEvidence;
use crate::checked_floats::LARGEST;

/// Version of the binary form: its first byte. Version 1 had none. Increase it when any type in a record
/// changes, also in core: the bytes hold no names of fields.
const VERSION: u8 = 2;
/// Largest record that is read, in bytes. It bounds the memory that reading takes.
const MAX_BYTES: usize = 1 << 20;
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

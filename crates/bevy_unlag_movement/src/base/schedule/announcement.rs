//! Announcement of a base's schedule by the server.

use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};

use super::path::SchedulePath;
use crate::base::BaseId;

/// A message of [`BaseScheduleMailbox`](bevy_unlag_core::BaseScheduleMailbox): where a server moves one of its
/// bases, until the next one. It is complete by itself, so lost and repeated messages do no harm.
#[derive(Clone, PartialEq, Debug)]
pub struct BaseAnnouncement {
    /// The base.
    pub base: BaseId,
    /// Number of the announcement; of two about one base the higher one counts.
    pub number: u32,
    pub(super) path: SchedulePath,
}

impl BaseAnnouncement {
    /// Returns the encoded announcement.
    pub(super) fn encoded(base: BaseId, number: u32, path: &SchedulePath) -> Vec<u8> {
        let mut w = BitWriter::default();
        write(base, number, path, &mut w);
        w.finish()
    }
}

fn write(base: BaseId, number: u32, path: &SchedulePath, w: &mut BitWriter) {
    w.bits(u32::from(base.0), 16);
    w.bits(number, 32);
    path.write(w);
}

impl Wire for BaseAnnouncement {
    fn write(&self, w: &mut BitWriter) {
        write(self.base, self.number, &self.path, w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let base = BaseId(r.bits(16)? as u16);
        if base == BaseId::NONE {
            return Err(WireError::Invalid);
        }
        Ok(Self { base, number: r.bits(32)?, path: SchedulePath::read(r)? })
    }
}

//! Views, notices, corrections, marks and bytes of others.

use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, ViewStamp, ViewTime, Wire, WireError};

use crate::{
    packing::{
        read_bytes, read_optional_time, read_stamp, read_text, read_tick, read_time, write_bytes,
        write_optional_time, write_stamp, write_text, write_tick, write_time,
    },
    roster::PlayerNumber,
};

/// Longest name of a mark, in bytes. Longer ones are cut.
pub const MAX_MARK_NAME: usize = 64;
/// Most bytes of a mark or of an [`Extra`]. More are cut.
pub const MAX_BYTES: usize = 8 * 1024;
/// Most pawns of a view that were drawn otherwise than its time implies, and most pawns of a notice.
const MAX_PAWNS: usize = 256;

/// View of a player's screen in one frame. The server knows it of frames in which the player fired; a
/// recording on the client has all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedView {
    /// The player.
    pub player: PlayerNumber,
    /// Tick of the player's last move.
    pub own: Tick,
    /// View time of most pawns.
    pub time: ViewTime,
    /// View time of movement bases, on the player's own time line, if a pawn was drawn on one.
    pub bases: Option<ViewTime>,
    /// Whether [`stamps`](Self::stamps) has all pawns that the screen drew, as in a recording on the client.
    pub is_complete: bool,
    /// Pawns that were drawn otherwise than from the snapshots around [`time`](Self::time) that the player was
    /// sent: one was lost, had not arrived yet, or the pawn has a view time of its own.
    pub stamps: Vec<(NetId, ViewStamp)>,
}

impl RecordedView {
    /// Appends the view. `own` is the usual tick of the move.
    pub(crate) fn write(&self, base: Tick, own: Tick, w: &mut BitWriter) {
        self.player.write(w);
        w.bool(self.own != own);
        if self.own != own {
            write_tick(self.own, base, 5, w);
        }
        write_time(self.time, base, w);
        write_optional_time(self.bases, self.own, w);
        w.bool(self.is_complete);
        let stamps = &self.stamps[..self.stamps.len().min(MAX_PAWNS)];
        w.golomb(stamps.len() as u16, 0);
        for (pawn, stamp) in stamps {
            pawn.write(w);
            write_stamp(*stamp, self.time, w);
        }
    }

    pub(crate) fn read(base: Tick, own: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let player = PlayerNumber::read(r)?;
        let own = if r.bool()? { read_tick(base, 5, r)? } else { own };
        let time = read_time(base, r)?;
        let bases = read_optional_time(own, r)?;
        let is_complete = r.bool()?;
        let count = usize::from(r.golomb(0)?);
        if count > MAX_PAWNS {
            return Err(WireError::Invalid);
        }
        let stamps = (0..count).map(|_| Ok((NetId::read(r)?, read_stamp(time, r)?)));
        Ok(Self { player, own, time, bases, is_complete, stamps: stamps.collect::<Result<_, WireError>>()? })
    }
}

/// Notice to a client that it is not sent some pawns until further notice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HiddenNotice {
    /// The client's player.
    pub player: PlayerNumber,
    /// Last tick of which the client was sent snapshots.
    pub since: Tick,
    /// The pawns.
    pub pawns: Vec<NetId>,
}

impl HiddenNotice {
    /// Most pawns of one notice. More are left out.
    pub const MAX_PAWNS: usize = MAX_PAWNS;

    pub(crate) fn write(&self, base: Tick, w: &mut BitWriter) {
        self.player.write(w);
        write_tick(self.since, base, 1, w);
        let pawns = &self.pawns[..self.pawns.len().min(MAX_PAWNS)];
        w.golomb(pawns.len() as u16, 0);
        pawns.iter().for_each(|pawn| pawn.write(w));
    }

    pub(crate) fn read(base: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (player, since) = (PlayerNumber::read(r)?, read_tick(base, 1, r)?);
        let count = usize::from(r.golomb(0)?);
        if count > MAX_PAWNS {
            return Err(WireError::Invalid);
        }
        let pawns = (0..count).map(|_| NetId::read(r)).collect::<Result<_, _>>()?;
        Ok(Self { player, since, pawns })
    }
}

/// Correction of a pawn: the server and its owner disagreed about a move.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecordedCorrection {
    /// The pawn.
    pub pawn: NetId,
    /// Tick of the move, on the owner's count.
    pub own: Tick,
    /// Cause, as a number of the recording's version: `CorrectionCause` of the prediction crate.
    pub cause: u8,
    /// Distance in metres between the two results.
    pub error: f32,
}

impl RecordedCorrection {
    pub(crate) fn write(&self, base: Tick, w: &mut BitWriter) {
        self.pawn.write(w);
        write_tick(self.own, base, 5, w);
        self.cause.write(w);
        w.f32(if self.error.is_finite() { self.error } else { f32::MAX });
    }

    pub(crate) fn read(base: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { pawn: NetId::read(r)?, own: read_tick(base, 5, r)?, cause: u8::read(r)?, error: r.f32()? })
    }
}

/// Mark of the game, by which people find a moment again: a kill, a captured flag, a note.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Name of its kind, such as `kill`.
    pub name: String,
    /// Pawn that it is about.
    pub pawn: Option<NetId>,
    /// Other pawn that took part.
    pub other: Option<NetId>,
    /// Data of the game.
    pub bytes: Vec<u8>,
}

impl Mark {
    pub(crate) fn write(&self, w: &mut BitWriter) {
        write_text(&self.name, MAX_MARK_NAME, w);
        self.pawn.write(w);
        self.other.write(w);
        write_bytes(&self.bytes, MAX_BYTES, w);
    }

    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            name: read_text(MAX_MARK_NAME, r)?,
            pawn: Option::read(r)?,
            other: Option::read(r)?,
            bytes: read_bytes(MAX_BYTES, r)?,
        })
    }
}

/// Bytes of another part of the suite or of the game, such as launches of projectiles.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extra {
    /// Kind of the bytes. Numbers below 128 are the suite's, the others are free for games.
    pub channel: u8,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Extra {
    /// Channel of schedules of movement bases, as clients are sent them. All that are in effect are recorded at the
    /// start of each segment, and each new one when it is announced.
    pub const BASE_SCHEDULE: u8 = 1;
    /// Channel of launches of projectiles, as clients are sent them.
    pub const PROJECTILE_LAUNCH: u8 = 2;
    /// Channel of ends of projectiles, as clients are sent them.
    pub const PROJECTILE_END: u8 = 3;

    pub(crate) fn write(&self, w: &mut BitWriter) {
        self.channel.write(w);
        write_bytes(&self.bytes, MAX_BYTES, w);
    }

    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { channel: u8::read(r)?, bytes: read_bytes(MAX_BYTES, r)? })
    }
}

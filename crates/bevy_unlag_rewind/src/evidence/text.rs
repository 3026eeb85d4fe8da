//! Text serialisation of shot evidence: a readable summary, and the binary form from which it is
//! deserialised.

use core::fmt::Write;

use bevy_unlag_core::{BitReader, BitWriter, ViewTime, Wire};

use super::{CandidateEvidence, ShotEvidence};

/// Text form. Only `record` is used for deserialisation; the other fields are for readers.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(super) struct Written {
    shooter: Option<u16>,
    shot: u32,
    tick: u32,
    /// In ticks; `None` for the present.
    asked: Option<f64>,
    used: Option<f64>,
    origin: [f32; 3],
    direction: [f32; 3],
    candidates: Vec<WrittenCandidate>,
    wall: Option<f32>,
    verdict: String,
    /// Binary form as hexadecimal digits.
    record: String,
}

impl Default for Written {
    fn default() -> Self {
        Self::from(ShotEvidence::default())
    }
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
struct WrittenCandidate {
    target: u16,
    /// Ticks and positions of the snapshots from which it could be posed.
    snapshots: Vec<(u32, [f32; 3])>,
    /// Position when the shot was resolved.
    live: Option<[f32; 3]>,
    alive: bool,
}

impl From<&CandidateEvidence> for WrittenCandidate {
    fn from(candidate: &CandidateEvidence) -> Self {
        let snapshot = |s: &bevy_unlag_core::Snapshot| (s.tick.0, s.position().to_array());
        Self {
            target: candidate.target.0,
            snapshots: candidate.snapshots.iter().map(snapshot).collect(),
            live: candidate.live.map(|pose| pose.position.to_array()),
            alive: candidate.live.is_some_and(|pose| pose.alive),
        }
    }
}

impl From<ShotEvidence> for Written {
    fn from(evidence: ShotEvidence) -> Self {
        let ticks = |time: ViewTime| f64::from(time.tick.0) + f64::from(time.fraction) / 256.0;
        Self {
            shooter: evidence.shooter.map(|id| id.0),
            shot: evidence.shot,
            tick: evidence.tick.0,
            asked: evidence.time.asked.map(ticks),
            used: evidence.time.used.map(ticks),
            origin: evidence.origin.to_array(),
            direction: evidence.direction.to_array(),
            candidates: evidence.candidates.iter().map(WrittenCandidate::from).collect(),
            wall: evidence.wall,
            verdict: match &evidence.answer {
                Ok(hit) => format!("hit {} {:?} at {} m", hit.target.0, hit.group, hit.distance),
                Err(miss) => format!("{miss:?}"),
            },
            record: digits(&evidence.to_bytes()),
        }
    }
}

impl TryFrom<Written> for ShotEvidence {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let bytes = bytes(&written.record).ok_or("`record` is not a string of hexadecimal digits")?;
        Self::from_bytes(&bytes).map_err(|error| error.to_string())
    }
}

impl ShotEvidence {
    /// Serialises the record into bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = BitWriter::default();
        self.write(&mut w);
        w.finish()
    }

    /// Deserialises the result of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// Returns a [`WireError`](bevy_unlag_core::WireError) if the bytes are not a valid record.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, bevy_unlag_core::WireError> {
        Self::read(&mut BitReader::new(bytes))
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |c: &u8| char::from(*c).to_digit(16);
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some((digit(pair.first()?)? << 4 | digit(pair.get(1)?)?) as u8)).collect()
}

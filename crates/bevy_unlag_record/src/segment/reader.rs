//! Decoder of segments.

use bevy_unlag_core::{BitReader, Tick, Wire, WireError};

use super::{MAX_SEGMENT_ENTRIES, MAX_SEGMENT_TICKS, Segment, SegmentSizes, acks::AckGuesses};
use crate::{
    entry::{
        Entry, EntryKind, Extra, HiddenNotice, Mark, Publication, RecordedCorrection, RecordedShot,
        RecordedTick, RecordedVerdict, RecordedView, Trails,
    },
    moves,
    roster::{Roster, RosterChange},
};

pub(super) fn read(r: &mut BitReader<'_>, sizes: &mut SegmentSizes) -> Result<Segment, WireError> {
    let first = Tick::read(r)?;
    let roster = Roster::read(r)?;
    sizes.roster += r.bits_read() as u64;
    let mut reader = Reader {
        tick: first,
        roster: roster.clone(),
        guesses: AckGuesses::default(),
        trails: Trails::default(),
        left: MAX_SEGMENT_ENTRIES,
    };
    let mut ticks = vec![RecordedTick { tick: first, entries: Vec::new() }];
    loop {
        let begin = r.bits_read();
        let kind = EntryKind::from_bits(r.bits(EntryKind::BITS)?).ok_or(WireError::Invalid)?;
        match kind {
            EntryKind::End => {
                sizes.add(kind, r.bits_read() - begin);
                break;
            }
            EntryKind::NextTick => {
                if ticks.len() == MAX_SEGMENT_TICKS {
                    return Err(WireError::Invalid);
                }
                reader.tick = reader.tick.offset(i32::from(r.golomb(0)?) + 1);
                ticks.push(RecordedTick { tick: reader.tick, entries: Vec::new() });
            }
            _ => {
                let entry = reader.entry(kind, r)?;
                if let Some(tick) = ticks.last_mut() {
                    tick.entries.push(entry);
                }
            }
        }
        sizes.add(kind, r.bits_read() - begin);
    }
    let begin = r.bits_read();
    let moves = moves::read_tracks(first, r)?;
    sizes.moves += (r.bits_read() - begin) as u64;
    Ok(Segment { roster, ticks, moves })
}

struct Reader {
    tick: Tick,
    roster: Roster,
    guesses: AckGuesses,
    trails: Trails,
    /// Entries that are still allowed.
    left: usize,
}

impl Reader {
    fn entry(&mut self, kind: EntryKind, r: &mut BitReader<'_>) -> Result<Entry, WireError> {
        let tick = self.tick;
        let entry = match kind {
            EntryKind::End | EntryKind::NextTick => return Err(WireError::Invalid),
            EntryKind::Roster => {
                let change = RosterChange::read(r)?;
                self.roster.apply(&change);
                Entry::Roster(change)
            }
            EntryKind::Publication => {
                let publication = Publication::read(tick, &self.roster, &mut self.trails, r)?;
                self.spend(publication.updates.len() + publication.recipients.len() / 8)?;
                Entry::Publication(publication)
            }
            EntryKind::Hidden => Entry::Hidden(HiddenNotice::read(tick, r)?),
            EntryKind::Acks => {
                let acks = self.guesses.read(&self.roster, tick, r)?;
                self.spend(acks.len() / 16)?;
                Entry::Acks(acks)
            }
            EntryKind::View => Entry::View(RecordedView::read(tick, tick, r)?),
            EntryKind::Shot => Entry::Shot(Box::new(RecordedShot::read(tick, r)?)),
            EntryKind::Verdict => Entry::Verdict(RecordedVerdict::read(tick, r)?),
            EntryKind::Correction => Entry::Correction(RecordedCorrection::read(tick, r)?),
            EntryKind::Mark => Entry::Mark(Mark::read(r)?),
            EntryKind::Extra => Entry::Extra(Extra::read(r)?),
        };
        self.spend(1)?;
        Ok(entry)
    }

    /// Counts entries against the limit of a segment.
    fn spend(&mut self, entries: usize) -> Result<(), WireError> {
        self.left = self.left.checked_sub(entries).ok_or(WireError::Invalid)?;
        Ok(())
    }
}

//! Ring of the last segments in memory.

use std::{collections::VecDeque, io, path::Path};

use crate::{chunk::ChunkHeader, file_writer::FileWriter, setup::RecordSetup};

/// Ring of compressed segments, limited in ticks and in bytes.
#[derive(Debug)]
pub(crate) struct Ring {
    segments: VecDeque<(ChunkHeader, Vec<u8>)>,
    bytes: usize,
    most_ticks: u32,
    most_bytes: usize,
}

impl Ring {
    /// Creates a ring; one of 0 ticks holds nothing.
    pub fn new(most_ticks: u32, most_bytes: usize) -> Self {
        Self { segments: VecDeque::new(), bytes: 0, most_ticks, most_bytes }
    }

    pub fn push(&mut self, header: ChunkHeader, bytes: Vec<u8>) {
        if self.most_ticks == 0 {
            return;
        }
        self.bytes += bytes.len();
        self.segments.push_back((header, bytes));
        // The oldest goes once the others alone cover the time.
        while self.segments.len() > 1
            && (self.covered_without_oldest() >= self.most_ticks || self.bytes > self.most_bytes)
        {
            if let Some((_, dropped)) = self.segments.pop_front() {
                self.bytes -= dropped.len();
            }
        }
    }

    fn covered_without_oldest(&self) -> u32 {
        self.span(1)
    }

    fn span(&self, from: usize) -> u32 {
        let ends = self.segments.get(from).zip(self.segments.back());
        ends.map_or(0, |(first, last)| {
            last.0.last.since(first.0.first).max(-1).wrapping_add(1).cast_unsigned()
        })
    }

    pub fn ticks(&self) -> u32 {
        self.span(0)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes all segments into a file. Returns its bytes, without the index.
    ///
    /// # Errors
    /// Those of [`FileWriter`].
    pub fn save(&self, path: &Path, setup: &RecordSetup) -> io::Result<u64> {
        let mut file = FileWriter::create(path, setup)?;
        for (header, bytes) in &self.segments {
            file.append(*header, bytes)?;
        }
        file.close()?;
        Ok(self.bytes as u64)
    }
}

//! Writer of a file: the setup, segments as they come, and an index at the end.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use bevy_unlag_core::{Tick, Wire};

use crate::{
    FILE_MAGIC, FORMAT_VERSION,
    chunk::{ChunkHeader, ChunkKind, HEADER_BYTES, encode},
    setup::RecordSetup,
};

/// Bytes before the first chunk.
pub(crate) const PRELUDE_BYTES: usize = 12;
/// Last bytes of a file that was closed.
pub(crate) const TRAILER_MAGIC: [u8; 4] = *b"UEND";
/// Bytes after the last chunk: the position of the index, and the magic number.
pub(crate) const TRAILER_BYTES: usize = 12;
/// Bytes of one entry of an index: the position of a segment and its header.
pub(crate) const INDEX_ENTRY_BYTES: usize = 8 + HEADER_BYTES;

/// Returns the start of a file: magic number, version of the format and the setup.
pub(crate) fn file_start(setup: &RecordSetup) -> io::Result<Vec<u8>> {
    let mut bytes = FILE_MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    let (_, chunk) = encode(ChunkKind::Setup, &setup.to_bytes(), 0, (Tick(0), Tick(0)))
        .ok_or_else(|| io::Error::other("the setup is too large"))?;
    bytes.extend_from_slice(&chunk);
    Ok(bytes)
}

/// Waits until a file is on the disk. Pipes and some network drives cannot tell, which is no error.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

/// File that is being written.
#[derive(Debug)]
pub(crate) struct FileWriter {
    file: File,
    length: u64,
    index: Vec<u8>,
}

impl FileWriter {
    /// Creates a file that begins with the setup. An existing one is overwritten.
    ///
    /// # Errors
    /// The setup is too large, or the operating system refuses; the text has the path.
    pub fn create(path: &Path, setup: &RecordSetup) -> io::Result<Self> {
        let start = file_start(setup)?;
        let mut file = File::create(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        file.write_all(&start)?;
        sync(&file)?;
        Ok(Self { file, length: start.len() as u64, index: Vec::new() })
    }

    /// Appends a chunk, and waits until it is on the disk: it survives a loss of power from then on.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn append(&mut self, header: ChunkHeader, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        sync(&self.file)?;
        self.index.extend_from_slice(&self.length.to_le_bytes());
        self.index.extend_from_slice(&header.to_bytes());
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Appends the index. A file whose index is too large for a chunk has none, and is read like one that was cut.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn close(mut self) -> io::Result<()> {
        let last = self.index.len() / INDEX_ENTRY_BYTES;
        if let Some((_, chunk)) = encode(ChunkKind::Index, &self.index, last as u32, (Tick(0), Tick(0))) {
            self.file.write_all(&chunk)?;
            self.file.write_all(&self.length.to_le_bytes())?;
            self.file.write_all(&TRAILER_MAGIC)?;
        }
        sync(&self.file)
    }
}

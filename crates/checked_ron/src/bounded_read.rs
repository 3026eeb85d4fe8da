//! Reading of files up to a limit of their size.

use std::{
    fs::{self, File, FileType},
    io::{Error, ErrorKind, Read},
    path::Path,
};

/// Reads a file of at most `limit` bytes. Its kind and its size are checked before it is opened, and no more than one
/// byte above the limit is ever read, so an endless pipe ends, too. Pipes are read because a shell passes them for
/// `<(command)`; one that says nothing is waited for.
///
/// # Errors
/// The file cannot be read; it is a directory ([`ErrorKind::IsADirectory`]), a device or a socket
/// ([`ErrorKind::InvalidInput`]), or longer than the limit ([`ErrorKind::FileTooLarge`]).
pub fn read_file(path: impl AsRef<Path>, limit: usize) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a directory; name a file"));
    }
    if is_device(metadata.file_type()) {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a device; name a file"));
    }
    if metadata.len() > limit as u64 {
        return Err(too_long(&format!("{} bytes", metadata.len()), limit));
    }
    // A file that grows meanwhile, or one without a size, is cut off there.
    read_to_limit(File::open(path)?, limit)
}

/// Reads at most `limit` bytes until the end of a source, such as standard input, and no more than one byte above the
/// limit. Waits for a source that says nothing.
///
/// # Errors
/// The source cannot be read, or is longer than the limit ([`ErrorKind::FileTooLarge`]).
pub fn read_to_limit(source: impl Read, limit: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit { Err(too_long("more bytes than that", limit)) } else { Ok(bytes) }
}

fn too_long(found: &str, limit: usize) -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("the file may have {limit} bytes; it has {found}"))
}

#[cfg(unix)]
fn is_device(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device() || kind.is_socket()
}

#[cfg(not(unix))]
fn is_device(_: FileType) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, bytes: &[u8], limit: usize) -> Result<Vec<u8>, ErrorKind> {
        let path = std::env::temp_dir().join(format!("bounded_read_{}_{name}", std::process::id()));
        fs::write(&path, bytes).expect("a file");
        let read = read_file(&path, limit);
        fs::remove_file(&path).expect("it goes");
        read.map_err(|error| error.kind())
    }

    #[test]
    fn file_is_read_up_to_its_limit_and_refused_beyond() {
        assert_eq!(read("fits", b"1234", 4), Ok(b"1234".to_vec()));
        assert_eq!(read("empty", b"", 0), Ok(Vec::new()));
        assert_eq!(read("long", b"12345", 4), Err(ErrorKind::FileTooLarge));
    }

    #[test]
    fn source_without_an_end_is_refused_at_its_limit() {
        assert_eq!(read_to_limit(&b"1234"[..], 4).ok(), Some(b"1234".to_vec()));
        let endless = read_to_limit(std::io::repeat(b'a'), 4).map_err(|error| error.kind());
        assert_eq!(endless, Err(ErrorKind::FileTooLarge));
    }

    #[test]
    fn directory_device_and_missing_file_are_told_apart() {
        let kind = |path: &Path| read_file(path, 4).map_err(|error| error.kind());
        assert_eq!(kind(&std::env::temp_dir()), Err(ErrorKind::IsADirectory));
        assert_eq!(kind(Path::new("no/such/file")), Err(ErrorKind::NotFound));
        if Path::new("/dev/zero").exists() {
            assert_eq!(kind(Path::new("/dev/zero")), Err(ErrorKind::InvalidInput));
        }
    }

    #[test]
    fn file_that_hides_its_size_is_cut_off_at_the_limit() {
        // The kernel gives its size as 0.
        let path = Path::new("/proc/self/status");
        if path.exists() {
            assert_eq!(read_file(path, 8).map_err(|error| error.kind()), Err(ErrorKind::FileTooLarge));
            assert!(read_file(path, 1 << 20).is_ok_and(|bytes| bytes.len() > 8));
        }
    }
}

//! Stream of changes of the game server, from Agones' sidecar.

use core::time::Duration;
use std::{
    io::{self, BufRead, BufReader, ErrorKind, Read},
    thread,
};

use crate::{
    game_server::GameServer,
    retry_delay::RetryDelay,
    sdk_client::{MAX_ANSWER, SdkClient},
    shared_state::Shared,
};

/// Pause after each line. Agones sends two a second at most; a sidecar that sends without end costs no core.
const LINE_PAUSE: Duration = Duration::from_millis(5);

/// Keeps [`Shared`] up to date until the connection is closed. While there is no stream, it polls.
pub(crate) fn watch(client: &SdkClient, shared: &Shared, retry_limit: Duration) {
    let mut delay = RetryDelay::new(retry_limit);
    while !shared.queue.is_closed() {
        if let Ok(stream) = client.watch() {
            let mut lines = BufReader::new(stream);
            while let Ok(seen) = read_line(&mut lines) {
                delay.reset();
                shared.put(seen);
                thread::sleep(LINE_PAUSE);
            }
        }
        if let Ok(seen) = client.game_server() {
            shared.put(seen);
        }
        if !shared.queue.is_closed() {
            thread::sleep(delay.after_failure());
        }
    }
}

/// Reads a line with a game server.
///
/// # Errors
/// Returns an error at the end of the stream, and for a line that is too long or has no game server.
fn read_line(lines: &mut impl BufRead) -> io::Result<GameServer> {
    let mut line = Vec::new();
    lines.take(MAX_ANSWER as u64).read_until(b'\n', &mut line)?;
    GameServer::from_line(&line).ok_or(ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"{\"result\":{\"status\":{\"state\":\"Ready\"}}}\n";

    #[test]
    fn lines_give_game_servers_until_one_does_not() {
        let stream = [LINE, LINE, b"junk\n", LINE].concat();
        let mut lines = BufReader::with_capacity(7, stream.as_slice());
        let read = core::iter::from_fn(|| read_line(&mut lines).ok());
        assert_eq!(read.map(|seen| seen.state).collect::<Vec<_>>(), ["Ready", "Ready"]);
        assert!(read_line(&mut b"".as_slice()).is_err(), "the end");
    }

    #[test]
    fn line_without_end_is_read_up_to_a_limit() {
        let mut read = 0;
        let endless = io::repeat(b'1').take(u64::MAX);
        let mut lines = BufReader::new(Counted { stream: endless, read: &mut read });
        assert!(read_line(&mut lines).is_err());
        drop(lines);
        assert!((MAX_ANSWER..=2 * MAX_ANSWER).contains(&read), "{read} bytes");
    }

    /// Counts the bytes that are read.
    struct Counted<'a, R> {
        stream: R,
        read: &'a mut usize,
    }

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.stream.read(buffer)?;
            *self.read += read;
            Ok(read)
        }
    }
}

//! The operator's end of the admin command.

use core::time::Duration;
use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    path::Path,
};

use checked_ron::{OneLine, read_file};

use super::socket::{AdminFile, MAX_FILE_BYTES};

/// Longest answer, in bytes: a line of some 100 for each of the players of a large server.
const MAX_ANSWER: u64 = 256 * 1_024;
/// Time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(2);
/// Time without a byte of the answer after which the server counts as stuck.
const SILENCE: Duration = Duration::from_secs(10);

/// Sends a command, such as `kick 7 camping`, to the server that has written this admin file. Waits for the answer.
///
/// # Errors
/// One line: what is wrong with the file or the command, or why the server does not answer or refuses.
pub fn send_admin_command(file: &Path, command: &str) -> Result<String, String> {
    let shown = OneLine::path(file);
    let bytes = read_file(file, MAX_FILE_BYTES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            format!("cannot read the admin file {shown} ({error}); is a server running with: --admin {shown}")
        }
        _ => format!("cannot read {shown} as an admin file: {error}"),
    })?;
    let AdminFile { address, secret } =
        AdminFile::parse(&bytes).ok_or_else(|| format!("{shown} is no admin file"))?;
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_TIME).map_err(|error| {
        format!("no server answers at {address} ({error}); {shown} is of one that has stopped")
    })?;
    let line = format!("{} {}\n", secret.0, command.replace(char::is_control, " "));
    let mut answer = String::new();
    stream
        .set_read_timeout(Some(SILENCE))
        .and_then(|()| stream.write_all(line.as_bytes()))
        .and_then(|()| (&stream).take(MAX_ANSWER).read_to_string(&mut answer))
        .map_err(|error| format!("the server at {address} does not answer ({error}); is it stuck?"))?;
    match answer.trim_end().split_once('\n') {
        Some(("ok", text)) => Ok(text.to_owned()),
        Some(("error", text)) => Err(text.to_owned()),
        _ => Err(format!("the server at {address} closed the connection; a command may have 400 bytes")),
    }
}

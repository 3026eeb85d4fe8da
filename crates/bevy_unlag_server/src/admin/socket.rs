//! Socket of the admin command: its file, its secret, and the requests that wait.

use core::{fmt, net::SocketAddr, time::Duration};
use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Instant,
};

use bevy::{log::tracing::field, prelude::*};
use checked_ron::{OneLine, read_file};
use lightyear_guard::{BanTarget, LogConfig, ServerKey};

use super::{ADMIN, AdminAnswer, AdminCommand, AdminRequest};
use crate::request_server::{RequestForm, RequestId, RequestLimits, RequestServer};

/// First line of an admin file.
const HEADER: &str = "bevy_unlag admin 1";
/// Largest admin file, in bytes: its three lines have about 110.
pub(super) const MAX_FILE_BYTES: usize = 256;
/// Bounds of the socket. A request has a secret of 64 bytes and a command.
const LIMITS: RequestLimits =
    RequestLimits { connections: 8, request_bytes: 512, time: Duration::from_secs(2) };
/// Time after which a request that nobody answers is an error.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Error of [`AdminPlugin::open`](crate::AdminPlugin::open). `Display` says in one line what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdminError(String);

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for AdminError {}

/// Socket for the operator's commands. Dropping it closes the socket and removes the file.
#[derive(Resource, Debug)]
pub(super) struct AdminSocket {
    server: RequestServer,
    file: PathBuf,
    secret: Secret,
    /// Requests that the app has, and since when.
    pending: Vec<(RequestId, Instant)>,
}

/// Text that a request must begin with. `Debug` hides it.
pub(super) struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Secret {
    /// Compares in a time that does not depend on the content.
    fn is(&self, text: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), text.as_bytes());
        own.len() == other.len() && own.iter().zip(other).fold(0, |found, (a, b)| found | (a ^ b)) == 0
    }
}

impl AdminSocket {
    /// Opens the socket of [`AdminPlugin::open`](super::AdminPlugin::open).
    ///
    /// # Errors
    /// The same.
    pub fn open(file: PathBuf) -> Result<Self, AdminError> {
        let shown = OneLine::path(&file).to_string();
        // A key is 32 random bytes.
        let secret = ServerKey::random().map_err(|error| AdminError(error.to_string()))?.to_hex();
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = RequestServer::bind(loopback, LIMITS).map_err(|error| {
            AdminError(format!("cannot listen on {loopback} for admin commands: {error}"))
        })?;
        let text = format!("{HEADER}\n{}\n{secret}\n", server.address());
        remove_old(&file).and_then(|()| write_private(&file, &text)).map_err(|error| {
            AdminError(match error.kind() {
                ErrorKind::AlreadyExists => {
                    format!("{shown} exists and is no admin file; remove it or name another file")
                }
                _ => format!("cannot write the admin file {shown}: {error}"),
            })
        })?;
        Ok(Self { server, file, secret: Secret(secret), pending: Vec::new() })
    }

    /// Logs where it listens: not when it opens, because the app's log may not be there yet.
    pub fn log_start(&self) {
        let (address, file) = (self.server.address(), OneLine::path(&self.file));
        info!(target: ADMIN, %address, %file, "listening for admin commands");
    }

    /// Parses a request.
    ///
    /// # Errors
    /// Returns the line for the operator.
    fn command(&self, request: &[u8]) -> Result<AdminCommand, String> {
        let text = str::from_utf8(request).map_err(|_| "the command is not UTF-8 text".to_owned())?;
        let line = text.lines().next().unwrap_or_default();
        let (secret, command) = line.split_once(' ').unwrap_or((line, ""));
        if !self.secret.is(secret) {
            warn!(target: ADMIN, "admin command with a wrong secret");
            return Err("the secret is not the server's; read its admin file again".to_owned());
        }
        command.parse().map_err(|error: super::InvalidAdminCommand| error.to_string())
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        // Another server may have replaced the file.
        let is_own = read_file(&self.file, MAX_FILE_BYTES)
            .is_ok_and(|bytes| AdminFile::parse(&bytes).is_some_and(|file| self.secret.is(&file.secret.0)));
        if is_own {
            // Nothing to do about an error: the next run replaces the file.
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Content of an admin file.
pub(super) struct AdminFile {
    pub address: SocketAddr,
    pub secret: Secret,
}

impl AdminFile {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = str::from_utf8(bytes).ok()?.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let address = lines.next()?.parse().ok()?;
        Some(Self { address, secret: Secret(lines.next()?.to_owned()) })
    }
}

/// Removes the admin file of an earlier run. Other files stay.
fn remove_old(file: &Path) -> io::Result<()> {
    match read_file(file, MAX_FILE_BYTES) {
        Ok(bytes) if AdminFile::parse(&bytes).is_some() => fs::remove_file(file),
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(ErrorKind::AlreadyExists.into()),
        Err(error) => Err(error),
    }
}

/// Writes a new file that only this user can read.
fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // A new one, so that a link or somebody else's file of this name is not written to.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

fn form(request: &[u8]) -> RequestForm {
    if request.ends_with(b"\n") { RequestForm::Complete } else { RequestForm::Incomplete }
}

fn encode(result: &Result<String, String>) -> Vec<u8> {
    match result {
        Ok(text) => format!("ok\n{text}\n"),
        Err(text) => format!("error\n{text}\n"),
    }
    .into_bytes()
}

/// Reads the requests that have arrived.
pub(super) fn receive(
    mut socket: ResMut<AdminSocket>,
    mut requests: MessageWriter<AdminRequest>,
    log: Option<Res<LogConfig>>,
) {
    // Nearly always nothing is there: change detection is of no use here.
    let socket = socket.bypass_change_detection();
    let now = Instant::now();
    for (id, request) in socket.server.advance(now, form) {
        match socket.command(&request) {
            Ok(command) => {
                let has_address = matches!(
                    command,
                    AdminCommand::Ban { target: BanTarget::Host(_), .. }
                        | AdminCommand::Unban { target: BanTarget::Host(_) }
                );
                let is_shown = !has_address || log.as_ref().is_none_or(|log| log.addresses);
                let shown = is_shown.then(|| field::debug(&command));
                info!(target: ADMIN, command = shown, "admin command");
                socket.pending.push((id, now));
                requests.write(AdminRequest { id, command });
            }
            Err(line) => socket.server.answer(id, encode(&Err(line)), now),
        }
    }
}

/// Sends the answers.
pub(super) fn answer(mut socket: ResMut<AdminSocket>, mut answers: MessageReader<AdminAnswer>) {
    let socket = socket.bypass_change_detection();
    let now = Instant::now();
    for AdminAnswer { id, result } in answers.read() {
        if let Some(waiting) = socket.pending.iter().position(|(waiting, _)| waiting == id) {
            socket.pending.remove(waiting);
            socket.server.answer(*id, encode(result), now);
        }
    }
    let AdminSocket { server, pending, .. } = socket;
    pending.retain(|(id, since)| {
        if now.duration_since(*since) < ANSWER_TIME {
            return server.is_waiting(*id);
        }
        server.answer(*id, encode(&Err("this server does not know that command".to_owned())), now);
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("admin_socket_{}_{name}", std::process::id()))
    }

    #[test]
    fn file_is_private_names_the_socket_and_goes_with_it() {
        let file = place("private");
        let socket = AdminSocket::open(file.clone()).expect("a socket");
        let read = AdminFile::parse(&fs::read(&file).expect("the file")).expect("an admin file");
        assert_eq!(read.address, socket.server.address());
        assert!(
            read.address.ip().is_loopback() && socket.secret.is(&read.secret.0) && read.secret.0.len() == 64
        );
        assert!(!format!("{socket:?}").contains(&read.secret.0[..8]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&file).expect("the file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        // The next run on the same file: the first socket leaves it alone.
        let next = AdminSocket::open(file.clone()).expect("a socket");
        drop(socket);
        assert!(file.exists());
        drop(next);
        assert!(!file.exists());
    }

    #[test]
    fn file_that_is_no_admin_file_is_left_alone() {
        let file = place("key");
        for content in ["a key".to_owned(), "x".repeat(MAX_FILE_BYTES + 1)] {
            fs::write(&file, &content).expect("a file");
            let error = AdminSocket::open(file.clone()).expect_err("another file").to_string();
            assert!(error.contains("is no admin file") && error.contains("admin_socket_"), "{error}");
            assert_eq!(fs::read_to_string(&file).expect("the file"), content);
        }
        fs::remove_file(&file).expect("it goes");
        let error = AdminSocket::open(place("none").join("file")).expect_err("no such folder").to_string();
        assert!(error.starts_with("cannot write the admin file"), "{error}");
    }

    #[test]
    fn request_needs_the_whole_secret() {
        let socket = AdminSocket::open(place("secret")).expect("a socket");
        let secret = &socket.secret.0;
        assert_eq!(socket.command(format!("{secret} players\n").as_bytes()), Ok(AdminCommand::Players));
        let other = "0".repeat(64);
        for (line, problem) in [
            (format!("{other} players\n"), "secret"),
            (format!("{} players\n", &secret[1..]), "secret"),
            ("players\n".to_owned(), "secret"),
            ("\n".to_owned(), "secret"),
            (format!("{secret}\n"), "no such command"),
            (format!("{secret} quit\n"), "no such command"),
        ] {
            let error = socket.command(line.as_bytes()).expect_err("no command");
            assert!(error.contains(problem) && !error.contains(secret.as_str()), "{error}");
        }
        assert!(socket.command(b"\xff\n").is_err());
    }
}

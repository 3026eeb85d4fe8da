//! Certificate of a server's listeners: from PEM files that are read again, or self-signed.

use core::time::Duration;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use bevy::prelude::*;
use checked_ron::{OneLine, read_file};
use derive_more::Display;
use rcgen::{CertificateParams, KeyPair};
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::CertificateDigest;
use crate::{
    clock::{self, SystemTime, UNIX_EPOCH},
    log_lines::SERVER,
};

/// Largest PEM file that is read: a chain of dozens of certificates.
const MAX_FILE_BYTES: usize = 256 << 10;
/// Validity of a self-signed certificate, the longest that browsers accept by digest.
const SELF_SIGNED_VALIDITY: Duration = Duration::from_secs(14 * 24 * 3_600);
/// Part of it that lies in the past, for clients whose clock is late.
const CLOCK_ERROR: Duration = Duration::from_secs(3_600);
/// Rest of it in which the certificate is replaced.
const RENEWAL: Duration = Duration::from_secs(3_600);

/// Error of a certificate. `Display` says in one line what to do.
#[derive(Debug, Display)]
pub enum CertificateError {
    /// A file that cannot be read.
    #[display(
        "cannot read {} ({_1}); give the PEM files of a certificate chain and of its key",
        OneLine::path(_0)
    )]
    File(PathBuf, io::Error),
    /// A file without a certificate or without a private key.
    #[display("{} has no {_1} in PEM form", OneLine::path(_0))]
    Missing(PathBuf, &'static str),
    /// Certificate and key that do not belong together, or of a kind that is not supported.
    #[display("the certificate cannot be used with this key ({_0}); ECDSA, Ed25519 and RSA keys work")]
    Mismatch(rustls::Error),
    /// A name that no certificate can have, or a system without random bytes.
    #[display(
        "cannot create a self-signed certificate ({}); give host names or addresses",
        OneLine::name(&_0.to_string())
    )]
    SelfSigned(rcgen::Error),
}

impl core::error::Error for CertificateError {}

/// Triggered on a server app: reads the certificate files of all [`SessionListeners`](super::SessionListeners) again,
/// as they do by themselves within ten seconds after a file has changed. Files that cannot be used are logged, and the
/// old certificate stays.
#[derive(Event, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Event, Debug, Default)]
pub struct ReloadCertificates;

/// Certificate and private key of a server. Clones share them: after a [`reload`](Self::reload), every listener uses
/// the new ones for new sessions.
#[derive(Clone, Debug)]
pub struct ServerCertificate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    origin: Origin,
    current: RwLock<Arc<CertifiedKey>>,
}

/// Where a new certificate comes from.
#[derive(Debug)]
enum Origin {
    Files(PemFiles),
    SelfSigned { names: Vec<String>, expires: Mutex<SystemTime> },
}

#[derive(Debug)]
struct PemFiles {
    chain: PathBuf,
    key: PathBuf,
    /// Size and time of both as they were read.
    read: Mutex<[FileStamp; 2]>,
}

/// Size and time of a file. A file that is not there has none.
type FileStamp = Option<(u64, Option<SystemTime>)>;

impl ServerCertificate {
    /// Reads a certificate chain, the server's own certificate first, and its private key.
    ///
    /// # Errors
    /// A [`CertificateError`] that names the file.
    pub fn from_pem_files(
        chain: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, CertificateError> {
        let (chain, key) = (chain.into(), key.into());
        let stamps = [stamp(&chain), stamp(&key)];
        let current = RwLock::new(Arc::new(read(&chain, &key)?));
        let origin = Origin::Files(PemFiles { chain, key, read: Mutex::new(stamps) });
        Ok(Self(Arc::new(Shared { origin, current })))
    }

    /// Creates a certificate for development: ECDSA P-256, valid for 14 days, for these host names and addresses.
    /// Clients must know its [`digest`](Self::digest), which changes with every call. An hour before the end of its
    /// validity the listeners replace it, and log the new digest.
    ///
    /// # Errors
    /// [`CertificateError::SelfSigned`] if a name is invalid.
    pub fn self_signed<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, CertificateError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (current, expires) = sign(&names, clock::wall())?;
        let origin = Origin::SelfSigned { names, expires: Mutex::new(expires) };
        Ok(Self(Arc::new(Shared { origin, current: RwLock::new(Arc::new(current)) })))
    }

    /// Returns the digest of the server's own certificate.
    #[must_use]
    pub fn digest(&self) -> CertificateDigest {
        let current = self.current();
        let own = current.cert.first().map_or(&[][..], |certificate| certificate.as_ref());
        CertificateDigest(Sha256::digest(own).into())
    }

    /// Reads the files again. A self-signed certificate is replaced only if it expires within an hour.
    ///
    /// # Errors
    /// A [`CertificateError`]; the old certificate stays.
    pub fn reload(&self) -> Result<(), CertificateError> {
        self.renew(clock::wall()).map(drop)
    }

    /// Replaces the certificate, and returns whether it has.
    fn renew(&self, now: SystemTime) -> Result<bool, CertificateError> {
        let replace = |new: CertifiedKey| {
            *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        };
        match &self.0.origin {
            Origin::Files(files) => {
                *files.read.lock().unwrap_or_else(PoisonError::into_inner) = files.stamps();
                replace(read(&files.chain, &files.key)?);
            }
            Origin::SelfSigned { names, expires } => {
                // Held until the end: each listener has a thread, and only one of them may replace it.
                let mut expires = expires.lock().unwrap_or_else(PoisonError::into_inner);
                if *expires >= now + RENEWAL {
                    return Ok(false);
                }
                let (new, new_expires) = sign(names, now)?;
                replace(new);
                *expires = new_expires;
            }
        }
        Ok(true)
    }

    /// Replaces the certificate as [`reload`](Self::reload) does, and logs what came of it.
    pub(super) fn reload_and_log(&self) {
        match (self.renew(clock::wall()), &self.0.origin) {
            (Ok(true), Origin::Files(files)) => {
                let file = OneLine::path(&files.chain).to_string();
                info!(target: SERVER, file, digest = %self.digest(), "certificate read again");
            }
            (Ok(true), Origin::SelfSigned { .. }) => {
                warn!(target: SERVER, digest = %self.digest(), "certificate renewed: clients need its new digest");
            }
            (Ok(false), _) => {}
            (Err(problem), _) => error!(target: SERVER, %problem, "certificate is not replaced"),
        }
    }

    /// Whether both are clones of one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a file has changed since it was read, or a self-signed certificate expires soon.
    pub(super) fn should_be_replaced(&self) -> bool {
        self.is_due(clock::wall())
    }

    fn is_due(&self, now: SystemTime) -> bool {
        match &self.0.origin {
            Origin::Files(files) => {
                *files.read.lock().unwrap_or_else(PoisonError::into_inner) != files.stamps()
            }
            Origin::SelfSigned { expires, .. } => {
                *expires.lock().unwrap_or_else(PoisonError::into_inner) < now + RENEWAL
            }
        }
    }

    /// Returns the certificate for a new session.
    pub(super) fn current(&self) -> Arc<CertifiedKey> {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl PemFiles {
    fn stamps(&self) -> [FileStamp; 2] {
        [stamp(&self.chain), stamp(&self.key)]
    }
}

/// Creates a self-signed certificate. Returns it with the end of its validity.
fn sign(names: &[String], now: SystemTime) -> Result<(CertifiedKey, SystemTime), CertificateError> {
    let mut params = CertificateParams::new(names).map_err(CertificateError::SelfSigned)?;
    let begin = now.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(CLOCK_ERROR);
    let end = begin + SELF_SIGNED_VALIDITY - Duration::from_secs(1);
    let at = |since: Duration| {
        OffsetDateTime::from_unix_timestamp(since.as_secs() as i64).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    };
    (params.not_before, params.not_after) = (at(begin), at(end));
    let key = KeyPair::generate().map_err(CertificateError::SelfSigned)?;
    let certificate = params.self_signed(&key).map_err(CertificateError::SelfSigned)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let key = CertifiedKey::from_der(vec![certificate.der().clone()], key, &ring::default_provider())
        .map_err(CertificateError::Mismatch)?;
    Ok((key, UNIX_EPOCH + end))
}

fn stamp(file: &Path) -> FileStamp {
    fs::metadata(file).ok().map(|metadata| (metadata.len(), metadata.modified().ok()))
}

fn read(chain: &Path, key: &Path) -> Result<CertifiedKey, CertificateError> {
    let bytes = |file: &Path| {
        read_file(file, MAX_FILE_BYTES).map_err(|error| CertificateError::File(file.to_owned(), error))
    };
    let missing = |file: &Path, what| CertificateError::Missing(file.to_owned(), what);
    let certificates = CertificateDer::pem_slice_iter(&bytes(chain)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| missing(chain, "certificate"))?;
    if certificates.is_empty() {
        return Err(missing(chain, "certificate"));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?).map_err(|_| missing(key, "private key"))?;
    CertifiedKey::from_der(certificates, private, &ring::default_provider())
        .map_err(CertificateError::Mismatch)
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    /// PEM form of these bytes, as tools write it.
    fn pem(label: &str, der: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for group in der.chunks(3) {
            let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
                << (8 * (3 - group.len()));
            for index in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * index) & 63) as usize] as char;
                text.push(if index <= group.len() { digit } else { '=' });
            }
        }
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    }

    /// PEM forms of a new certificate and of its key.
    fn files() -> (String, String) {
        let key = KeyPair::generate().expect("random bytes");
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("a certificate");
        (pem("CERTIFICATE", certificate.der()), pem("PRIVATE KEY", &key.serialize_der()))
    }

    fn folder() -> PathBuf {
        static NUMBER: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("certificates_{}_{number}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn files_are_read_again_and_bad_ones_leave_the_old_certificate() {
        let folder = folder();
        let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
        let write = |(certificate, private): (String, String)| {
            fs::write(&chain, certificate).and_then(|()| fs::write(&key, private)).expect("files");
        };
        write(files());
        let certificate = ServerCertificate::from_pem_files(&chain, &key).expect("a pair");
        let (clone, first) = (certificate.clone(), certificate.digest());
        assert!(certificate.is_same(&clone) && !certificate.should_be_replaced());
        write(files());
        certificate.reload().expect("another pair");
        let second = certificate.digest();
        assert!(first != second && clone.digest() == second, "clones share it");
        // A chain of one pair with the key of another.
        write((files().0, files().1));
        assert!(matches!(certificate.reload(), Err(CertificateError::Mismatch(_))));
        write((String::from("no certificate"), files().1));
        assert!(certificate.should_be_replaced(), "another length");
        assert!(matches!(certificate.reload(), Err(CertificateError::Missing(_, "certificate"))));
        write((files().0, String::new()));
        assert!(matches!(certificate.reload(), Err(CertificateError::Missing(_, "private key"))));
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(matches!(certificate.reload(), Err(CertificateError::File(..))));
        assert_eq!(certificate.digest(), second);
    }

    #[test]
    fn errors_name_the_file_in_one_line() {
        let folder = folder();
        let lines = [
            ServerCertificate::from_pem_files(folder.join("no\nfile"), folder.join("key")),
            ServerCertificate::from_pem_files(&folder, &folder),
            ServerCertificate::self_signed(["not a\nname\u{e4}"]),
        ]
        .map(|result| result.err().map(|error| error.to_string()).unwrap_or_default());
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(lines.iter().all(|line| !line.is_empty() && !line.contains('\n')), "{lines:?}");
        assert!(lines[0].contains("no\\nfile"), "{lines:?}");
    }

    #[test]
    fn self_signed_certificates_are_new_each_time_and_short_enough_for_browsers() {
        let certificate = || ServerCertificate::self_signed(["localhost", "127.0.0.1"]).expect("names");
        assert_ne!(certificate().digest(), certificate().digest());
        assert!(SELF_SIGNED_VALIDITY <= Duration::from_secs(14 * 24 * 3_600));
    }

    #[test]
    fn self_signed_certificates_are_replaced_only_in_their_last_hour() {
        let certificate = ServerCertificate::self_signed(["localhost"]).expect("a name");
        let (first, now) = (certificate.digest(), clock::wall());
        let late = now + SELF_SIGNED_VALIDITY - CLOCK_ERROR - RENEWAL / 2;
        let renews = |at| certificate.renew(at).expect("random bytes");
        assert!(!renews(now) && !renews(late - RENEWAL) && !certificate.should_be_replaced());
        assert_eq!(certificate.digest(), first);
        assert!(renews(late));
        assert_ne!(certificate.digest(), first);
        assert!(!renews(late + RENEWAL), "it is good for two weeks again");
    }
}

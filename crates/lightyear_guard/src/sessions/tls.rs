//! TLS of both ends: the server's certificate, and how a client validates it.

use std::{
    io,
    sync::{Arc, OnceLock},
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
    },
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
    version::TLS13,
};
use sha2::{Digest, Sha256};

use super::{CertificateDigest, ServerCertificate};

/// The certificate of new sessions, which may be replaced at any time.
impl ResolvesServerCert for ServerCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Returns the configuration of a server that speaks `protocols`.
///
/// # Errors
/// An error if TLS 1.3 is not available.
pub(super) fn server(certificate: &ServerCertificate, protocols: &[&[u8]]) -> io::Result<ServerConfig> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certificate.clone()));
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

/// Returns the configuration of a client that speaks `protocols`. With a digest it accepts the certificate with this
/// digest alone, otherwise those that the system's authorities have signed.
///
/// # Errors
/// An error if TLS 1.3 is not available, or if the system has no authorities.
pub(super) fn client(digest: Option<CertificateDigest>, protocols: &[&[u8]]) -> io::Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?;
    let mut config = match digest {
        Some(digest) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(PinnedCertificate {
                digest,
                algorithms: ring::default_provider().signature_verification_algorithms,
            }))
            .with_no_client_auth(),
        None => builder.with_root_certificates(system_authorities()?).with_no_client_auth(),
    };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

/// Returns the certificate authorities of this system, read once.
fn system_authorities() -> io::Result<RootCertStore> {
    static AUTHORITIES: OnceLock<RootCertStore> = OnceLock::new();
    let authorities = AUTHORITIES.get_or_init(|| {
        let mut authorities = RootCertStore::empty();
        authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        authorities
    });
    if authorities.is_empty() {
        return Err(io::Error::other(
            "this system has no certificate authorities; give the digest of the server's certificate",
        ));
    }
    Ok(authorities.clone())
}

/// Accepts one certificate, whoever signed it.
#[derive(Debug)]
struct PinnedCertificate {
    digest: CertificateDigest,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for PinnedCertificate {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if Sha256::digest(certificate.as_ref())[..] == self.digest.0 {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

//! Protection of lightyear servers and clients: filters for hostile packets, rate limits, connect tokens, and
//! disconnects that say why.
//!
//! ```text
//!  socket ─► ServerUdp ─► datagram filter ─► token filter ─► netcode ─► packet filter ─► lightyear
//!             limits        form, rate       key, match,     decrypts    form, rate,       │
//!             per host      per address      used once                   BindMessage       ▼
//!                                │               │                           │         the game
//!                                └───────────────┴── IngressStats, Kick ◄────┘
//! ```
//!
//! Pinned to the version of lightyear that it protects: it knows the forms of that version's packets, and
//! which of them crash it or make it keep memory for ever.
//!
//! * [`ServerGuardPlugin`] and [`ClientGuardPlugin`] add everything. Datagrams are checked before netcode
//!   decrypts them, packets before lightyear reads them. Both work on lightyear's `Link`, whatever carries
//!   its bytes.
//! * [`IngressLimits`] has the limits, [`IngressStats`] and [`LinkTraffic`] count what was refused and why.
//! * [`BindMessage`] says which messages clients may send on which channel.
//! * [`ServerUdp`] is a UDP socket that creates no link entity for invalid datagrams.
//! * `SessionListeners` takes WebTransport and WebSocket beside UDP, with the features `webtransport` and
//!   `websocket`, and `WebTransportClient` and `WebSocketClient` join over them.
//! * [`ServerAccess`] and [`ServerKey`] define the clients that may join; a matchmaker signs a
//!   [`ConnectTokenRequest`], and [`TokenClient`] joins with it. A token is good once, at one server of a fleet.
//!   [`RotateKeys`] gives a running server new [`ServerKeys`], [`AssignMatch`] a match.
//! * [`Kick`] ends a connection, and the client learns the [`KickReason`]. [`BanList`] keeps clients and hosts out.
//! * [`limit_logs`] bounds what a flood writes to the log, and [`LogConfig`] says whether it has addresses.
//!
//! # Example
//!
//! A matchmaker issues a token for one account and one server:
//!
//! ```
//! use lightyear_guard::{ConnectTokenRequest, ServerAccess, ServerKey, TokenClient};
//!
//! const GAME: u64 = 0xF00D;
//!
//! // The secret of the fleet, from a file or the environment, in the matchmaker and in the servers.
//! let key = ServerKey::random()?;
//! let access = ServerAccess::new(key.clone(), GAME);
//! assert!(!access.keys.is_development());
//!
//! let token = ConnectTokenRequest::new(42, "203.0.113.7:5000".parse()?, GAME).issue(&key)?;
//! // The client gets the bytes from the matchmaker, over HTTPS.
//! let client = TokenClient::new(&token)?;
//! # let _ = client;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `webtransport` | no | WebTransport beside UDP, for browsers: `SessionListeners` and `WebTransportClient`. |
//! | `websocket` | no | WebSocket beside UDP, for restrictive networks: `SessionListeners` and `WebSocketClient`. |
//! | `sessions` | no | Internal: what the other two share. Either enables it; alone it has no effect. |
//!
//! # In the book
//!
//! In the repository, `book/src/reference/guard.md` has every limit with its default and cost,
//! `book/src/operations/access.md` explains keys, tokens and matchmaking, and `book/src/operations/link_protection.md`
//! says what is filtered and what is not covered.

mod clock;
mod counted_delta;
#[doc(hidden)]
pub mod fuzzing;
mod hexadecimal;
mod ingress;
mod log_lines;
mod named_enum;
mod plugin;
mod protocol;
mod reflection;
#[cfg(feature = "sessions")]
mod sessions;
mod system_sets;
mod tokens;

pub use counted_delta::counted_delta;
pub use ingress::{
    BindMessage, BoundMessages, IngressLimits, IngressRefusal, IngressStats, Kick, KickReason, KickText,
    Kicked, KickedByServer, LinkTraffic, PendingKick, RateLimiter, RefusalCounts, ServerUdp, SetupDifference,
    check_datagram, check_packet, limit_logs, record_refusal, suppressed_log_lines,
};
pub use log_lines::{LogConfig, client_name};
pub use plugin::{ClientGuardPlugin, ServerGuardPlugin};
#[cfg(feature = "websocket")]
pub use sessions::WebSocketClient;
#[cfg(feature = "webtransport")]
pub use sessions::WebTransportClient;
#[cfg(feature = "sessions")]
pub use sessions::{CertificateDigest, InvalidDigest};
#[cfg(all(feature = "sessions", not(target_family = "wasm")))]
pub use sessions::{
    CertificateError, ReloadCertificates, ServerCertificate, SessionListeners, SessionTransport,
};
pub use system_sets::GuardSystems;
pub use tokens::{
    AssignMatch, BanList, BanTarget, ConnectTokenRequest, InvalidBanTarget, JoinRefusal, JoinRefused,
    KeyError, RotateKeys, ServerAccess, ServerKey, ServerKeys, TokenClient, TokenError, TokenStats,
    WallClock, token_data,
};

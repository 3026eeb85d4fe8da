//! Protection of lightyear servers and clients: filters for hostile packets, rate limits, connect tokens, and
//! disconnects that say why.
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
//! * [`ServerAccess`] and [`ServerKey`] define the clients that may join; a matchmaker signs a
//!   [`ConnectTokenRequest`], and [`TokenClient`] joins with it. A token is good once, at one server of a fleet.
//!   [`RotateKeys`] gives a running server new [`ServerKeys`], [`AssignMatch`] a match.
//! * [`Kick`] ends a connection, and the client learns the [`KickReason`]. [`BanList`] keeps clients and hosts out.
//! * [`limit_logs`] bounds what a flood writes to the log, and [`LogConfig`] says whether it has addresses.

mod clock;
mod counted_delta;
#[doc(hidden)]
pub mod fuzzing;
mod ingress;
mod log_lines;
mod named_enum;
mod plugin;
mod protocol;
mod reflection;
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
pub use system_sets::GuardSystems;
pub use tokens::{
    AssignMatch, BanList, BanTarget, ConnectTokenRequest, InvalidBanTarget, JoinRefusal, JoinRefused,
    KeyError, RotateKeys, ServerAccess, ServerKey, ServerKeys, TokenClient, TokenError, TokenStats,
    WallClock, token_data,
};

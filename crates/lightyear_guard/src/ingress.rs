//! Ingress filters: malformed and excessive packets are dropped and counted before they can do harm. A server
//! also limits new connections.
//!
//! 1. Datagrams, before netcode decrypts them: form and rate. [`datagram_filter`]
//! 2. Packets, before lightyear reads them: form, content, channel, rate, and the memory that they make the
//!    server keep. [`packet_filter`]
//!
//! Clients that send what no honest client sends are kicked. The limits are [`IngressLimits`].

mod channel_rules;
mod content;
mod datagram_filter;
mod host;
pub(crate) mod kick;
mod kick_text;
mod limits;
mod log_limiter;
mod packet;
mod packet_filter;
mod packet_filter_probe;
mod pending_links;
mod reassembly;
mod refusal_summary;
mod socket;
mod token_bucket;
mod traffic;
mod unsolicited_pongs;

use bevy::prelude::*;
use lightyear::{
    connection::host::HostClient,
    link::{Link, RecvPayload},
    prelude::{Connected, LinkOf},
};
use lightyear_sync::ping::plugin::PingSystems;

use crate::{log_lines::LogConfig, system_sets::GuardSystems};

pub use channel_rules::{BindMessage, BoundMessages};
#[cfg(all(feature = "sessions", not(target_family = "wasm")))]
pub(crate) use datagram_filter::DatagramForm;
pub(crate) use datagram_filter::client_datagram_form;
pub(crate) use host::host;
pub use kick::PendingKick;
pub use kick::{Kick, KickReason, Kicked, KickedByServer, SetupDifference};
pub use kick_text::KickText;
pub use limits::{IngressLimits, IngressRefusal};
pub use log_limiter::{limit_logs, suppressed_log_lines};
pub use packet_filter_probe::PacketFilterProbe;
#[cfg(all(feature = "sessions", not(target_family = "wasm")))]
pub(crate) use pending_links::{PendingLink, forget as forget_pending_links};
pub use socket::ServerUdp;
#[cfg(all(feature = "webtransport", not(target_family = "wasm")))]
pub(crate) use socket::open_socket;
#[cfg(all(feature = "sessions", not(target_family = "wasm")))]
pub(crate) use socket::unmapped;
#[cfg(all(feature = "websocket", not(target_family = "wasm")))]
pub(crate) use socket::{bind_or_ipv4, is_any_ipv6};
pub use token_bucket::RateLimiter;
#[cfg(all(feature = "sessions", not(target_family = "wasm")))]
pub(crate) use token_bucket::TokenBucket;
pub use traffic::{IngressStats, LinkTraffic, RefusalCounts, record_refusal};

/// Adds what both sides have: limits, counters, and the order of the datagram filter.
fn shared(app: &mut App) {
    app.init_resource::<IngressLimits>().init_resource::<IngressStats>().init_resource::<LogConfig>();
}

pub(crate) fn plugin(app: &mut App) {
    shared(app);
    app.init_resource::<channel_rules::ChannelRules>()
        .init_resource::<BoundMessages>()
        .add_observer(packet_filter::attach)
        .add_observer(pending_links::clear_pending)
        .add_systems(
            PreUpdate,
            (
                (pending_links::forget, datagram_filter::filter_datagrams)
                    .chain()
                    .in_set(GuardSystems::Datagrams),
                (
                    channel_rules::derive_rules
                        .run_if(|rules: Res<channel_rules::ChannelRules>| !rules.are_known()),
                    (packet_filter::filter_packets, drop_early_packets),
                )
                    .chain()
                    .in_set(GuardSystems::Packets),
                unsolicited_pongs::count.after(PingSystems::Receive),
            )
                .run_if(|limits: Res<IngressLimits>| limits.enabled),
        );
    app.add_systems(Last, refusal_summary::log_summary);
    kick::server_plugin(app);
    socket::plugin(app);
}

pub(crate) fn client_plugin(app: &mut App) {
    shared(app);
    app.add_systems(
        PreUpdate,
        datagram_filter::filter_server_datagrams
            .run_if(|limits: Res<IngressLimits>| limits.enabled)
            .in_set(GuardSystems::Datagrams),
    );
    kick::client_plugin(app);
}

/// Whether `bytes` have the form of a datagram that a netcode client sends. For fuzz targets and tools; a
/// server checks by itself.
#[must_use]
pub fn check_datagram(bytes: &[u8]) -> bool {
    client_datagram_form(bytes).is_some()
}

/// Returns the number of messages and fragments in a decrypted packet, if it is well-formed. For fuzz targets
/// and tools; a server checks by itself, including the content.
///
/// # Errors
/// The [`IngressRefusal`] of the first malformed part.
pub fn check_packet(bytes: &[u8]) -> Result<usize, IngressRefusal> {
    let mut items = 0;
    packet::walk(bytes, |_| {
        items += 1;
        Ok(())
    })?;
    Ok(items)
}

/// Keeps the received payloads that `keep` accepts, in their order. It may change them.
pub(crate) fn retain_received(link: &mut Link, mut keep: impl FnMut(&mut RecvPayload) -> bool) {
    for _ in 0..link.recv.len() {
        let Some(mut payload) = link.recv.pop() else { break };
        if keep(&mut payload) {
            link.recv.push_raw(payload);
        }
    }
}

/// Drops what a client sends between its token and its connection: nothing would ever read it.
fn drop_early_packets(mut links: Query<&mut Link, (With<LinkOf>, Without<Connected>, Without<HostClient>)>) {
    for mut link in &mut links {
        link.recv.drain();
    }
}

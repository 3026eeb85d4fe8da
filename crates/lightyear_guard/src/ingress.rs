//! Ingress filters: malformed and excessive packets are dropped and counted before they can do harm. A server
//! also limits new connections.
//!
//! 1. Datagrams, before netcode decrypts them: form and rate. [`netcode`]
//! 2. Packets, before lightyear reads them: form, content, channel, rate, and the memory that they make the
//!    server keep. [`gate`]
//!
//! Clients that send what no honest client sends are kicked. The limits are [`IngressLimits`].

mod bucket;
mod content;
mod gate;
pub(crate) mod goodbye;
mod kept;
mod limits;
mod logs;
mod netcode;
mod packet;
mod pongs;
mod probe;
mod rules;
mod socket;
mod strangers;
mod traffic;

use bevy::prelude::*;
use lightyear::{
    connection::host::HostClient,
    link::Link,
    prelude::{Connected, LinkOf},
};
use lightyear_sync::ping::plugin::PingSystems;

use crate::plugin::GuardSystems;

pub use bucket::Allowance;
pub use goodbye::Leaving;
pub use goodbye::{Kick, KickReason, Kicked, KickedByServer, SetupDifference};
pub use limits::{IngressLimits, Refusal};
pub use logs::{limit_logs, log_lines_left_out};
pub use probe::GateProbe;
pub use rules::{BindMessage, BoundMessages};
pub use socket::ServerUdp;
pub use traffic::{IngressStats, LinkTraffic, Refused, refuse};

/// Adds what both sides have: limits, counters, and the order of the datagram filter.
fn shared(app: &mut App) {
    app.init_resource::<IngressLimits>().init_resource::<IngressStats>();
}

pub(crate) fn plugin(app: &mut App) {
    shared(app);
    app.init_resource::<rules::Rules>()
        .init_resource::<BoundMessages>()
        .add_observer(gate::open)
        .add_observer(strangers::welcome)
        .add_systems(
            PreUpdate,
            (
                (strangers::forget, netcode::drop_junk).chain().in_set(GuardSystems::Datagrams),
                (
                    rules::learn.run_if(|rules: Res<rules::Rules>| !rules.are_known()),
                    (gate::admit, drop_unheard),
                )
                    .chain()
                    .in_set(GuardSystems::Packets),
                pongs::count.after(PingSystems::Receive),
            )
                .run_if(|limits: Res<IngressLimits>| limits.enabled),
        );
    goodbye::server_plugin(app);
    socket::plugin(app);
}

pub(crate) fn client_plugin(app: &mut App) {
    shared(app);
    app.add_systems(
        PreUpdate,
        netcode::drop_junk_of_others
            .run_if(|limits: Res<IngressLimits>| limits.enabled)
            .in_set(GuardSystems::Datagrams),
    );
    goodbye::client_plugin(app);
}

/// Whether `bytes` have the form of a datagram that a netcode client sends. For fuzz targets and tools; a
/// server checks by itself.
#[must_use]
pub fn check_datagram(bytes: &[u8]) -> bool {
    netcode::is_netcode(bytes).is_some()
}

/// Returns the number of messages and fragments in a decrypted packet, if it is well-formed. For fuzz targets
/// and tools; a server checks by itself, including the content.
///
/// # Errors
/// The [`Refusal`] of the first malformed part.
pub fn check_packet(bytes: &[u8]) -> Result<usize, Refusal> {
    let mut items = 0;
    packet::walk(bytes, |_| {
        items += 1;
        Ok(())
    })?;
    Ok(items)
}

/// Drops what a client sends between its token and its connection: nothing would ever read it.
fn drop_unheard(mut links: Query<&mut Link, (With<LinkOf>, Without<Connected>, Without<HostClient>)>) {
    for mut link in &mut links {
        link.recv.drain();
    }
}

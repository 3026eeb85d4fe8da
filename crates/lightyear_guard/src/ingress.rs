//! What arrives: dropped before it does harm, counted, and at a server answered by the door.
//!
//! 1. Datagrams, before netcode decrypts them: their form and their number. [`netcode`]
//! 2. Packets, before lightyear reads them: their form, what is in them and on which channel, their number, and
//!    what they make the server keep. [`gate`]
//!
//! Who does what no honest client does is thrown out. The limits are [`IngressLimits`].

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

/// What both ends have: limits, counters, and the place of the first filter.
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

/// Whether bytes have the form of a datagram that a netcode client sends. For fuzzers and tools: a server asks by
/// itself.
#[must_use]
pub fn check_datagram(bytes: &[u8]) -> bool {
    netcode::is_netcode(bytes).is_some()
}

/// How many messages and parts of messages a decrypted packet holds, if its form is sound. For fuzzers and tools: a
/// server asks by itself, and looks at what they are.
///
/// # Errors
/// What is wrong with it.
pub fn check_packet(bytes: &[u8]) -> Result<usize, Refusal> {
    let mut items = 0;
    packet::walk(bytes, |_| {
        items += 1;
        Ok(())
    })?;
    Ok(items)
}

/// What a client sends between its token and its connection nobody would ever take out.
fn drop_unheard(mut links: Query<&mut Link, (With<LinkOf>, Without<Connected>, Without<HostClient>)>) {
    for mut link in &mut links {
        link.recv.drain();
    }
}

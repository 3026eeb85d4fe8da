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
mod goodbye;
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
    connection::{ConnectionSystems, host::HostClient},
    link::{Link, LinkSystems},
    prelude::{Connected, LinkOf},
};
use lightyear_sync::ping::plugin::PingSystems;
use lightyear_transport::plugin::TransportSystems;

use crate::net_sim::NetSimSystems;

pub(crate) use bucket::Allowance;
pub(crate) use goodbye::Leaving;
pub use goodbye::{Kick, KickReason, Kicked, KickedByServer};
pub use limits::{IngressLimits, Refusal};
pub use logs::{limit_logs, log_lines_left_out};
pub use probe::GateProbe;
pub use socket::ServerUdp;
pub(crate) use traffic::refuse;
pub use traffic::{IngressStats, LinkTraffic, Refused};

/// The first filter.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct JunkDropped;

/// What both ends have: limits, counters, and the place of the first filter.
fn shared(app: &mut App) {
    let place = JunkDropped
        .after(LinkSystems::Receive)
        .after(NetSimSystems::Receive)
        .before(ConnectionSystems::Receive);
    app.init_resource::<IngressLimits>().init_resource::<IngressStats>().configure_sets(PreUpdate, place);
}

pub(crate) fn plugin(app: &mut App) {
    shared(app);
    app.init_resource::<rules::Rules>()
        .add_observer(gate::open)
        .add_observer(strangers::welcome)
        .add_systems(
            PreUpdate,
            (
                (strangers::forget, netcode::drop_junk).chain().in_set(JunkDropped),
                (
                    rules::learn.run_if(|rules: Res<rules::Rules>| !rules.are_known()),
                    (gate::admit, drop_unheard),
                )
                    .chain()
                    .after(ConnectionSystems::Receive)
                    .before(TransportSystems::Receive),
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
        netcode::drop_junk_of_others.run_if(|limits: Res<IngressLimits>| limits.enabled).in_set(JunkDropped),
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

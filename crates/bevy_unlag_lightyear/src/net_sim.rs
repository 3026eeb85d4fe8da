//! Simulated bad network: two link conditioners, one each way, on a lightyear link.
//!
//! All randomness comes from the seed and all time from `Time<Real>`, so a run under stepped time repeats
//! exactly.

use core::time::Duration;

use crate::system_sets::NetSystems;
use bevy::prelude::*;
use lightyear::connection::ConnectionSystems;
use lightyear::connection::host::HostClient;
use lightyear::link::{Link, LinkSystems, Linked, RecvPayload, SendPayload};

use lightyear_guard::GuardSystems;
use link_conditioner::{Conditioner, LinkConditions, LinkCounters, LinkPreset};

/// Bytes of UDP and IP headers per datagram; they count towards the rate limit.
const UDP_IP_HEADER: usize = 28;

/// Simulates network conditions on a lightyear link, both ways. Insert it on the *client's* link entity, next
/// to its [`Link`], and change [`up`](Self::up) and [`down`](Self::down) at any time: a change applies to the
/// next packet. Requires [`NetSimPlugin`].
///
/// It works below the connection, on whole datagrams from the first one on, so the handshake is delayed and
/// lost like everything else. It works with any transport. The datagrams are netcode's, so netcode itself
/// drops the copies made by [`LinkConditions::duplication`].
///
/// Time is `Time<Real>`, sampled once per frame and direction: a packet is delivered in the frame nearest to
/// its due time. With stepped time, a run with the same [`seed`](Self::seed) is reproducible.
///
/// When the link ends, held packets are dropped. The link of a host client is not simulated. To switch the
/// simulation off, set [`LinkConditions::PERFECT`]; removing the component would drop the held packets.
///
/// ```
/// use std::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_unlag_lightyear::NetSim;
/// use link_conditioner::{LinkConditions, LinkPreset};
///
/// // 50 ms and 2 % loss each way, for the client's link entity.
/// let conditions = LinkConditions { latency: Duration::from_millis(50), loss: 0.02, ..default() };
/// let sim = NetSim::new(7).with(conditions);
/// assert_eq!(sim.up.latency, Duration::from_millis(50));
///
/// /// While the game runs: a named preset.
/// fn worsen(mut links: Query<&mut NetSim>) -> Result {
///     let bad = LinkPreset::find("Bad (UE)")?;
///     links.iter_mut().for_each(|mut sim| sim.apply(bad));
///     Ok(())
/// }
/// ```
///
/// In the book: *Link conditioner*, `book/src/reference/link_conditioner.md`.
#[doc(alias = "RecvLinkConditioner")]
#[doc(alias = "NetworkSimulator")]
#[doc(alias = "net_fakelag")]
#[derive(Component, Debug, Reflect)]
#[reflect(Component, Debug, from_reflect = false)]
pub struct NetSim {
    /// Uplink conditions, for outgoing packets of a client's link. Default perfect.
    pub up: LinkConditions,
    /// Downlink conditions, for incoming packets of a client's link. Default perfect.
    pub down: LinkConditions,
    seed: u64,
    bytes: (u64, u64),
    // Packets in flight.
    #[reflect(ignore)]
    outgoing: Conditioner<SendPayload>,
    #[reflect(ignore)]
    incoming: Conditioner<RecvPayload>,
}

impl NetSim {
    /// Creates a perfect link. All randomness comes from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            up: LinkConditions::PERFECT,
            down: LinkConditions::PERFECT,
            seed,
            bytes: (0, 0),
            outgoing: Conditioner::new(seed),
            // Any other seed will do: the two directions must be independent.
            incoming: Conditioner::new(seed ^ 0x9E37_79B9_7F4A_7C15),
        }
    }

    /// Returns this link with the same conditions both ways; see [`set`](Self::set).
    #[must_use]
    pub fn with(mut self, conditions: LinkConditions) -> Self {
        self.set(conditions);
        self
    }

    /// Sets the same conditions both ways. Latency is one-way, so the round trip is twice as long.
    pub fn set(&mut self, conditions: LinkConditions) {
        self.up = conditions;
        self.down = conditions;
    }

    /// Sets both directions to a preset.
    pub fn apply(&mut self, preset: &LinkPreset) {
        self.up = preset.up();
        self.down = preset.down();
    }

    /// Returns the seed given to [`new`](Self::new). Print it when a run fails, to reproduce the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the counters of outgoing packets.
    #[must_use]
    pub fn up_counters(&self) -> LinkCounters {
        self.outgoing.counters()
    }

    /// Returns the counters of incoming packets.
    #[must_use]
    pub fn down_counters(&self) -> LinkCounters {
        self.incoming.counters()
    }

    /// Returns the number of outgoing and incoming bytes so far, before any loss: whole datagrams with
    /// netcode's overhead, without the 28 bytes of UDP and IP headers each.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        self.bytes
    }

    /// Returns the number of outgoing and incoming packets that are held now.
    #[must_use]
    pub fn in_flight(&self) -> (usize, usize) {
        (self.outgoing.len(), self.incoming.len())
    }
}

/// Drives every [`NetSim`]. May be added before or after lightyear's plugins; costs nothing without a
/// [`NetSim`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NetSimPlugin;

impl Plugin for NetSimPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            PreUpdate,
            NetSystems::ReceiveSimulated
                .after(LinkSystems::Receive)
                .before(GuardSystems::Datagrams)
                .before(ConnectionSystems::Receive),
        );
        app.configure_sets(
            PostUpdate,
            NetSystems::SendSimulated
                .after(ConnectionSystems::Send)
                .after(GuardSystems::Answer)
                .before(LinkSystems::Send),
        );
        app.add_systems(PreUpdate, (clear_ended, receive).chain().in_set(NetSystems::ReceiveSimulated));
        app.add_systems(PostUpdate, send.in_set(NetSystems::SendSimulated));
    }
}

/// Drops the held packets of a link that has ended: they must not reach the next session.
fn clear_ended(mut links: Query<&mut NetSim, (With<Link>, Without<Linked>)>) {
    for mut sim in &mut links {
        if sim.in_flight() != (0, 0) {
            sim.outgoing.clear();
            sim.incoming.clear();
        }
    }
}

/// Returns the time of this frame, and the latest due time that is nearer to this frame than to the next.
/// Delivering only in the first frame after the due time would add half a frame of delay on average.
fn frame(time: &Time<Real>) -> (Duration, Duration) {
    // After a hitch the next frame is expected soon, so cap the tolerance.
    let half = (time.delta() / 2).min(Duration::from_millis(10));
    (time.elapsed(), time.elapsed() + half)
}

fn receive(
    time: Res<Time<Real>>,
    mut links: Query<(&mut Link, &mut NetSim), (With<Linked>, Without<HostClient>)>,
) {
    let (now, nearest) = frame(&time);
    for (mut link, mut sim) in &mut links {
        let sim = sim.bypass_change_detection();
        for packet in link.recv.drain() {
            sim.bytes.1 += packet.len() as u64;
            let bytes = packet.len() + UDP_IP_HEADER;
            sim.incoming.push_sized(now, &sim.down, packet, bytes);
        }
        while let Some(packet) = sim.incoming.pop(nearest) {
            link.recv.push_raw(packet);
        }
    }
}

fn send(
    time: Res<Time<Real>>,
    mut links: Query<(&mut Link, &mut NetSim), (With<Linked>, Without<HostClient>)>,
) {
    let (now, nearest) = frame(&time);
    for (mut link, mut sim) in &mut links {
        let sim = sim.bypass_change_detection();
        for packet in link.send.drain() {
            sim.bytes.0 += packet.len() as u64;
            let bytes = packet.len() + UDP_IP_HEADER;
            sim.outgoing.push_sized(now, &sim.up, packet, bytes);
        }
        while let Some(packet) = sim.outgoing.pop(nearest) {
            link.send.push(packet);
        }
    }
}

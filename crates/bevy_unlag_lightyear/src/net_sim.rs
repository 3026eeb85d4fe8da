//! Simulated bad network: two link conditioners, one each way, on a lightyear link.
//!
//! All randomness comes from the seed and all time from `Time<Real>`, so a run under stepped time repeats exactly.

use core::time::Duration;

use bevy::prelude::*;
use lightyear::connection::ConnectionSystems;
use lightyear::connection::host::HostClient;
use lightyear::link::{Link, LinkSystems, Linked, RecvPayload, SendPayload};

use lightyear_guard::GuardSystems;
use link_conditioner::{Conditioner, LinkConditions, LinkCounters, LinkPreset};

/// What UDP and IP put around a datagram; a line carries that, too.
const WRAPPING: usize = 28;

/// Makes a lightyear link behave badly, both ways. Put it on the *client's* link entity, next to
/// its [`Link`], and change [`up`](Self::up) and [`down`](Self::down) whenever you like: a change
/// acts on the next packet. Needs [`NetSimPlugin`].
///
/// It works below the connection, on whole datagrams and from the first one, so the handshake is
/// delayed and lost like everything else. It works with any transport. Since the datagrams are
/// netcode's, netcode itself drops the copies that [`LinkConditions::duplication`] makes.
///
/// Time is `Time<Real>`, looked at once a frame each way: a packet leaves with the frame nearest to
/// its due time. Under stepped time a run with the same [`seed`](Self::seed) repeats.
///
/// When the link ends, packets still held are dropped. A host client's link is left alone. To
/// switch the simulation off set [`LinkConditions::PERFECT`] rather than removing the component,
/// which would drop the packets held.
#[derive(Component, Debug)]
pub struct NetSim {
    /// Conditions of outgoing packets: on a client's link, from the client to the server. Default
    /// perfect.
    pub up: LinkConditions,
    /// Conditions of incoming packets: on a client's link, from the server to the client. Default
    /// perfect.
    pub down: LinkConditions,
    seed: u64,
    bytes: (u64, u64),
    outgoing: Conditioner<SendPayload>,
    incoming: Conditioner<RecvPayload>,
}

impl NetSim {
    /// A perfect link whose randomness all comes from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            up: LinkConditions::PERFECT,
            down: LinkConditions::PERFECT,
            seed,
            bytes: (0, 0),
            outgoing: Conditioner::new(seed),
            // Any other seed will do: the two directions must not share their luck.
            incoming: Conditioner::new(seed ^ 0x9E37_79B9_7F4A_7C15),
        }
    }

    /// This link with the same conditions both ways; see [`set`](Self::set).
    #[must_use]
    pub fn with(mut self, conditions: LinkConditions) -> Self {
        self.set(conditions);
        self
    }

    /// Sets the same conditions both ways. Latency is one-way: the round trip takes twice that.
    pub fn set(&mut self, conditions: LinkConditions) {
        self.up = conditions;
        self.down = conditions;
    }

    /// Sets both directions to a preset.
    pub fn apply(&mut self, preset: &LinkPreset) {
        self.up = preset.up();
        self.down = preset.down();
    }

    /// The seed given to [`new`](Self::new); show it wherever a failing run is reported.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What happened to outgoing packets so far.
    #[must_use]
    pub fn up_counters(&self) -> LinkCounters {
        self.outgoing.counters()
    }

    /// What happened to incoming packets so far.
    #[must_use]
    pub fn down_counters(&self) -> LinkCounters {
        self.incoming.counters()
    }

    /// How many bytes went out and came in so far, before any loss: whole datagrams with
    /// netcode's share, without UDP's and IP's 28 bytes each.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        self.bytes
    }

    /// How many packets are on their way now, outgoing and incoming.
    #[must_use]
    pub fn in_flight(&self) -> (usize, usize) {
        (self.outgoing.len(), self.incoming.len())
    }
}

/// The systems of [`NetSimPlugin`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetSimSystems {
    /// `PreUpdate`, between [`LinkSystems::Receive`] and [`ConnectionSystems::Receive`]: takes what
    /// the transport received and passes on what is due.
    Receive,
    /// `PostUpdate`, between [`ConnectionSystems::Send`] and [`LinkSystems::Send`]: takes what the
    /// connection wants sent and passes on what is due.
    Send,
}

/// Drives every [`NetSim`]. May be added before or after lightyear's plugins; costs nothing while
/// there is no [`NetSim`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NetSimPlugin;

impl Plugin for NetSimPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            PreUpdate,
            NetSimSystems::Receive
                .after(LinkSystems::Receive)
                .before(GuardSystems::Datagrams)
                .before(ConnectionSystems::Receive),
        );
        app.configure_sets(
            PostUpdate,
            NetSimSystems::Send
                .after(ConnectionSystems::Send)
                .after(GuardSystems::Answer)
                .before(LinkSystems::Send),
        );
        app.add_systems(PreUpdate, (forget_ended, receive).chain().in_set(NetSimSystems::Receive));
        app.add_systems(PostUpdate, send.in_set(NetSimSystems::Send));
    }
}

/// A link that ended takes the packets on their way with it: they must not reach the next session.
fn forget_ended(mut links: Query<&mut NetSim, (With<Link>, Without<Linked>)>) {
    for mut sim in &mut links {
        if sim.in_flight() != (0, 0) {
            sim.outgoing.clear();
            sim.incoming.clear();
        }
    }
}

/// This frame's time, and the latest due time that is nearer to this frame than to the next: a
/// packet that had to wait for the frame after its time would be late by half a frame on average.
fn frame(time: &Time<Real>) -> (Duration, Duration) {
    // After a hitch the next frame is expected soon.
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
            let bytes = packet.len() + WRAPPING;
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
            let bytes = packet.len() + WRAPPING;
            sim.outgoing.push_sized(now, &sim.up, packet, bytes);
        }
        while let Some(packet) = sim.outgoing.pop(nearest) {
            link.send.push(packet);
        }
    }
}

//! Snapshot acknowledgements: the newest snapshot message that a client had received when it wrote a packet.
//! Its screen cannot have shown anything newer.

use bevy::prelude::*;

use crate::tick::Tick;

/// On a client: tick of the newest snapshot message received. The network integration sets it, and move
/// packets send its lowest eight bits to the server. `None` before the first message.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct LastReceivedSnapshot(pub Option<Tick>);

impl LastReceivedSnapshot {
    /// Ticks by which a message must be older than the newest one to be taken for another server's.
    const OTHER_SERVER_TICKS: i32 = 512;
    /// Maximum distance in ticks of the newest message before and after a move for it to be sent. Their sum
    /// is less than eight bits can distinguish.
    const MAX_TICKS_BEFORE: i32 = 128;
    const MAX_TICKS_AFTER: i32 = 96;

    /// Records the arrival of a snapshot message.
    pub fn record(&mut self, tick: Tick) {
        let news = self.0.is_none_or(|known| {
            let later = tick.since(known);
            !(-Self::OTHER_SERVER_TICKS..=0).contains(&later)
        });
        if news {
            self.0 = Some(tick);
        }
    }

    /// Returns the eight bits to send in a packet whose newest move is `own`, or `None` if the last message
    /// is so old that eight bits would denote another tick.
    #[must_use]
    pub fn to_ack_bits(self, own: Tick) -> Option<u8> {
        let near =
            |tick: &Tick| (-Self::MAX_TICKS_AFTER..=Self::MAX_TICKS_BEFORE).contains(&own.since(*tick));
        self.0.filter(near).map(|tick| tick.0 as u8)
    }

    /// Reconstructs the tick from the eight bits of a packet: the newest tick with these bits that is
    /// neither after the server's tick `now` nor further after the packet's newest move, `own`, than on any
    /// honest client.
    #[must_use]
    pub fn from_ack_bits(low: u8, own: Tick, now: Tick) -> Tick {
        let latest = own.offset(Self::MAX_TICKS_AFTER);
        let latest = if latest.is_newer_than(now) { now } else { latest };
        latest.offset(-i32::from((latest.0 as u8).wrapping_sub(low)))
    }
}

/// Snapshot acknowledgement in one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub struct SnapshotAck {
    /// Tick of the packet's newest move, on the owner's count.
    pub own: Tick,
    /// Server tick at which the packet arrived.
    pub arrived: Tick,
    /// Tick of the newest snapshot message that the client had received; `None` for none.
    pub last_received_snapshot: Option<Tick>,
}

/// On the server's pawn: the snapshot acknowledgements of its owner.
///
/// They are claims of the client. A client that claims less than it has received only feigns a longer
/// downlink latency, one that claims more a shorter one.
///
/// To validate a shot use [`StepEvent::last_received_snapshot`](crate::StepEvent::last_received_snapshot)
/// instead, which is the value of the shot's own packet.
#[doc(alias = "m_nDeltaTick")]
#[derive(Component, Clone, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct SnapshotAcks {
    /// Newest snapshot message that the owner ever acknowledged; it never decreases.
    pub tick: Option<Tick>,
    /// Time line of the owner to which the moves belong. It changes when the owner restarts its tick count.
    pub epoch: u8,
    /// Packets of this tick, in order of arrival.
    packets: Vec<SnapshotAck>,
}

impl SnapshotAcks {
    /// Maximum number of packets stored per tick.
    const MAX_PACKETS: usize = 64;

    /// Starts a tick: drops the packets of the previous one.
    pub fn begin_tick(&mut self) {
        self.packets.clear();
    }

    /// Stores an accepted packet of this time line.
    pub fn record(&mut self, packet: SnapshotAck, epoch: u8) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.packets.clear();
        }
        if let Some(last_received_snapshot) = packet.last_received_snapshot
            && self.tick.is_none_or(|known| last_received_snapshot.is_newer_than(known))
        {
            self.tick = Some(last_received_snapshot);
        }
        if self.packets.len() < Self::MAX_PACKETS {
            self.packets.push(packet);
        }
    }

    /// Returns the packets of this tick, in order of arrival.
    #[must_use]
    pub fn packets(&self) -> &[SnapshotAck] {
        &self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bits_restore_the_snapshot_tick_across_every_wrap() {
        for own in [0, 5, 200, 300, 70_000, u32::MAX - 3, u32::MAX] {
            for (apart, late) in [(0, 0), (3, 9), (128, 250), (-96, 200), (-96, 96), (60, -60), (20, 5)] {
                let (own, last_received_snapshot) = (Tick(own), Tick(own).offset(-apart));
                let now = own.offset(late);
                let bits = LastReceivedSnapshot(Some(last_received_snapshot))
                    .to_ack_bits(own)
                    .expect("the tick is near");
                assert_eq!(
                    LastReceivedSnapshot::from_ack_bits(bits, own, now),
                    last_received_snapshot,
                    "{apart} ticks apart, {late} late"
                );
            }
        }
    }

    #[test]
    fn restored_snapshot_tick_is_never_after_the_server_tick() {
        for low in 0..=255 {
            for (own, now) in [(100, 90), (100, 300), (5_000, 10), (10, u32::MAX - 5)] {
                let tick = LastReceivedSnapshot::from_ack_bits(low, Tick(own), Tick(now));
                assert!(!tick.is_newer_than(Tick(now)), "{low}: {tick:?} at {now}");
                assert_eq!(tick.0 as u8, low);
            }
        }
    }

    #[test]
    fn stale_snapshot_tick_is_not_sent_and_another_server_is_accepted() {
        let mut last_received_snapshot = LastReceivedSnapshot::default();
        assert_eq!(last_received_snapshot.to_ack_bits(Tick(7)), None);
        for tick in [1_000, 994, 1_003] {
            last_received_snapshot.record(Tick(tick));
        }
        assert_eq!(last_received_snapshot, LastReceivedSnapshot(Some(Tick(1_003))));
        assert_eq!(last_received_snapshot.to_ack_bits(Tick(1_131)), Some(1_003_u32 as u8));
        assert_eq!(last_received_snapshot.to_ack_bits(Tick(1_132)), None);
        last_received_snapshot.record(Tick(40));
        assert_eq!(last_received_snapshot, LastReceivedSnapshot(Some(Tick(40))));
    }

    #[test]
    fn acknowledged_tick_never_decreases_and_packet_list_is_bounded() {
        let mut last_received_snapshot = SnapshotAcks::default();
        let packet = |tick: u32| SnapshotAck {
            own: Tick(9),
            arrived: Tick(20),
            last_received_snapshot: Some(Tick(tick)),
        };
        for tick in [5, 9, 7] {
            last_received_snapshot.record(packet(tick), 0);
        }
        assert_eq!(last_received_snapshot.tick, Some(Tick(9)));
        assert_eq!(last_received_snapshot.packets().len(), 3);
        (0..1_000).for_each(|_| last_received_snapshot.record(packet(4), 0));
        assert_eq!(last_received_snapshot.packets().len(), SnapshotAcks::MAX_PACKETS);
        last_received_snapshot.record(packet(3), 1);
        assert_eq!((last_received_snapshot.packets().len(), last_received_snapshot.tick), (1, Some(Tick(9))));
        last_received_snapshot.begin_tick();
        assert!(last_received_snapshot.packets().is_empty());
    }
}

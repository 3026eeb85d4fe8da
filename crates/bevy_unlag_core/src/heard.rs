//! What a client has heard of the server: the newest snapshot message that had reached it when it wrote a
//! packet. Nothing newer can have been on its screen.

use bevy::prelude::*;

use crate::Tick;

/// On a client: the tick of the newest snapshot message that has arrived. The network's glue sets it, moves
/// carry its lowest bits to the server. `None` before the first.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeardTick(pub Option<Tick>);

impl HeardTick {
    /// A message that is older than the newest by more ticks than this comes from another server.
    const ANOTHER: i32 = 512;
    /// How far the newest message may lie before and after a move to be told with it, in ticks: together
    /// less than the eight bits can tell apart.
    const BEFORE: i32 = 128;
    const AFTER: i32 = 96;

    /// A snapshot message of this tick has arrived.
    pub fn arrived(&mut self, tick: Tick) {
        let news = self.0.is_none_or(|known| {
            let later = tick.since(known);
            !(-Self::ANOTHER..=0).contains(&later)
        });
        if news {
            self.0 = Some(tick);
        }
    }

    /// What a packet whose newest move is of tick `own` says of it. `None` when nothing was heard for so
    /// long that eight bits would name another tick.
    #[must_use]
    pub fn low_bits(self, own: Tick) -> Option<u8> {
        let near = |tick: &Tick| (-Self::AFTER..=Self::BEFORE).contains(&own.since(*tick));
        self.0.filter(near).map(|tick| tick.0 as u8)
    }

    /// The tick that a packet means by these bits: the newest one with them that is at or before the
    /// server's tick `now`, and not later than the packet's newest move, `own`, by more than any honest
    /// client's.
    #[must_use]
    pub fn of_bits(low: u8, own: Tick, now: Tick) -> Tick {
        let latest = own.offset(Self::AFTER);
        let latest = if latest.is_newer_than(now) { now } else { latest };
        latest.offset(-i32::from((latest.0 as u8).wrapping_sub(low)))
    }
}

/// What one packet says of what its client had heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeardPacket {
    /// The packet's newest move, on the owner's count.
    pub own: Tick,
    /// The server's tick when the packet was here.
    pub arrived: Tick,
    /// The tick of the newest snapshot message that had arrived there; `None` for none.
    pub heard: Option<Tick>,
}

/// On the server's pawn: what its owner says that it has heard. It is the owner's word: who says less than
/// is true only pretends to a longer way down, who says more only to a shorter one.
///
/// To judge a shot, take [`StepEvent::heard`](crate::StepEvent::heard) instead: that is what the shot's own
/// packet said.
#[derive(Component, Clone, PartialEq, Eq, Debug, Default)]
pub struct Heard {
    /// The newest snapshot message that it ever named; it never goes back.
    pub tick: Option<Tick>,
    /// Which of its owner's time lines the moves are on. It changes when that begins anew.
    pub line: u8,
    /// The packets of this tick, in the order in which they came.
    packets: Vec<HeardPacket>,
}

impl Heard {
    /// Packets that are kept for one tick at most.
    const MOST: usize = 64;

    /// A tick begins: its packets are none of the last one's.
    pub fn begin(&mut self) {
        self.packets.clear();
    }

    /// A packet was accepted, on this time line.
    pub fn take(&mut self, packet: HeardPacket, line: u8) {
        if line != self.line {
            self.line = line;
            self.packets.clear();
        }
        if let Some(heard) = packet.heard
            && self.tick.is_none_or(|known| heard.is_newer_than(known))
        {
            self.tick = Some(heard);
        }
        if self.packets.len() < Self::MOST {
            self.packets.push(packet);
        }
    }

    /// The packets of this tick, in the order in which they came.
    #[must_use]
    pub fn packets(&self) -> &[HeardPacket] {
        &self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bits_find_their_tick_across_every_wrap() {
        for own in [0, 5, 200, 300, 70_000, u32::MAX - 3, u32::MAX] {
            for (apart, late) in [(0, 0), (3, 9), (128, 250), (-96, 200), (-96, 96), (60, -60), (20, 5)] {
                let (own, heard) = (Tick(own), Tick(own).offset(-apart));
                let now = own.offset(late);
                let bits = HeardTick(Some(heard)).low_bits(own).expect("it is near");
                assert_eq!(HeardTick::of_bits(bits, own, now), heard, "{apart} ticks apart, {late} late");
            }
        }
    }

    #[test]
    fn no_bits_name_a_tick_that_has_not_been() {
        for low in 0..=255 {
            for (own, now) in [(100, 90), (100, 300), (5_000, 10), (10, u32::MAX - 5)] {
                let tick = HeardTick::of_bits(low, Tick(own), Tick(now));
                assert!(!tick.is_newer_than(Tick(now)), "{low}: {tick:?} at {now}");
                assert_eq!(tick.0 as u8, low);
            }
        }
    }

    #[test]
    fn a_long_silence_is_not_told_and_another_server_is_believed() {
        let mut heard = HeardTick::default();
        assert_eq!(heard.low_bits(Tick(7)), None);
        for tick in [1_000, 994, 1_003] {
            heard.arrived(Tick(tick));
        }
        assert_eq!(heard, HeardTick(Some(Tick(1_003))));
        assert_eq!(heard.low_bits(Tick(1_131)), Some(1_003_u32 as u8));
        assert_eq!(heard.low_bits(Tick(1_132)), None);
        heard.arrived(Tick(40));
        assert_eq!(heard, HeardTick(Some(Tick(40))));
    }

    #[test]
    fn what_was_heard_never_goes_back_and_a_flood_is_bounded() {
        let mut heard = Heard::default();
        let packet = |tick: u32| HeardPacket { own: Tick(9), arrived: Tick(20), heard: Some(Tick(tick)) };
        for tick in [5, 9, 7] {
            heard.take(packet(tick), 0);
        }
        assert_eq!(heard.tick, Some(Tick(9)));
        assert_eq!(heard.packets().len(), 3);
        (0..1_000).for_each(|_| heard.take(packet(4), 0));
        assert_eq!(heard.packets().len(), Heard::MOST);
        heard.take(packet(3), 1);
        assert_eq!((heard.packets().len(), heard.tick), (1, Some(Tick(9))));
        heard.begin();
        assert!(heard.packets().is_empty());
    }
}

//! How long a client's frames are, as its packets show.

use bevy_unlag_core::{HeardPacket, Tick};

/// Frames that are remembered.
const REMEMBERED: usize = 16;
/// With fewer little is known.
const FEW: usize = 4;

/// The moves of a frame are made and sent together, so they arrive together: that is how many ticks the
/// frame took.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// The newest ones.
    closed: [Option<Frame>; REMEMBERED],
    next: usize,
    open: Option<Frame>,
}

/// The moves that came together.
#[derive(Clone, Copy, Debug)]
struct Frame {
    arrived: Tick,
    first: Tick,
    last: Tick,
    packets: i32,
}

impl Frame {
    /// In ticks. A crowded server has its clients send every other move only, with the one before; who sends
    /// fewer was silent, and that is no frame.
    fn length(&self) -> u8 {
        let ticks = self.last.since(self.first).saturating_add(1);
        ticks.clamp(1, self.packets.saturating_mul(2).saturating_sub(1)).min(i32::from(u8::MAX)) as u8
    }
}

impl Frames {
    /// A packet came; `hurried` as in [`ViewLedger::listen`](super::ViewLedger::listen).
    pub fn take(&mut self, packet: &HeardPacket, hurried: bool) {
        if let Some(open) = &mut self.open {
            if !packet.own.is_newer_than(open.last) {
                return;
            }
            if packet.arrived == open.arrived {
                open.last = packet.own;
                open.packets = open.packets.saturating_add(1);
                return;
            }
            self.closed[self.next] = Some(*open);
            self.next = (self.next + 1) % REMEMBERED;
        }
        let frame = Frame { arrived: packet.arrived, first: packet.own, last: packet.own, packets: 1 };
        self.open = Some(frame).filter(|_| !hurried);
    }

    /// The longest that is usual, in ticks; 0 while little is known. With `n` ticks in it a frame may have
    /// taken almost `n + 1`, and half of them are longer: by a quarter, for nobody's are all of one length. What
    /// happens less often than every other time is not usual.
    pub fn longest_usual(&self) -> u8 {
        let mut lengths = self.closed.map(|frame| frame.map_or(0, |frame| frame.length()));
        lengths.sort_unstable();
        let known = &lengths[lengths.partition_point(|length| *length == 0)..];
        if known.len() < FEW {
            return 0;
        }
        let ticks = known[known.len() / 2];
        if ticks > 1 { ticks.saturating_add(1 + ticks / 4) } else { ticks }
    }

    /// How many ticks the frame had in which a move was made, usual or not; 0 when that is not known.
    pub fn of(&self, own: Tick) -> u8 {
        let made = |frame: &&Frame| own.since(frame.first) >= 0 && frame.last.since(own) >= 0;
        let frames = self.open.iter().chain(self.closed.iter().flatten());
        frames.filter(made).map(Frame::length).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of so many moves, each sent, or one of `every` of them.
    fn throttled(lengths: impl IntoIterator<Item = i32>, every: i32, hurried: impl Fn(u32) -> bool) -> u8 {
        let (mut frames, mut own) = (Frames::default(), Tick(u32::MAX - 40));
        for (frame, length) in (0..).zip(lengths) {
            let arrived = own.offset(length + 5);
            for _ in 0..length {
                own = own.offset(1);
                if own.0.cast_signed().rem_euclid(every) == 0 {
                    frames.take(&HeardPacket { own, arrived, heard: None }, hurried(frame));
                }
            }
        }
        frames.longest_usual()
    }

    fn frames(lengths: impl IntoIterator<Item = i32>) -> u8 {
        throttled(lengths, 1, |_| false)
    }

    #[test]
    fn what_comes_together_was_a_frame() {
        assert_eq!(frames([]), 0);
        assert_eq!(frames([1; 30]), 1);
        assert_eq!(frames([12; 30]), 16);
        assert_eq!(frames([6, 7].repeat(15)), 9);
        assert_eq!(frames([12; 30].into_iter().chain([1; 17])), 1);
        assert!(throttled([12; 30], 2, |_| false) >= 12, "sent every other time");
    }

    #[test]
    fn a_frame_that_hangs_is_not_usual() {
        assert_eq!(frames([1, 1, 20].repeat(12)), 1);
    }

    #[test]
    fn a_frame_that_hangs_is_known_by_its_moves() {
        let (mut frames, mut own) = (Frames::default(), Tick(u32::MAX - 3));
        assert_eq!(frames.of(own), 0);
        for length in [1, 9, 1, 1, 2] {
            let arrived = own.offset(20);
            for _ in 0..length {
                own = own.offset(1);
                frames.take(&HeardPacket { own, arrived, heard: None }, false);
            }
        }
        let before = |ticks: i32| frames.of(own.offset(-ticks));
        assert_eq!([before(-1), before(0), before(1), before(2), before(3)], [0, 2, 2, 1, 1]);
        assert_eq!([before(4), before(12), before(13), before(14)], [9, 9, 1, 0]);
    }

    #[test]
    fn who_is_silent_has_no_long_frames() {
        let (mut frames, mut own) = (Frames::default(), Tick(u32::MAX - 40));
        for _ in 0..40 {
            let arrived = own.offset(20);
            for later in [1, 14] {
                own = own.offset(later);
                frames.take(&HeardPacket { own, arrived, heard: None }, false);
            }
        }
        assert!(frames.longest_usual() <= 4, "{}", frames.longest_usual());
    }

    #[test]
    fn a_server_that_hurries_learns_nothing() {
        assert_eq!(throttled([5; 60], 1, |_| true), 0);
        assert_eq!(throttled([1, 1, 1, 8].repeat(20), 1, |frame| frame % 4 == 3), 1);
        assert_eq!(throttled([2; 60], 1, |frame| frame % 2 == 0), 3, "what lies between is measured");
    }

    #[test]
    fn nonsense_is_no_frame() {
        let mut frames = Frames::default();
        for k in 0..1_000_u32 {
            let tick = Tick(k.wrapping_mul(0x9e37_79b1));
            frames.take(&HeardPacket { own: tick, arrived: Tick(k / 3), heard: None }, k % 7 == 0);
        }
        // Whatever it says, the ledger caps it.
        let _ = frames.longest_usual();
    }
}

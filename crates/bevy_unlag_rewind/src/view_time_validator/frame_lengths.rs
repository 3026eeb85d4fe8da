//! Estimate of a client's frame length from its packets.

use bevy_unlag_core::{SnapshotAck, Tick};

/// Number of stored frames.
const CAPACITY: usize = 16;
/// Minimum number of frames for an estimate.
const FEW: usize = 4;

/// Recent frames of a client. The moves of a frame are produced and sent together, so they arrive
/// together, and their number gives the frame's length in ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLengths {
    /// Ring buffer of complete frames.
    closed: [Option<Frame>; CAPACITY],
    next: usize,
    open: Option<Frame>,
}

/// Moves that arrived together.
#[derive(Clone, Copy, Debug)]
struct Frame {
    arrived: Tick,
    first: Tick,
    last: Tick,
    packets: i32,
}

impl Frame {
    /// Returns the length in ticks. A crowded server lets its clients send only every other move, each
    /// packet with the previous move. Fewer packets than that indicate a pause in sending, not a long
    /// frame.
    fn length(&self) -> u8 {
        let ticks = self.last.since(self.first).saturating_add(1);
        ticks.clamp(1, self.packets.saturating_mul(2).saturating_sub(1)).min(i32::from(u8::MAX)) as u8
    }
}

impl FrameLengths {
    /// Processes a packet; `hurried` as in
    /// [`ViewTimeValidator::receive_acknowledgements`](super::ViewTimeValidator::receive_acknowledgements).
    pub fn take(&mut self, packet: &SnapshotAck, hurried: bool) {
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
            self.next = (self.next + 1) % CAPACITY;
        }
        let frame = Frame { arrived: packet.arrived, first: packet.own, last: packet.own, packets: 1 };
        self.open = Some(frame).filter(|_| !hurried);
    }

    /// Returns the longest usual frame length in ticks; 0 while too little is known. A frame with `n`
    /// ticks may have taken almost `n + 1`, and half of all frames are longer than the median: a quarter
    /// is added, since frame times vary. Lengths that occur less often than every other time are not
    /// usual.
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

    /// Returns the length in ticks of the frame that produced the move of tick `own`; 0 if unknown.
    pub fn of(&self, own: Tick) -> u8 {
        let made = |frame: &&Frame| own.since(frame.first) >= 0 && frame.last.since(own) >= 0;
        let frames = self.open.iter().chain(self.closed.iter().flatten());
        frames.filter(made).map(Frame::length).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates frames with the given numbers of moves, of which every `every`-th is sent.
    fn throttled(lengths: impl IntoIterator<Item = i32>, every: i32, hurried: impl Fn(u32) -> bool) -> u8 {
        let (mut frames, mut own) = (FrameLengths::default(), Tick(u32::MAX - 40));
        for (frame, length) in (0..).zip(lengths) {
            let arrived = own.offset(length + 5);
            for _ in 0..length {
                own = own.offset(1);
                if own.0.cast_signed().rem_euclid(every) == 0 {
                    frames.take(&SnapshotAck { own, arrived, last_received_snapshot: None }, hurried(frame));
                }
            }
        }
        frames.longest_usual()
    }

    fn frames(lengths: impl IntoIterator<Item = i32>) -> u8 {
        throttled(lengths, 1, |_| false)
    }

    #[test]
    fn moves_that_arrive_together_are_measured_as_one_frame() {
        assert_eq!(frames([]), 0);
        assert_eq!(frames([1; 30]), 1);
        assert_eq!(frames([12; 30]), 16);
        // The last frame is not complete.
        assert_eq!((frames([12; FEW]), frames([12; FEW + 1])), (0, 16));
        assert_eq!(frames([6, 7].repeat(15)), 9);
        assert_eq!(frames([12; 30].into_iter().chain([1; 17])), 1);
        assert!(throttled([12; 30], 2, |_| false) >= 12, "every other move sent");
    }

    #[test]
    fn single_long_frames_do_not_raise_the_usual_length() {
        assert_eq!(frames([1, 1, 20].repeat(12)), 1);
    }

    #[test]
    fn length_of_a_long_frame_is_found_by_its_moves() {
        let (mut frames, mut own) = (FrameLengths::default(), Tick(u32::MAX - 3));
        assert_eq!(frames.of(own), 0);
        for length in [1, 9, 1, 1, 2] {
            let arrived = own.offset(20);
            for _ in 0..length {
                own = own.offset(1);
                frames.take(&SnapshotAck { own, arrived, last_received_snapshot: None }, false);
            }
        }
        let before = |ticks: i32| frames.of(own.offset(-ticks));
        assert_eq!([before(-1), before(0), before(1), before(2), before(3)], [0, 2, 2, 1, 1]);
        assert_eq!([before(4), before(12), before(13), before(14)], [9, 9, 1, 0]);
    }

    #[test]
    fn pauses_in_sending_are_not_long_frames() {
        let (mut frames, mut own) = (FrameLengths::default(), Tick(u32::MAX - 40));
        for _ in 0..40 {
            let arrived = own.offset(20);
            for later in [1, 14] {
                own = own.offset(later);
                frames.take(&SnapshotAck { own, arrived, last_received_snapshot: None }, false);
            }
        }
        assert!(frames.longest_usual() <= 4, "{}", frames.longest_usual());
    }

    #[test]
    fn packets_of_a_catching_up_server_are_not_measured() {
        assert_eq!(throttled([5; 60], 1, |_| true), 0);
        assert_eq!(throttled([1, 1, 1, 8].repeat(20), 1, |frame| frame % 4 == 3), 1);
        assert_eq!(throttled([2; 60], 1, |frame| frame % 2 == 0), 3, "frames in between are measured");
    }

    #[test]
    fn arbitrary_ticks_do_not_panic_in_frame_estimate() {
        let mut frames = FrameLengths::default();
        for k in 0..1_000_u32 {
            let tick = Tick(k.wrapping_mul(0x9e37_79b1));
            frames.take(
                &SnapshotAck { own: tick, arrived: Tick(k / 3), last_received_snapshot: None },
                k % 7 == 0,
            );
        }
        // No assertion on the value: the validator caps it. This must not panic.
        let _ = frames.longest_usual();
    }
}

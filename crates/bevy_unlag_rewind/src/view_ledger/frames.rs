//! How long a client's frames are, as its packets show.

use bevy_unlag_core::{HeardPacket, Tick};

/// Frames that are remembered.
const REMEMBERED: usize = 16;
/// So many of them have to be as long for that to be usual: one that hangs now and then does not count.
const USUAL: usize = 4;

/// The moves of a frame are made and sent together, so they arrive together: that is how many ticks the
/// frame took.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// The newest ones, in ticks.
    lengths: [u8; REMEMBERED],
    next: usize,
    open: Option<Frame>,
}

/// The moves that came together.
#[derive(Clone, Copy, Debug)]
struct Frame {
    arrived: Tick,
    first: Tick,
    last: Tick,
}

impl Frames {
    pub fn take(&mut self, packet: &HeardPacket) {
        if let Some(open) = &mut self.open {
            if !packet.own.is_newer_than(open.last) {
                return;
            }
            if packet.arrived == open.arrived {
                open.last = packet.own;
                return;
            }
            let length = open.last.since(open.first).saturating_add(1);
            self.lengths[self.next] = length.clamp(1, i32::from(u8::MAX)) as u8;
            self.next = (self.next + 1) % REMEMBERED;
        }
        self.open = Some(Frame { arrived: packet.arrived, first: packet.own, last: packet.own });
    }

    /// The longest that is usual, in ticks; 0 while little is known. With `n` ticks in it a frame may have
    /// taken almost `n + 1`.
    pub fn longest_usual(&self) -> u8 {
        let mut lengths = self.lengths;
        let ticks = *lengths.select_nth_unstable(REMEMBERED - USUAL).1;
        if ticks > 1 { ticks.saturating_add(1) } else { ticks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(lengths: impl IntoIterator<Item = i32>) -> u8 {
        let (mut frames, mut own) = (Frames::default(), Tick(u32::MAX - 40));
        for length in lengths {
            let arrived = own.offset(length + 5);
            for _ in 0..length {
                own = own.offset(1);
                frames.take(&HeardPacket { own, arrived, heard: None });
            }
        }
        frames.longest_usual()
    }

    #[test]
    fn what_comes_together_was_a_frame() {
        assert_eq!(frames([]), 0);
        assert_eq!(frames([1; 30]), 1);
        assert_eq!(frames([12; 30]), 13);
        assert_eq!(frames([6, 7].repeat(15)), 8);
        assert_eq!(frames([12; 30].into_iter().chain([1; 17])), 1);
    }

    #[test]
    fn a_frame_that_hangs_is_not_usual() {
        assert_eq!(frames([1, 1, 1, 1, 1, 1, 1, 20].repeat(5)), 1);
    }

    #[test]
    fn nonsense_is_no_frame() {
        let mut frames = Frames::default();
        for k in 0..1_000_u32 {
            let tick = Tick(k.wrapping_mul(0x9e37_79b1));
            frames.take(&HeardPacket { own: tick, arrived: Tick(k / 3), heard: None });
        }
        // Whatever it says, the ledger caps it.
        let _ = frames.longest_usual();
    }
}

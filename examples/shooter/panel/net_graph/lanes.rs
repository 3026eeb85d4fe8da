//! Lanes of the net graph: what each shows, and in which colour.

use super::sampling::NetSample;

/// Colour of a value that is no problem, of one that is noticeable, and of one that is bad.
const COLOURS: [[u8; 4]; 3] = [[90, 200, 120, 255], [240, 190, 60, 255], [240, 80, 60, 255]];
/// Colour of the background, and of its line at the bottom.
const BACKGROUND: [u8; 4] = [255, 255, 255, 10];
const LINE: [u8; 4] = [255, 255, 255, 60];

/// A lane of the graph.
pub(super) struct Lane {
    pub(super) name: &'static str,
    /// Value at the top of the lane.
    full: f32,
    /// Values from which on it is noticeable, and bad.
    limits: [f32; 2],
    value: fn(&NetSample) -> f32,
    /// Part of the value that is always drawn as bad.
    bad: fn(&NetSample) -> f32,
    pub(super) text: fn(&NetSample) -> String,
}

/// All lanes, from the top.
pub(super) const LANES: [Lane; 7] = [
    Lane {
        name: "frame",
        full: 50.0,
        limits: [18.0, 34.0],
        value: |sample| sample.frame_ms,
        bad: |_| 0.0,
        text: |sample| format!("{:.0} ms", sample.frame_ms),
    },
    Lane {
        name: "up",
        full: 300.0,
        limits: [60.0, 120.0],
        value: |sample| sample.up_ms,
        bad: |_| 0.0,
        text: |sample| format!("{:.0} ms", sample.up_ms),
    },
    Lane {
        name: "down",
        full: 300.0,
        limits: [60.0, 120.0],
        value: |sample| sample.down_ms,
        bad: |_| 0.0,
        text: |sample| format!("{:.0} ms", sample.down_ms),
    },
    Lane {
        name: "loss",
        full: 40.0,
        limits: [0.0, 100.0],
        value: |sample| sample.lost_packets,
        bad: |sample| sample.lost_moves,
        text: |sample| format!("{:.0} %, {:.0} %", sample.mean_lost_packets, sample.lost_moves),
    },
    Lane {
        name: "playout",
        full: 300.0,
        limits: [120.0, 200.0],
        value: |sample| sample.playout_ms,
        bad: |_| 0.0,
        text: |sample| format!("{:.0} ms", sample.playout_ms),
    },
    Lane {
        name: "corrected",
        full: 50.0,
        limits: [2.0, 20.0],
        value: |sample| sample.corrections_cm,
        bad: |_| 0.0,
        text: |sample| format!("{} total", sample.corrections),
    },
    Lane {
        name: "bytes",
        full: 16_000.0,
        limits: [8_000.0, 14_000.0],
        value: |sample| sample.bytes_up + sample.bytes_down,
        bad: |_| 0.0,
        text: |sample| format!("{:.1}+{:.1} kB", sample.mean_bytes_up / 1e3, sample.mean_bytes_down / 1e3),
    },
];

impl Lane {
    /// Returns the colour of the pixel at this height of `top`, in the column of a sample.
    pub(super) fn pixel(&self, height: usize, top: usize, sample: &NetSample) -> [u8; 4] {
        let pixels = |value: f32| (value / self.full * top as f32).ceil().clamp(0.0, top as f32) as usize;
        let value = (self.value)(sample);
        if height == 0 {
            LINE
        } else if height <= pixels((self.bad)(sample)) {
            COLOURS[2]
        } else if height <= pixels(value) {
            COLOURS[self.limits.iter().filter(|limit| value > **limit).count()]
        } else {
            BACKGROUND
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_grows_and_changes_its_colour_with_the_value() {
        let frame = &LANES[0];
        let bar = |frame_ms: f32| {
            let sample = NetSample { frame_ms, ..NetSample::default() };
            let pixels = (0..16).map(|height| frame.pixel(height, 15, &sample));
            let drawn: Vec<_> = pixels.filter(|pixel| COLOURS.contains(pixel)).collect();
            (drawn.len(), drawn.first().copied())
        };
        assert_eq!(bar(0.0), (0, None));
        assert_eq!(bar(16.0), (5, Some(COLOURS[0])));
        assert_eq!(bar(25.0).1, Some(COLOURS[1]));
        assert_eq!(bar(900.0), (15, Some(COLOURS[2])));
        assert_eq!(bar(f32::NAN).0, 0);
    }
}

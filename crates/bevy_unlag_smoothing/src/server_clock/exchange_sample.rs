//! Samples of exchanges with the server, and those of a few seconds together.

/// Sample of one exchange: the apparent latency of each direction, without knowledge of the server's clock.
/// Both contain the offset, with opposite signs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ExchangeSample {
    /// Arrival of the reply, in seconds of this machine.
    pub at: f64,
    /// Server's time of arrival − this machine's time of sending.
    pub up: f64,
    /// This machine's time of arrival − server's time of sending.
    pub down: f64,
    /// Mean times in seconds for which the request and the reply waited for the frame that found them.
    pub waits: (f64, f64),
}

impl ExchangeSample {
    /// Returns the distance of an offset from the range that this exchange allows. Nothing arrives before it
    /// was sent, so the offset is at most `up` and at least −`down`, however bad the link is.
    pub(super) fn distance_outside(&self, offset: f64) -> f64 {
        (offset - self.up).max(-self.down - offset).max(0.0)
    }
}

/// Mean and sum of squared deviations of values that come one by one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Moments {
    pub mean: f64,
    pub squares: f64,
}

impl Moments {
    /// Adds a value; `count` includes it.
    pub(super) fn add(&mut self, count: f64, value: f64) {
        let deviation = value - self.mean;
        self.mean += deviation / count;
        self.squares += deviation * (value - self.mean);
    }
}

/// Samples of a few seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct OffsetWindow {
    pub began: f64,
    /// Fastest uplink and fastest downlink sample, usually from two different exchanges, with their times.
    pub up: (f64, f64),
    pub down: (f64, f64),
    /// Number of samples and their mean time.
    pub count: f64,
    pub at: f64,
    /// Moments of all uplink and downlink samples, less the waits for frames.
    pub ups: Moments,
    pub downs: Moments,
}

impl OffsetWindow {
    pub(super) fn new(legs: &ExchangeSample) -> Self {
        let mut window = Self {
            began: legs.at,
            up: (legs.at, legs.up),
            down: (legs.at, legs.down),
            count: 0.0,
            at: 0.0,
            ups: Moments::default(),
            downs: Moments::default(),
        };
        window.add_sample(legs);
        window
    }

    pub(super) fn add_sample(&mut self, legs: &ExchangeSample) {
        self.count += 1.0;
        self.at += (legs.at - self.at) / self.count;
        self.ups.add(self.count, legs.up - legs.waits.0);
        self.downs.add(self.count, legs.down - legs.waits.1);
        if legs.up < self.up.1 {
            self.up = (legs.at, legs.up);
        }
        if legs.down < self.down.1 {
            self.down = (legs.at, legs.down);
        }
    }

    /// Returns the fastest round trip, in seconds.
    pub(super) fn round_trip(&self) -> f64 {
        self.up.1 + self.down.1
    }
}

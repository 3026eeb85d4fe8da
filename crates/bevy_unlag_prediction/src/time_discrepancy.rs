//! Detection and resolution of speed hacks: the time that a client claims against the time that has passed.

use bevy::prelude::*;

/// Detection and resolution of clocks that run too fast. Names and meanings are Unreal's.
#[doc(alias = "speed hack")]
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct TimeDiscrepancyConfig {
    /// Whether clocks that run too fast are reported. Default true; Unreal's
    /// `bMovementTimeDiscrepancyDetection` is false.
    #[doc(alias = "bMovementTimeDiscrepancyDetection")]
    pub detection: bool,
    /// Whether moves beyond the time that has passed are not run, and time gained has to be paid back.
    /// Default true; Unreal's `bMovementTimeDiscrepancyResolution` is false.
    #[doc(alias = "bMovementTimeDiscrepancyResolution")]
    pub resolution: bool,
    /// Maximum time in seconds by which a client may be ahead. Default 0.25. A larger value tolerates links
    /// that suddenly become faster, and lets a fast clock gain this much. Unreal's
    /// `MovementTimeDiscrepancyMaxTimeMargin`.
    #[doc(alias = "MovementTimeDiscrepancyMaxTimeMargin")]
    pub max_time_margin: f32,
    /// Unused time that a client may catch up on, in seconds and negative. Default -0.25. A lower value
    /// lets a client that held back its moves cover more ground at once. Unreal's
    /// `MovementTimeDiscrepancyMinTimeMargin`.
    #[doc(alias = "MovementTimeDiscrepancyMinTimeMargin")]
    pub min_time_margin: f32,
    /// Share of its moves that a client loses while it pays back time. Default 1: it stands still. A
    /// smaller value makes paying back longer and smoother. Unreal's
    /// `MovementTimeDiscrepancyResolutionRate`.
    #[doc(alias = "MovementTimeDiscrepancyResolutionRate")]
    pub resolution_rate: f32,
    /// Tolerated deviation of a clock above the server's speed. Default 0.01, which is 1 %; Unreal's
    /// `MovementTimeDiscrepancyDriftAllowance` is 0.
    #[doc(alias = "MovementTimeDiscrepancyDriftAllowance")]
    pub drift_allowance: f32,
    /// Whether a client that pays back time is corrected in every acknowledgement, even if its results
    /// agree. Default false. Needed with a large tolerance. Unreal's
    /// `bMovementTimeDiscrepancyForceCorrectionsDuringResolution`.
    #[doc(alias = "bMovementTimeDiscrepancyForceCorrectionsDuringResolution")]
    pub force_corrections: bool,
}

impl TimeDiscrepancyConfig {
    /// Unreal's defaults: detection is off.
    pub const UNREAL: Self = Self {
        detection: false,
        resolution: false,
        max_time_margin: 0.25,
        min_time_margin: -0.25,
        resolution_rate: 1.0,
        drift_allowance: 0.0,
        force_corrections: false,
    };
}

impl Default for TimeDiscrepancyConfig {
    fn default() -> Self {
        Self { detection: true, resolution: true, drift_allowance: 0.01, ..Self::UNREAL }
    }
}

/// Time that a client has claimed beyond the time that has passed, for a pawn on the server.
///
/// There are two balances. The *moves* balance bounds what the client can gain and never falls below
/// [`min_time_margin`](TimeDiscrepancyConfig::min_time_margin). The *clock* balance has no such floor, so
/// that a burst of loss or a period of latency, after which all the time lost comes back, does not count as
/// cheating.
#[doc(alias = "ProcessClientTimeStampForTimeDiscrepancy")]
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct TimeDiscrepancy {
    /// Seconds of moves run beyond the time that has passed.
    pub granted: f64,
    /// Seconds by which the client's clock is ahead of its start, less the drift allowance.
    pub claimed: f64,
    /// Seconds by which the client's clock has run ahead or behind since its start, without any allowance
    /// and never reset. Silences before a new epoch are excluded.
    pub lifetime: f64,
    /// Number of detections; it saturates at 65,535.
    pub detected: u16,
    /// Whether the client is paying back time.
    pub resolving: bool,
    /// Seconds since the first move.
    pub known_for: f64,
    pay_back: f32,
    /// Seconds of the current drift window, and the seconds that the client has claimed in it.
    drift_window: f64,
    window_claimed: f64,
    /// Seconds of the server's last stall that may still be caught up.
    stalled: f64,
    /// Whether the speed of the game has changed recently.
    speed_changed: bool,
}

impl TimeDiscrepancy {
    /// Seconds after the first move in which the fastest arrival is still being determined, and after a
    /// change of the game's speed in which all clients learn of it.
    const SETTLING: f64 = 2.0;
    /// Length in seconds of the windows in which the drift allowance is applied. It applies only if the
    /// clock has run no faster than twice the allowance in the window: a clock at double speed does not
    /// merely drift.
    const DRIFT_WINDOW: f64 = 8.0;
    /// Maximum time in seconds of a server stall that clients may catch up on, as much as they can have
    /// saved of it.
    const MAX_STALL: f64 = 4.0;

    /// Returns the speed of the client's clock relative to the server's: in the current window of up to 8 s, or, while
    /// that is younger than a second, on average since the first move.
    #[must_use]
    pub fn speed(&self) -> f64 {
        if self.drift_window >= 1.0 {
            self.window_claimed / self.drift_window
        } else if self.known_for > 0.0 {
            1.0 + self.lifetime / self.known_for
        } else {
            1.0
        }
    }

    /// Advances the server's time, of which it stalled for `stalled` seconds. Clients could not use that
    /// time yet, so they may catch up on it for as long again.
    pub(crate) fn advance(&mut self, seconds: f64, stalled: f64, config: &TimeDiscrepancyConfig) {
        self.known_for += seconds;
        self.lifetime -= seconds;
        self.stalled = (self.stalled - (seconds - stalled).max(0.0)).max(0.0) + stalled;
        self.stalled = self.stalled.min(Self::MAX_STALL);
        self.granted = (self.granted - seconds).max(f64::from(config.min_time_margin) - self.stalled);
        self.claimed -= seconds;
        self.drift_window += seconds;
        if self.drift_window >= Self::DRIFT_WINDOW {
            let drift = f64::from(config.drift_allowance.max(0.0));
            if self.window_claimed <= self.drift_window * (1.0 + 2.0 * drift) {
                let allowed = drift * self.drift_window;
                self.granted -= self.granted.clamp(0.0, allowed);
                // Time lost to latency and outages comes back by itself.
                self.claimed -= self.claimed.clamp(0.0, allowed);
            }
            (self.drift_window, self.window_claimed) = (0.0, 0.0);
        }
        if self.resolving && self.granted <= 0.0 {
            // All time is paid back.
            self.resolving = false;
            self.pay_back = 0.0;
            self.claimed = 0.0;
        }
    }

    /// Takes note of the seconds of real time since the last change of the game's speed. A client that learns
    /// of slow motion later than the server slows down claims more time meanwhile.
    pub(crate) fn note_speed_change(&mut self, seconds_ago: f64) {
        self.speed_changed = seconds_ago < Self::SETTLING;
    }

    /// Starts a new epoch of the client. Time by which its clock was behind in the old one, such as a
    /// silence, is no credit in the new one.
    pub(crate) fn start_epoch(&mut self) {
        let behind = self.claimed.min(0.0);
        self.claimed -= behind;
        self.lifetime -= behind;
    }

    /// Adds time that the client's clock claims. Returns whether that detects a clock that is too fast.
    pub(crate) fn claim(&mut self, seconds: f64, config: &TimeDiscrepancyConfig) -> bool {
        self.claimed += seconds;
        self.window_claimed += seconds;
        self.lifetime += seconds;
        if self.known_for < Self::SETTLING || self.speed_changed {
            self.claimed = self.claimed.min(0.0);
        }
        if !config.detection || self.resolving || self.claimed <= f64::from(config.max_time_margin) {
            return false;
        }
        self.detected = self.detected.saturating_add(1);
        self.resolving = config.resolution;
        self.claimed -= f64::from(config.max_time_margin);
        true
    }

    /// Returns whether a move of `seconds` may run.
    pub(crate) fn allows(&mut self, seconds: f64, config: &TimeDiscrepancyConfig) -> bool {
        if !config.resolution {
            return true;
        }
        if self.resolving {
            self.pay_back += config.resolution_rate.clamp(0.0, 1.0);
            if self.pay_back >= 1.0 {
                self.pay_back -= 1.0;
                return false;
            }
        }
        self.granted + seconds < f64::from(config.max_time_margin)
    }

    /// Books a move of `seconds` that was run.
    pub(crate) fn grant(&mut self, seconds: f64) {
        self.granted += seconds;
    }
}

/// Detection of a client's clock that runs too fast; see [`TimeDiscrepancyConfig::detection`].
#[doc(alias = "OnTimeDiscrepancyDetected")]
#[derive(Message, Clone, Copy, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct TimeDiscrepancyDetected {
    /// The pawn on the server.
    pub entity: Entity,
    /// Its balances at the detection.
    pub discrepancy: TimeDiscrepancy,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 1.0 / 64.0;

    /// Simulates a client whose clock runs at `speed` for `seconds`. Returns its balances, the time of the
    /// first detection and the largest gain in seconds.
    fn run(speed: f64, seconds: f64, config: &TimeDiscrepancyConfig) -> (TimeDiscrepancy, Option<f64>, f64) {
        let mut account = TimeDiscrepancy::default();
        let (mut due, mut most, mut gained, mut first) = (0.0, 0.0_f64, 0.0, None);
        for tick in 0..(seconds / DT) as usize {
            account.advance(DT, 0.0, config);
            gained -= DT;
            due += speed;
            while due >= 1.0 {
                due -= 1.0;
                if account.claim(DT, config) {
                    first = first.or(Some(tick as f64 * DT));
                }
                if account.allows(DT, config) {
                    account.grant(DT);
                    gained += DT;
                }
                most = most.max(gained);
            }
        }
        (account, first, most)
    }

    #[test]
    fn clock_4_percent_fast_is_detected_within_a_minute() {
        let (_, first, _) = run(1.04, 60.0, &TimeDiscrepancyConfig::default());
        assert!(first.is_some_and(|at| at < 60.0), "{first:?}");
    }

    #[test]
    fn clock_at_double_speed_gains_less_than_a_quarter_of_a_second() {
        let (account, first, most) = run(2.0, 600.0, &TimeDiscrepancyConfig::default());
        assert!(most < 0.25, "gained {most} s");
        assert!(first.is_some() && account.detected > 1, "{account:?}");
        assert!((account.lifetime - 600.0).abs() < 1.0, "the lifetime figure is not bounded: {account:?}");
        assert!((account.speed() - 2.0).abs() < 0.02, "{account:?}");
        let (mut account, ..) = run(1.0, 600.0, &TimeDiscrepancyConfig::default());
        for _ in 0..256 {
            account.advance(DT, 0.0, &TimeDiscrepancyConfig::default());
            account.claim(1.5 * DT, &TimeDiscrepancyConfig::default());
        }
        assert!((1.2..1.6).contains(&account.speed()), "recently, not on average: {account:?}");
    }

    #[test]
    fn drift_within_the_allowance_is_not_detected() {
        let (account, first, _) = run(1.009, 3_600.0, &TimeDiscrepancyConfig::default());
        assert_eq!(first, None, "{account:?}");
        let (account, first, _) = run(1.015, 120.0, &TimeDiscrepancyConfig::default());
        assert!(first.is_some_and(|at| at < 60.0), "{first:?}: {account:?}");
    }

    #[test]
    fn clock_within_200_ppm_is_never_detected() {
        for ppm in [-200.0, 0.0, 200.0] {
            let (account, first, _) = run(1.0 + ppm * 1e-6, 36_000.0, &TimeDiscrepancyConfig::default());
            assert_eq!((first, account.detected), (None, 0), "{ppm} ppm: {account:?}");
        }
    }

    #[test]
    fn detection_without_resolution_takes_nothing_away() {
        let config = TimeDiscrepancyConfig { resolution: false, ..TimeDiscrepancyConfig::default() };
        let (account, _, most) = run(2.0, 10.0, &config);
        assert!(account.detected > 10 && most > 9.0, "{account:?}, gained {most}");
        let (account, first, most) = run(2.0, 10.0, &TimeDiscrepancyConfig::UNREAL);
        assert!(first.is_none() && account.detected == 0 && most > 9.0, "Unreal's defaults do not detect it");
    }

    #[test]
    fn unused_time_is_credited_up_to_min_time_margin() {
        let config = TimeDiscrepancyConfig::default();
        let mut account = TimeDiscrepancy::default();
        account.advance(10.0, 0.0, &config);
        let mut run = 0;
        while account.allows(DT, &config) {
            account.grant(DT);
            run += 1;
        }
        assert_eq!(run, 31, "a quarter of a second of credit and just less than one of margin");
    }

    #[test]
    fn silence_before_a_new_epoch_is_no_credit() {
        let config = TimeDiscrepancyConfig::default();
        let mut account = TimeDiscrepancy::default();
        account.advance(10.0, 0.0, &config);
        assert_eq!((account.claimed, account.lifetime), (-10.0, -10.0));
        account.start_epoch();
        assert_eq!((account.claimed, account.lifetime), (0.0, 0.0));
        assert!(account.claim(f64::from(config.max_time_margin) + DT, &config), "detected at once");
    }

    #[test]
    fn clients_catch_up_on_a_server_stall() {
        let config = TimeDiscrepancyConfig::default();
        let mut account = TimeDiscrepancy::default();
        account.advance(2.5, 2.25, &config);
        let run = core::iter::repeat_with(|| account.allows(DT, &config).then(|| account.grant(DT)))
            .take_while(Option::is_some)
            .count();
        assert!((160..=176).contains(&run), "{run} moves in 2.5 s");
    }
}

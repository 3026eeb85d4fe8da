//! A clock nobody can cheat: how much more time a client claims than has passed.

use bevy::prelude::*;

/// What happens to clients whose clocks run too fast. Names and meanings are Unreal's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeDiscrepancyConfig {
    /// Whether clocks that run too fast are reported. Default true; Unreal's
    /// `bMovementTimeDiscrepancyDetection` is false.
    pub detection: bool,
    /// Whether moves beyond the time that has passed are not run, and what was gained has to be
    /// paid back. Default true; Unreal's `bMovementTimeDiscrepancyResolution` is false.
    pub resolution: bool,
    /// How far ahead a client may be, in seconds. Default 0.25. Raising it forgives links that get
    /// faster at once, and lets a fast clock gain this much. Unreal's `MovementTimeDiscrepancyMaxTimeMargin`.
    pub max_time_margin: f32,
    /// How much time that a client did not use it may catch up on, in seconds and negative. Default
    /// -0.25. Lowering it lets a client that held its moves back cover more ground at once.
    /// Unreal's `MovementTimeDiscrepancyMinTimeMargin`.
    pub min_time_margin: f32,
    /// The share of its moves that a client loses while it pays back. Default 1: it stands still.
    /// Lowering it makes paying back longer and gentler. Unreal's
    /// `MovementTimeDiscrepancyResolutionRate`.
    pub resolution_rate: f32,
    /// How much faster than the server's an honest clock may be. Default 0.01, 1 %; Unreal's
    /// `MovementTimeDiscrepancyDriftAllowance` is 0.
    pub drift_allowance: f32,
    /// Whether a client that pays back is corrected in every answer, also when its results agree.
    /// Default false. Needed with a loose tolerance. Unreal's
    /// `bMovementTimeDiscrepancyForceCorrectionsDuringResolution`.
    pub force_corrections: bool,
}

impl TimeDiscrepancyConfig {
    /// Unreal's defaults: nothing is detected.
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

/// How much more time a client claims than has passed, on the server's side of a pawn.
///
/// Two accounts: what its *moves* were granted, which bounds what it can gain and never goes below
/// [`min_time_margin`](TimeDiscrepancyConfig::min_time_margin); and what its *clock* says, which
/// has no such floor, so that a burst of loss or a spell of latency, which give back all that they
/// took, accuse nobody.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct TimeDiscrepancy {
    /// Seconds of moves run beyond the time that has passed.
    pub granted: f64,
    /// Seconds by which the client's clock is ahead of where it began, drift allowed for.
    pub claimed: f64,
    /// Seconds by which the client's clock has run ahead or behind since it began, nothing
    /// allowed for and never reset; silences before a new time line are left out.
    pub lifetime: f64,
    /// How often it was detected; it stops counting at 65,535.
    pub detected: u16,
    /// Whether it is paying back.
    pub resolving: bool,
    /// Seconds since the first move.
    pub known_for: f64,
    pay_back: f32,
    /// Seconds of the current spell, and what the client's clock said of it.
    spell: f64,
    spell_claimed: f64,
    /// Seconds of the server's own last stall that are left to be made up for.
    stalled: f64,
}

impl TimeDiscrepancy {
    /// Seconds from the first move in which the fastest arrival is still being found out.
    const SETTLING: f64 = 2.0;
    /// Seconds after which drift is allowed for: to a clock that ran no faster than twice the
    /// allowance meanwhile. One that runs at twice the speed is not one that drifts.
    const SPELL: f64 = 8.0;
    /// Seconds of a stall of the server that clients may make up for, at most: what they can have
    /// saved of it.
    const LONGEST_STALL: f64 = 4.0;

    /// Lets time pass on the server, of which it stood still for `stalled`: nobody could use that
    /// time yet, so for as long again it may be made up for.
    pub(crate) fn pass(&mut self, seconds: f64, stalled: f64, config: &TimeDiscrepancyConfig) {
        self.known_for += seconds;
        self.lifetime -= seconds;
        self.stalled = (self.stalled - (seconds - stalled).max(0.0)).max(0.0) + stalled;
        self.stalled = self.stalled.min(Self::LONGEST_STALL);
        self.granted = (self.granted - seconds).max(f64::from(config.min_time_margin) - self.stalled);
        self.claimed -= seconds;
        self.spell += seconds;
        if self.spell >= Self::SPELL {
            let drift = f64::from(config.drift_allowance.max(0.0));
            if self.spell_claimed <= self.spell * (1.0 + 2.0 * drift) {
                let allowed = drift * self.spell;
                self.granted -= self.granted.clamp(0.0, allowed);
                // What was lost to latency and outages is given back by itself.
                self.claimed -= self.claimed.clamp(0.0, allowed);
            }
            (self.spell, self.spell_claimed) = (0.0, 0.0);
        }
        if self.resolving && self.granted <= 0.0 {
            // Nothing is owed any more.
            self.resolving = false;
            self.pay_back = 0.0;
            self.claimed = 0.0;
        }
    }

    /// The client's time line begins anew: what its clock was behind on the old one, such as a silence,
    /// is no credit on this one.
    pub(crate) fn begin(&mut self) {
        let behind = self.claimed.min(0.0);
        self.claimed -= behind;
        self.lifetime -= behind;
    }

    /// The client's clock says that this much has passed there. Says whether that is too much.
    pub(crate) fn claim(&mut self, seconds: f64, config: &TimeDiscrepancyConfig) -> bool {
        self.claimed += seconds;
        self.spell_claimed += seconds;
        self.lifetime += seconds;
        if self.known_for < Self::SETTLING {
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

    /// Whether there is time for a move of `seconds`. Unless it is granted, it is not run.
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

    /// A move of `seconds` was run.
    pub(crate) fn grant(&mut self, seconds: f64) {
        self.granted += seconds;
    }
}

/// A client's clock is too fast: [`TimeDiscrepancyConfig::detection`].
#[derive(Message, Clone, Copy, Debug)]
pub struct TimeDiscrepancyDetected {
    /// The pawn on the server.
    pub entity: Entity,
    /// As it was then.
    pub discrepancy: TimeDiscrepancy,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 1.0 / 64.0;

    /// A client whose clock runs at `speed`, for `seconds`: the account, and the time at which it
    /// was first detected.
    fn run(speed: f64, seconds: f64, config: &TimeDiscrepancyConfig) -> (TimeDiscrepancy, Option<f64>, f64) {
        let mut account = TimeDiscrepancy::default();
        let (mut due, mut most, mut gained, mut first) = (0.0, 0.0_f64, 0.0, None);
        for tick in 0..(seconds / DT) as usize {
            account.pass(DT, 0.0, config);
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
    fn a_clock_four_percent_fast_is_detected_within_a_minute() {
        let (_, first, _) = run(1.04, 60.0, &TimeDiscrepancyConfig::default());
        assert!(first.is_some_and(|at| at < 60.0), "{first:?}");
    }

    #[test]
    fn twice_the_speed_gains_less_than_a_quarter_of_a_second() {
        let (account, first, most) = run(2.0, 600.0, &TimeDiscrepancyConfig::default());
        assert!(most < 0.25, "gained {most} s");
        assert!(first.is_some() && account.detected > 1, "{account:?}");
        assert!((account.lifetime - 600.0).abs() < 1.0, "the lifetime figure has no bound: {account:?}");
    }

    #[test]
    fn drift_is_allowed_for_up_to_the_allowance() {
        let (account, first, _) = run(1.009, 3_600.0, &TimeDiscrepancyConfig::default());
        assert_eq!(first, None, "{account:?}");
        let (account, first, _) = run(1.015, 120.0, &TimeDiscrepancyConfig::default());
        assert!(first.is_some_and(|at| at < 60.0), "{first:?}: {account:?}");
    }

    #[test]
    fn an_honest_clock_is_never_detected() {
        for ppm in [-200.0, 0.0, 200.0] {
            let (account, first, _) = run(1.0 + ppm * 1e-6, 36_000.0, &TimeDiscrepancyConfig::default());
            assert_eq!((first, account.detected), (None, 0), "{ppm} ppm: {account:?}");
        }
    }

    #[test]
    fn detection_alone_takes_nothing_away() {
        let config = TimeDiscrepancyConfig { resolution: false, ..TimeDiscrepancyConfig::default() };
        let (account, _, most) = run(2.0, 10.0, &config);
        assert!(account.detected > 10 && most > 9.0, "{account:?}, gained {most}");
        let (account, first, most) = run(2.0, 10.0, &TimeDiscrepancyConfig::UNREAL);
        assert!(first.is_none() && account.detected == 0 && most > 9.0, "Unreal's default lets it");
    }

    #[test]
    fn a_lower_resolution_rate_pays_back_gently() {
        let config = TimeDiscrepancyConfig { resolution_rate: 0.5, ..TimeDiscrepancyConfig::default() };
        let (account, _, most) = run(2.0, 60.0, &config);
        assert!(most < 0.25, "{account:?}, gained {most}");
    }

    #[test]
    fn time_that_was_not_used_is_kept_up_to_the_floor() {
        let config = TimeDiscrepancyConfig::default();
        let mut account = TimeDiscrepancy::default();
        account.pass(10.0, 0.0, &config);
        let mut run = 0;
        while account.allows(DT, &config) {
            account.grant(DT);
            run += 1;
        }
        assert_eq!(run, 31, "a quarter of a second of credit and just less than one of margin");
    }

    #[test]
    fn a_stall_of_the_server_is_made_up_for() {
        let config = TimeDiscrepancyConfig::default();
        let mut account = TimeDiscrepancy::default();
        account.pass(2.5, 2.25, &config);
        let run = core::iter::repeat_with(|| account.allows(DT, &config).then(|| account.grant(DT)))
            .take_while(Option::is_some)
            .count();
        assert!((160..=176).contains(&run), "{run} moves of 2.5 s");
    }
}

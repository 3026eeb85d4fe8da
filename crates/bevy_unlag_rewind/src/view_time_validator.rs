//! Server-side validation of the view times that clients claim.

mod config;
mod downlink_estimator;
mod frame_lengths;
mod target_view_times;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, SnapshotAcks, Tick, ViewStamp, ViewTime, sub_ticks};

use crate::view::StampOverride;
use bevy_unlag_smoothing::SentSnapshots;
pub use config::{ViewMismatchAction, ViewTimeError, ViewValidationConfig};
use downlink_estimator::DownlinkEstimator;
pub use target_view_times::ValidatedOverrides;
use target_view_times::{ShiftLimits, TargetViewTimes};

/// Claimed view time of a shot, with what the server knows about the shot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ViewClaim {
    /// Claimed view time.
    pub time: ViewTime,
    /// Shooter's tick of the move.
    pub shooter_tick: Tick,
    /// Server tick in which the move first arrived.
    pub arrived: Tick,
    /// Newest snapshot message acknowledged by the packet of the move, see
    /// [`StepEvent::last_received_snapshot`](bevy_unlag_core::StepEvent::last_received_snapshot).
    pub last_received_snapshot: Option<Tick>,
    /// Shortest recent round trip as measured by the transport, if it measures one: see
    /// [`RoundTrip::min_rtt`](bevy_unlag_core::RoundTrip::min_rtt).
    pub rtt: Option<Duration>,
    /// Ticks between two updates of most pawns that are sent to this client, see
    /// [`SentSnapshots::interval`](bevy_unlag_smoothing::SentSnapshots::interval).
    pub interval: u16,
    /// Difference in ticks between the longest and the shortest of the commoner update intervals. The
    /// screen's view time may follow any of their clocks and may change over. See
    /// [`SentSnapshots::interval_spread`](bevy_unlag_smoothing::SentSnapshots::interval_spread).
    pub interval_spread: u16,
    /// Ticks by which most snapshots sent to this client are late: pawns with late moves are sent as of
    /// an earlier tick, and the client's playout waits for them. See
    /// [`SentSnapshots::late`](bevy_unlag_smoothing::SentSnapshots::late).
    pub late: u16,
    /// Whether pawns were recently left out of this client's snapshots for lack of bandwidth budget, so
    /// that its playout waits for them. See
    /// [`SentSnapshots::was_over_budget_since`](bevy_unlag_smoothing::SentSnapshots::was_over_budget_since).
    pub left_out: bool,
    /// Length of a tick in seconds.
    pub tick_seconds: f32,
}

/// Result of validating a view claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValidatedViewTime {
    /// Moment at which to resolve the shot.
    pub time: ViewTime,
    /// Reason for which [`time`](Self::time) differs from the claim; `None` if the claim was accepted.
    pub error: Option<ViewTimeError>,
    /// Whether the shot is rejected: because of the fault and [`ViewMismatchAction::Refuse`], or because the
    /// client cannot have seen anything yet.
    pub refused: bool,
}

/// Counters of all claims and of invalid ones. They never decrease.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct ViewTimeStats {
    /// Number of all claims.
    pub claims: u64,
    errors: [u64; ViewTimeError::ALL.len()],
}

impl ViewTimeStats {
    /// Returns the number of claims with this fault.
    #[must_use]
    pub fn of(&self, error: ViewTimeError) -> u64 {
        self.errors[error as usize]
    }

    /// Returns the number of claims with any fault.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errors.iter().sum()
    }
}

/// Validator for the view times that one client claims; a component of its pawn on the server. Which
/// *snapshots* the client can have drawn is checked by
/// [`SentSnapshots`](bevy_unlag_smoothing::SentSnapshots), the maximum age of a view by
/// [`RewindLimits`](crate::RewindLimits).
///
/// Rules:
///
/// 1. A view is never newer than the newest snapshot that the client has acknowledged, plus the permitted
///    extrapolation.
/// 2. The views of one client never step back.
/// 3. The delay between a client's own moves and its view changes slowly, because playout never runs
///    slower than 0.92. The change is measured from shot to shot, so a longer pause in fire permits a
///    larger one.
/// 4. The view is never further behind than playout can be on such a link, given the gaps and the jitter
///    in its acknowledgements and the round trip that the transport measures.
/// 5. The shift of a single target against the other remote pawns changes as slowly: see
///    [`validate_overrides`](Self::validate_overrides).
/// 6. Movement bases are drawn a frame before the move, and never step back: see
///    [`validate_base_time`](Self::validate_base_time).
///
/// All of this is measured in the client's own ticks, so neither uplink jitter nor a lost packet makes a
/// view seem older than it was.
///
/// Maximum gain of a cheating client over an honest one with the same screen:
///
/// * By choosing among moments from shot to shot: a
///   [`frame_allowance`](ViewValidationConfig::frame_allowance) and a tick, as long as the claim stays within
///   them. A claim beyond is clamped to the bound without this allowance, so that overreaching gains less. In
///   addition, what rule 3 allows since the last shot, 8 ticks a second, if rule 4 allows it too. Clients
///   that send moves in bursts, as slow machines do, get a longer frame allowance, up to
///   [`max_frame_allowance`](ViewValidationConfig::max_frame_allowance), and in return move like a slow
///   machine. A target with an update rate of its own may have a view time of its own; a false claim moves
///   that by at most an eighth of a tick per tick.
/// * By claiming the playout of a link that loses updates: a tick.
/// * By delaying acknowledgements: [`rtt_slack`](ViewValidationConfig::rtt_slack). If the delay exceeds it,
///   the transport's round trip is used instead. A client that delays all incoming packets, including the
///   transport's acknowledgements, simply has a longer round trip, like any player at that distance.
/// * By pretending to lose snapshots now and then: a playout delay of up to
///   [`max_playout`](ViewValidationConfig::max_playout), part of which an honest client needs too. This
///   cannot be distinguished from a bad link. [`RewindLimits`](crate::RewindLimits) cap the age of any view.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct ViewTimeValidator {
    // A buffer of samples, as are the moments below.
    #[reflect(ignore)]
    meter: DownlinkEstimator,
    /// Newest snapshot acknowledged by any claim.
    last_received_snapshot: Option<Tick>,
    arrived: Option<Tick>,
    /// View time of the last shot.
    last: Option<ViewTime>,
    /// Smallest delay of the view behind the client's own moves, in 1/256 of a tick, and the tick in
    /// which it was measured. It may grow from there.
    behind: Option<(i64, Tick)>,
    /// Targets with a view time of their own.
    #[reflect(ignore)]
    moments: TargetViewTimes,
    /// View time of the movement bases in the last shot that claimed one, and its delay behind the move.
    bases: Option<(ViewTime, i64)>,
    counts: ViewTimeStats,
}

/// Bounds for a claim, in 1/256 of a tick relative to the newest arrival.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Oldest moment that the link explains.
    explained: i64,
    /// Oldest moment given the delays of earlier shots.
    steady: Option<i64>,
    /// Allowance below those two bounds: a moment in the client's ticks may lie anywhere within its tick
    /// and its frame.
    blur: i64,
    /// View time of the last shot.
    last: Option<i64>,
    /// Newest moment given the acknowledged snapshots; `None` if none was acknowledged.
    last_received_snapshot: Option<i64>,
    /// Moment that an honest client most likely shows.
    estimate: i64,
}

impl Bounds {
    /// Clamps a corrected moment between the last view and the newest acknowledged snapshot.
    fn moved(&self, wanted: i64) -> i64 {
        let newest = self.last_received_snapshot.unwrap_or(self.estimate).min(0);
        // Order matters: an earlier shot's view was within what was acknowledged then, and
        // acknowledgements only advance.
        wanted.min(newest).max(self.last.unwrap_or(i64::MIN))
    }

    /// Returns the valid moment nearest to a claim with this fault. A claim too far back loses the
    /// allowance for frames and ticks; otherwise every cheating client would reach back by that much.
    fn nearest(&self, claimed: i64, error: ViewTimeError) -> i64 {
        self.moved(match error {
            ViewTimeError::FromTheFuture | ViewTimeError::BeyondAcknowledged => claimed,
            ViewTimeError::NothingAcknowledged => self.estimate,
            ViewTimeError::SteppedBack | ViewTimeError::FellBehind | ViewTimeError::TooFarBack => {
                claimed.max(self.explained).max(self.steady.unwrap_or(i64::MIN))
            }
        })
    }

    fn error(&self, time: i64) -> Option<ViewTimeError> {
        let before = |bound: i64| time < bound;
        let Some(last_received_snapshot) = self.last_received_snapshot else {
            return Some(ViewTimeError::NothingAcknowledged);
        };
        if time > 0 {
            Some(ViewTimeError::FromTheFuture)
        } else if time > last_received_snapshot {
            Some(ViewTimeError::BeyondAcknowledged)
        } else if self.last.is_some_and(before) {
            Some(ViewTimeError::SteppedBack)
        } else if self.steady.is_some_and(|steady| before(steady - self.blur)) {
            Some(ViewTimeError::FellBehind)
        } else {
            before(self.explained - self.blur).then_some(ViewTimeError::TooFarBack)
        }
    }
}

impl ViewTimeValidator {
    /// Returns the counters of all claims and of invalid ones.
    #[must_use]
    pub fn counts(&self) -> ViewTimeStats {
        self.counts
    }

    /// Returns the length in seconds of the client frame that contained the move of tick `own`: the usual
    /// frame length, or that of this frame if it was longer because of a hitch. Moves of a frame arrive
    /// together, which reveals its length. At least a tick, at most
    /// [`max_frame_allowance`](ViewValidationConfig::max_frame_allowance).
    #[must_use]
    pub fn frame(&self, own: Tick, config: &ViewValidationConfig, tick_seconds: f32) -> f32 {
        let ticks = self.meter.frames.longest_usual().max(self.meter.frames.of(own)).max(1);
        (f32::from(ticks) * tick_seconds).min(config.max_frame_allowance.as_secs_f32()).max(tick_seconds)
    }

    /// Processes the acknowledgements in the packets of a tick. Call it once a tick, before the shots of
    /// that tick are resolved. `hurried` is true if the server runs several ticks in its current frame:
    /// packets that came one after the other are then processed at once, and reveal nothing about the
    /// client's frames. `tick_seconds` is the length of a tick.
    pub fn receive_acknowledgements(&mut self, acks: &SnapshotAcks, hurried: bool, tick_seconds: f32) {
        self.meter.set_tick_seconds(tick_seconds);
        if !self.meter.on_line(acks.epoch) {
            // The client has restarted its tick count. Its views must still not step back.
            self.behind = None;
            self.bases = None;
            self.moments = TargetViewTimes::default();
        }
        acks.packets().iter().for_each(|packet| self.meter.take(*packet, hurried));
    }

    /// Validates the overrides of a shot: the targets that the client claims to have drawn from other
    /// snapshots, or at other moments, than its view. The shift of a target against the other remote
    /// pawns changes no faster than two playout clocks drift apart. If a claim changes faster, or if a
    /// shot with room for `room` overrides omits a target that was shifted shortly before, the nearest
    /// valid moment is used for that target. A target that was hidden from the client meanwhile starts at any moment,
    /// so its shift is free. Call it once per shot, in the order of the client's moves,
    /// with the claim that was passed to [`validate`](Self::validate).
    pub fn validate_overrides(
        &mut self,
        (claim, config): (&ViewClaim, &ViewValidationConfig),
        (named, room): (&[StampOverride], usize),
        sent: Option<&SentSnapshots>,
    ) -> ValidatedOverrides {
        let pace = ShiftLimits {
            time: claim.time,
            shooter_tick: claim.shooter_tick,
            drift: i64::from(config.max_delay_growth),
            blur: self.blur(config, claim.tick_seconds),
            interval_spread: claim.interval_spread > 0,
        };
        // A client that has not received the notice yet names the outdated pose of a hidden target.
        let is_drawn = |one: &StampOverride| {
            let time = claim.time.later(one.shift.into());
            let stamp = ViewStamp::Extrapolated { from: one.from, time };
            sent.is_none_or(|sent| sent.newest(one.target).is_some() && !sent.conceals(one.target, stamp))
        };
        let was_hidden =
            |target, from, to| sent.is_some_and(|sent| sent.was_hidden_between(target, from, to));
        self.moments.validate(&pace, named, named.len() < room, is_drawn, was_hidden)
    }

    /// Returns the view time of movement bases, in the client's ticks, for a move of tick `own`: never
    /// before that of an earlier shot, and at most a usual frame of this client and two ticks before the
    /// move. Without a claim the delay of the last shot is used.
    pub fn validate_base_time(
        &mut self,
        own: Tick,
        claimed: Option<ViewTime>,
        config: &ViewValidationConfig,
        tick_seconds: f32,
    ) -> ViewTime {
        let own = ViewTime::at(own);
        let most = self.blur(config, tick_seconds) + SUB_TICKS;
        let lag = match (claimed, self.bases) {
            (Some(claimed), _) => own.since(claimed),
            (None, Some((_, lag))) => lag,
            (None, None) => 0,
        };
        let mut lag = lag.clamp(0, most);
        if let Some((last, _)) = self.bases {
            lag = lag.min(own.since(last)).max(0);
        }
        let time = own.later(-lag);
        if claimed.is_some() || self.bases.is_some() {
            self.bases = Some((time, lag));
        }
        time
    }

    /// Returns how far from its move a moment of the screen may lie: anywhere within a tick and a frame,
    /// in 1/256 of a tick.
    fn blur(&self, config: &ViewValidationConfig, tick_seconds: f32) -> i64 {
        let sub = |time: Duration| sub_ticks(time, tick_seconds);
        let frame =
            (i64::from(self.meter.frames.longest_usual()) * SUB_TICKS).min(sub(config.max_frame_allowance));
        sub(config.frame_allowance).max(frame) + SUB_TICKS
    }

    /// Validates one claim. Claims have to be passed in the order of the client's moves.
    pub fn validate(&mut self, claim: &ViewClaim, config: &ViewValidationConfig) -> ValidatedViewTime {
        self.last_received_snapshot = newer(self.last_received_snapshot, claim.last_received_snapshot);
        let arrived = self.arrived.map_or(claim.arrived, |known| newest(known, claim.arrived));
        self.arrived = Some(arrived);
        let now = ViewTime::at(arrived);
        let bounds = self.bounds(claim, now, config);
        let claimed = claim.time.since(now);
        let error = bounds.error(claimed);
        let validated = error.map_or(claimed, |error| match config.mismatch {
            ViewMismatchAction::ServerEstimate => bounds.moved(bounds.estimate),
            ViewMismatchAction::Clamp | ViewMismatchAction::Refuse => bounds.nearest(claimed, error),
        });
        let time = now.later(validated);
        self.counts.claims += 1;
        if let Some(error) = error {
            self.counts.errors[error as usize] += 1;
        }
        let refused = match error {
            // The client cannot have seen anything yet.
            Some(ViewTimeError::NothingAcknowledged) => true,
            _ => error.is_some() && config.mismatch == ViewMismatchAction::Refuse,
        };
        if !refused {
            self.remember(time, claim.shooter_tick, config);
        }
        ValidatedViewTime { time, error, refused }
    }

    fn bounds(&self, claim: &ViewClaim, now: ViewTime, config: &ViewValidationConfig) -> Bounds {
        let sub = |time: Duration| sub_ticks(time, claim.tick_seconds);
        // The client's own ticks are the time base here, which excludes uplink jitter and packet loss.
        // Measurements from packets that belong to a different tick count are ignored.
        let up = claim.arrived.since(claim.shooter_tick);
        let usual = |known: &i32| i64::from(up).abs_diff(i64::from(*known)) <= ANOTHER_COUNT;
        let known = self.meter.up().filter(usual);
        let own = ViewTime::at(claim.shooter_tick).since(now);
        // From here on in 1/256 of a tick behind the client's own moves.
        let up = i64::from(known.unwrap_or(up)) * SUB_TICKS;
        let least = known.and_then(|_| self.meter.least()).map(|least| i64::from(least) * SUB_TICKS);
        // Best case delay of the newest snapshot, from the transport's round trip and from
        // acknowledgements.
        let best = sub(claim.rtt.unwrap_or(config.assumed_rtt)) - up;
        let slack = sub(config.rtt_slack).max(2 * SUB_TICKS);
        // A client that delays acknowledgements seems to receive everything later than the round trip
        // allows.
        let base = least.filter(|least| *least <= best + slack).unwrap_or(best);

        let covered = least.and_then(|least| Some(self.meter.covered()? - least)).unwrap_or(0).max(0);
        let young = least.is_none() || self.meter.is_young();
        let guess = if young { sub(config.initial_playout) } else { 0 };
        let late = i64::from(claim.late) * SUB_TICKS;
        let estimate = match self.last_received_snapshot {
            Some(_) => base + covered.max(guess) + late,
            // Without any acknowledgement there is no evidence of a bad downlink.
            None => best + i64::from(claim.interval) * SUB_TICKS,
        };
        // Updates of a pawn that were lost do not show in acknowledgements if others of the same message were sent
        // twice, and playout waits a tick longer on such a link.
        let reserve = if claim.interval > 1 { SUB_TICKS } else { 0 };
        let mut delay = (covered + reserve).max(guess) + late;
        if self.meter.spacing().is_some_and(|spacing| i32::from(claim.interval) > spacing) {
            // If pawns are updated less often than snapshots arrive, gaps in their updates are not
            // visible in acknowledgements.
            delay += 2 * i64::from(claim.interval) * SUB_TICKS;
        }
        // A playout clock for a slower update rate runs further behind.
        let interval_spread = EXTRA_DELAY_PER_TICK * i64::from(claim.interval_spread) * SUB_TICKS;
        delay += interval_spread;
        let most = sub(config.max_playout);
        if claim.left_out {
            delay = delay.max(most);
        }
        let farthest = best + slack + most;
        let explained = (base + delay).min(farthest);
        let steady = self.behind.map(|(behind, at)| behind + grown(claim.shooter_tick, at, config));
        Bounds {
            explained: own - explained,
            steady: steady.map(|steady| own - steady - interval_spread),
            blur: self.blur(config, claim.tick_seconds),
            last: self.last.map(|last| last.since(now) - interval_spread),
            last_received_snapshot: self.last_received_snapshot.map(|last_received_snapshot| {
                ViewTime::at(last_received_snapshot).since(now) + sub(config.max_extrapolation)
            }),
            estimate: own - estimate.min(farthest),
        }
    }

    fn remember(&mut self, time: ViewTime, own: Tick, config: &ViewValidationConfig) {
        self.last = Some(time);
        let behind = ViewTime::at(own).since(time);
        let known = self.behind.map(|(known, at)| known + grown(own, at, config));
        self.behind = Some((known.map_or(behind, |known| known.min(behind)), own));
    }
}

/// Maximum extra playout delay per tick of interval beyond the usual one, in ticks.
pub(crate) const EXTRA_DELAY_PER_TICK: i64 = 3;

/// Distance in ticks beyond which a move counts as belonging to another tick count.
const ANOTHER_COUNT: u64 = 1_024;

/// Returns the permitted growth of the view delay since a shot at another tick, in 1/256 of a tick.
fn grown(own: Tick, at: Tick, config: &ViewValidationConfig) -> i64 {
    i64::from(own.since(at).max(0)) * i64::from(config.max_delay_growth)
}

/// Feeds acknowledgements to the validators, after moves were received and before their shots are
/// resolved.
pub(crate) fn receive_acknowledgements(
    fixed: Res<Time<Fixed>>,
    mut pawns: Query<(&SnapshotAcks, &mut ViewTimeValidator), Changed<SnapshotAcks>>,
) {
    let hurried = fixed.overstep() >= fixed.timestep();
    for (acks, mut validator) in &mut pawns {
        validator.receive_acknowledgements(acks, hurried, fixed.timestep().as_secs_f32());
    }
}

fn newest(a: Tick, b: Tick) -> Tick {
    if b.is_newer_than(a) { b } else { a }
}

fn newer(a: Option<Tick>, b: Option<Tick>) -> Option<Tick> {
    a.zip(b).map(|(a, b)| newest(a, b)).or(a).or(b)
}

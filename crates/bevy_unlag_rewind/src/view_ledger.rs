//! What the server itself knows of when a client's screen was.

mod frames;
mod meter;
mod moments;
mod trust;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{Heard, SUB_TICKS, Tick, ViewTime, sub_ticks};

use crate::StampOverride;
use bevy_unlag_smoothing::SentLog;
use meter::Meter;
pub use moments::BelievedOverrides;
use moments::{Moments, Pace};
pub use trust::{Mismatch, ViewFault, ViewTrust};

/// What a client says that its screen showed, and what the server knows about the shot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ViewClaim {
    /// The moment that the screen is said to have shown.
    pub time: ViewTime,
    /// The shooter's own tick of the move.
    pub own: Tick,
    /// The server's tick when the move was first here.
    pub arrived: Tick,
    /// The newest snapshot message that the packet of the move named, see
    /// [`StepEvent::heard`](bevy_unlag_core::StepEvent::heard).
    pub heard: Option<Tick>,
    /// The shortest round trip of late, as the transport measures it, if it does: see
    /// [`RoundTrip::least`](bevy_unlag_core::RoundTrip::least).
    pub rtt: Option<Duration>,
    /// Ticks between two updates of most pawns that this client is sent, see
    /// [`SentLog::interval`](bevy_unlag_smoothing::SentLog::interval).
    pub interval: u16,
    /// By how many ticks the longest of the commoner intervals is longer than the shortest: the screen's main
    /// clock may be for any of them, and change. See [`SentLog::mixed`](bevy_unlag_smoothing::SentLog::mixed).
    pub mixed: u16,
    /// By how many ticks most of what this client is sent is late: pawns whose owners' moves come late are
    /// sent as of an earlier tick, and its screen waits for them. See [`SentLog::late`](bevy_unlag_smoothing::SentLog::late).
    pub late: u16,
    /// Whether pawns were left out of what this client was sent of late, for want of budget: its screen waits
    /// for them. See [`SentLog::was_short_since`](bevy_unlag_smoothing::SentLog::was_short_since).
    pub left_out: bool,
    /// Seconds in a tick.
    pub tick_seconds: f32,
}

/// When a shot is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admitted {
    /// The moment at which it is judged.
    pub time: ViewTime,
    /// Why that is not the moment that was claimed; `None` when it is.
    pub fault: Option<ViewFault>,
    /// Whether it does not count: because of the fault and [`Mismatch::Refuse`], or because nothing at all can
    /// have been seen.
    pub refused: bool,
}

/// How many claims there were, and how many could not have been. The counters only grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ViewCounts {
    /// All claims.
    pub claims: u64,
    faults: [u64; ViewFault::ALL.len()],
}

impl ViewCounts {
    /// Claims with this fault.
    #[must_use]
    pub fn of(&self, fault: ViewFault) -> u64 {
        self.faults[fault as usize]
    }

    /// Claims with any fault.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.faults.iter().sum()
    }
}

/// Judges the view times that one client claims; on its pawn, on the server. Which *snapshots* the client can
/// have shown is [`SentLog`](bevy_unlag_smoothing::SentLog)'s matter, how old a view may be at most that of
/// [`RewindLimits`](crate::RewindLimits).
///
/// * A view is never newer than what the client had heard of, but for what a screen carries on.
/// * Views of one client never step back.
/// * How far the view lies behind the client's own moves changes slowly: playout never runs slower than
///   0.92. It is measured from shot to shot, so the longer nobody fires the more is possible.
/// * The view is never further behind than playout can be on such a link: what acknowledgements show
///   of its gaps and jitter, and the round trip that the transport measures.
/// * How much earlier or later than everyone else a target is drawn changes as slowly: see
///   [`admit_overrides`](Self::admit_overrides).
/// * Movement bases are drawn a frame before the move, and never step back: see
///   [`admit_bases`](Self::admit_bases).
///
/// All of that is measured on the client's own count of moves, so neither the jitter of the way up nor a lost
/// packet makes a view seem older than it was.
///
/// What a liar gains at most, beside an honest client with the same screen:
///
/// * By choice, from shot to shot: a [`frame`](ViewTrust::frame) and a tick, as long as it stays within them; a
///   claim beyond is judged without them, so that who reaches for more gets less. And what the third rule
///   allows since its last shot, 8 ticks a second, if the fourth allows it too. Who sends its moves in bunches
///   as a slow machine does has longer frames, up to [`longest_frame`](ViewTrust::longest_frame), and moves
///   like one. A target of its own rate may be drawn at a moment of its own, and who lies about that moves it
///   an eighth of a tick a tick.
/// * By holding acknowledgements back: [`rtt_slack`](ViewTrust::rtt_slack). Who is found out lives by the
///   transport's round trip. Who holds everything back that it receives, also the transport's acknowledgements,
///   has a longer round trip, as anybody that far away.
/// * By pretending that nothing comes now and then: a playout delay of up to
///   [`max_playout`](ViewTrust::max_playout), of which an honest client needs a part itself. Nobody can tell
///   that from a bad link. How old any view may be is capped by [`RewindLimits`](crate::RewindLimits).
#[derive(Component, Clone, Debug, Default)]
pub struct ViewLedger {
    meter: Meter,
    /// The newest of all claims.
    heard: Option<Tick>,
    arrived: Option<Tick>,
    /// The view of the last shot.
    last: Option<ViewTime>,
    /// By how much the view was behind the own moves at least, in 1/256 of a tick, and when: it may grow
    /// from there.
    behind: Option<(i64, Tick)>,
    /// Who was drawn at a moment of its own.
    moments: Moments,
    /// When bases were drawn for the last shot that says so, and how long before its move.
    bases: Option<(ViewTime, i64)>,
    counts: ViewCounts,
}

/// The moments between which a claim can lie, in 1/256 of a tick since the newest arrival.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// As of what the link explains.
    explained: i64,
    /// As of how far the views of earlier shots were behind.
    steady: Option<i64>,
    /// How far before those two a view may still lie: a moment on the client's count may be anywhere within
    /// its tick, and in a frame.
    blur: i64,
    /// The view of the last shot.
    last: Option<i64>,
    /// As of what was heard; `None` when nothing ever was.
    heard: Option<i64>,
    /// What an honest client most likely shows.
    estimate: i64,
}

impl Bounds {
    /// Where a claim is judged that is not taken as it is: between what never steps back and what was heard.
    fn moved(&self, wanted: i64) -> i64 {
        let newest = self.heard.unwrap_or(self.estimate).min(0);
        // The view of an earlier shot was never beyond what was known then, and no more is less now.
        wanted.min(newest).max(self.last.unwrap_or(i64::MIN))
    }

    /// The moment nearest to a claim with this fault. Who reaches too far back loses what is conceded to
    /// frames and ticks, or everybody would reach as far as that.
    fn nearest(&self, claimed: i64, fault: ViewFault) -> i64 {
        self.moved(match fault {
            ViewFault::FromTheFuture | ViewFault::Unheard => claimed,
            ViewFault::NothingHeard => self.estimate,
            ViewFault::SteppedBack | ViewFault::FellBehind | ViewFault::TooFarBack => {
                claimed.max(self.explained).max(self.steady.unwrap_or(i64::MIN))
            }
        })
    }

    fn fault(&self, time: i64) -> Option<ViewFault> {
        let before = |bound: i64| time < bound;
        let Some(heard) = self.heard else { return Some(ViewFault::NothingHeard) };
        if time > 0 {
            Some(ViewFault::FromTheFuture)
        } else if time > heard {
            Some(ViewFault::Unheard)
        } else if self.last.is_some_and(before) {
            Some(ViewFault::SteppedBack)
        } else if self.steady.is_some_and(|steady| before(steady - self.blur)) {
            Some(ViewFault::FellBehind)
        } else {
            before(self.explained - self.blur).then_some(ViewFault::TooFarBack)
        }
    }
}

impl ViewLedger {
    /// How many claims there were, and how many could not have been.
    #[must_use]
    pub fn counts(&self) -> ViewCounts {
        self.counts
    }

    /// How long a frame of its client took in which a move of tick `own` was made, in seconds: its usual ones, or
    /// that one if it hung. Its moves come as many at a time. Never less than a tick, and never more than
    /// [`longest_frame`](ViewTrust::longest_frame).
    #[must_use]
    pub fn frame(&self, own: Tick, trust: &ViewTrust, tick_seconds: f32) -> f32 {
        let ticks = self.meter.frame().max(self.meter.frame_of(own)).max(1);
        (f32::from(ticks) * tick_seconds).min(trust.longest_frame.as_secs_f32()).max(tick_seconds)
    }

    /// Takes in what the packets of a tick say. Call it once a tick, before the shots of that tick are judged.
    /// `hurried` says whether the server itself runs more ticks than this one in its frame: then it takes in
    /// at once what came one after the other, and that says nothing of the client's frames.
    pub fn listen(&mut self, heard: &Heard, hurried: bool) {
        if !self.meter.on_line(heard.line) {
            // The client counts its moves anew. Its views still do not step back.
            self.behind = None;
            self.bases = None;
            self.moments = Moments::default();
        }
        heard.packets().iter().for_each(|packet| self.meter.take(*packet, hurried));
    }

    /// Judges which targets a shot says were drawn from other snapshots or at other moments than its view. A
    /// target's own moment changes against everybody else's no faster than playout clocks run apart; where a
    /// claim does, and where a shot that can name `room` targets no longer names one that was drawn at another
    /// moment right before, the target is judged at the nearest moment that can have been. Call it once for
    /// each shot, in the order of the client's moves, with the claim that was [admitted](Self::admit).
    pub fn admit_overrides(
        &mut self,
        (claim, trust): (&ViewClaim, &ViewTrust),
        (named, room): (&[StampOverride], usize),
        sent: Option<&SentLog>,
    ) -> BelievedOverrides {
        let pace = Pace {
            own: claim.own,
            behind: ViewTime::at(claim.own).since(claim.time),
            drift: i64::from(trust.falling_behind),
            blur: self.blur(trust, claim.tick_seconds),
            mixed: claim.mixed > 0,
        };
        let known = |target| sent.is_none_or(|sent| sent.newest(target).is_some());
        self.moments.admit(&pace, named, named.len() < room, known)
    }

    /// The moment on the client's count at which a move of tick `own` is judged to have seen movement bases:
    /// never before that of an earlier shot, and before the move by no more than a usual frame of this client
    /// and two ticks. Without a claim it is as long before the move as it was last.
    pub fn admit_bases(
        &mut self,
        own: Tick,
        claimed: Option<ViewTime>,
        trust: &ViewTrust,
        tick_seconds: f32,
    ) -> ViewTime {
        let own = ViewTime::at(own);
        let most = self.blur(trust, tick_seconds) + SUB_TICKS;
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

    /// How far from its move a moment of the screen may be: anywhere within a tick, and in a frame.
    fn blur(&self, trust: &ViewTrust, tick_seconds: f32) -> i64 {
        let sub = |time: Duration| sub_ticks(time, tick_seconds);
        let frame = (i64::from(self.meter.frame()) * SUB_TICKS).min(sub(trust.longest_frame));
        sub(trust.frame).max(frame) + SUB_TICKS
    }

    /// Judges one claim. They have to come in the order of the client's moves.
    pub fn admit(&mut self, claim: &ViewClaim, trust: &ViewTrust) -> Admitted {
        self.heard = newer(self.heard, claim.heard);
        let arrived = self.arrived.map_or(claim.arrived, |known| newest(known, claim.arrived));
        self.arrived = Some(arrived);
        let now = ViewTime::at(arrived);
        let bounds = self.bounds(claim, now, trust);
        let claimed = claim.time.since(now);
        let fault = bounds.fault(claimed);
        let judged = fault.map_or(claimed, |fault| match trust.mismatch {
            Mismatch::ServerEstimate => bounds.moved(bounds.estimate),
            Mismatch::Clamp | Mismatch::Refuse => bounds.nearest(claimed, fault),
        });
        let time = now.later(judged);
        self.counts.claims += 1;
        if let Some(fault) = fault {
            self.counts.faults[fault as usize] += 1;
        }
        let refused = match fault {
            // There is nothing that it can have seen.
            Some(ViewFault::NothingHeard) => true,
            _ => fault.is_some() && trust.mismatch == Mismatch::Refuse,
        };
        if !refused {
            self.remember(time, claim.own, trust);
        }
        Admitted { time, fault, refused }
    }

    fn bounds(&self, claim: &ViewClaim, now: ViewTime, trust: &ViewTrust) -> Bounds {
        let sub = |time: Duration| sub_ticks(time, claim.tick_seconds);
        // The client's own moves are the clock of all this: neither the jitter of the way up nor a packet that
        // was lost is in it. What packets say of another count of moves is of no use.
        let up = claim.arrived.since(claim.own);
        let usual = |known: &i32| i64::from(up).abs_diff(i64::from(*known)) <= ANOTHER_COUNT;
        let known = self.meter.up().filter(usual);
        let own = ViewTime::at(claim.own).since(now);
        // All below is in 1/256 of a tick behind the own moves.
        let up = i64::from(known.unwrap_or(up)) * SUB_TICKS;
        let least = known.and_then(|_| self.meter.least()).map(|least| i64::from(least) * SUB_TICKS);
        // Where the newest snapshot can be at best: what the transport says, and what the client says.
        let best = sub(claim.rtt.unwrap_or(trust.assumed_rtt)) - up;
        let slack = sub(trust.rtt_slack);
        // Who holds acknowledgements back seems to hear of everything later than the round trip allows.
        let base = least.filter(|least| *least <= best + slack).unwrap_or(best);

        let covered = least.and_then(|least| Some(self.meter.covered()? - least)).unwrap_or(0).max(0);
        let young = least.is_none() || self.meter.is_young();
        let mut delay = if young { covered.max(sub(trust.initial_playout)) } else { covered };
        delay += i64::from(claim.late) * SUB_TICKS;
        let estimate = match self.heard {
            Some(_) => base + delay,
            // Nobody who never acknowledges anything is believed to have a bad way down.
            None => best + i64::from(claim.interval) * SUB_TICKS,
        };
        if self.meter.spacing().is_some_and(|spacing| i32::from(claim.interval) > spacing) {
            // Of pawns that are updated less often than snapshots come, gaps do not show.
            delay += 2 * i64::from(claim.interval) * SUB_TICKS;
        }
        // A clock for a slower rate runs further behind.
        let mixed = SLOWER * i64::from(claim.mixed) * SUB_TICKS;
        delay += mixed;
        let most = sub(trust.max_playout);
        if claim.left_out {
            delay = delay.max(most);
        }
        let farthest = best + slack + most;
        let explained = (base + delay).min(farthest);
        let steady = self.behind.map(|(behind, at)| behind + grown(claim.own, at, trust));
        Bounds {
            explained: own - explained,
            steady: steady.map(|steady| own - steady - mixed),
            blur: self.blur(trust, claim.tick_seconds),
            last: self.last.map(|last| last.since(now) - mixed),
            heard: self
                .heard
                .map(|heard| ViewTime::at(heard).since(now) + i64::from(trust.carried_on) * SUB_TICKS),
            estimate: own - estimate.min(farthest),
        }
    }

    fn remember(&mut self, time: ViewTime, own: Tick, trust: &ViewTrust) {
        self.last = Some(time);
        let behind = ViewTime::at(own).since(time);
        let known = self.behind.map(|(known, at)| known + grown(own, at, trust));
        self.behind = Some((known.map_or(behind, |known| known.min(behind)), own));
    }
}

/// How much longer than the usual one an interval's playout may be for each tick that the interval is longer.
pub(crate) const SLOWER: i64 = 3;

/// Another count of moves lies this many ticks from one that is known.
const ANOTHER_COUNT: u64 = 1_024;

/// By how much a view may have fallen behind since a shot at another tick.
fn grown(own: Tick, at: Tick, trust: &ViewTrust) -> i64 {
    i64::from(own.since(at).max(0)) * i64::from(trust.falling_behind)
}

/// Takes in what packets say; after moves were received, before their shots are judged.
pub(crate) fn listen(fixed: Res<Time<Fixed>>, mut pawns: Query<(&Heard, &mut ViewLedger), Changed<Heard>>) {
    let hurried = fixed.overstep() >= fixed.timestep();
    for (heard, mut ledger) in &mut pawns {
        ledger.listen(heard, hurried);
    }
}

fn newest(a: Tick, b: Tick) -> Tick {
    if b.is_newer_than(a) { b } else { a }
}

fn newer(a: Option<Tick>, b: Option<Tick>) -> Option<Tick> {
    a.zip(b).map(|(a, b)| newest(a, b)).or(a).or(b)
}

//! A moment within its limits, and a target's pose at it.

use bevy_unlag_core::{BaseView, Interpolation, PoseSample, SUB_TICKS, Sampler, Tick, ViewStamp, ViewTime};

use crate::{
    JudgedTime, Miss, RewindLimits, RewindMode, RewindRefusal, StampOverride, View, table::RowOf,
    target::Target, view_ledger::SLOWER,
};
use bevy_unlag_smoothing::SentLog;

/// Ticks by which a pawn of the usual rate may be drawn before or after everybody else: while its clock is
/// changed.
const CLOCK_CHANGE: i64 = 4;
/// Ticks back from the oldest moment that is honoured in which somebody left out of what a client was sent
/// matters to it.
const OUT_OF_DATE: i32 = 16;
/// Ticks in which it matters to a screen that somebody was left out for want of budget.
const SHORT: i32 = 256;

/// The moment that a query looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// What the shot said; `None` for the present and for the server's own purposes.
    pub asked: Option<ViewTime>,
    /// What is judged; `None` for the present.
    pub time: Option<ViewTime>,
    /// When the shot arrived.
    pub arrived: Tick,
    /// The oldest moment that is honoured of any target; `None` without a limit.
    pub oldest: Option<ViewTime>,
    pub overrides: &'a [StampOverride],
    pub sent: Option<&'a SentLog>,
    /// Whether the shooter was sent everything that anybody was: then the table knows where it drew them.
    pub complete: bool,
    pub limits: &'a RewindLimits,
}

impl<'a> Moment<'a> {
    pub fn present(now: Tick, limits: &'a RewindLimits) -> Self {
        Self {
            asked: None,
            time: None,
            arrived: now,
            oldest: None,
            overrides: &[],
            sent: None,
            complete: true,
            limits,
        }
    }

    /// Without any check.
    pub fn at(time: ViewTime, now: Tick, limits: &'a RewindLimits) -> Self {
        Self { time: Some(time), ..Self::present(now, limits) }
    }

    /// As a screen showed it, without another look at whether its time is honoured.
    pub fn admitted(view: &View<'a>, limits: &'a RewindLimits, now: Tick, tick_seconds: f32) -> Self {
        let arrived = now.offset(-(view.waited.min(1_000).cast_signed()));
        let oldest = limits.oldest(arrived, tick_seconds, view.round_trip);
        let complete = view.sent.is_none_or(|sent| sent.is_complete_since(oldest.tick.offset(-OUT_OF_DATE)));
        Self {
            asked: Some(view.time),
            time: Some(view.time),
            arrived,
            oldest: Some(oldest),
            overrides: view.overrides,
            sent: view.sent,
            complete,
            limits,
        }
    }

    pub fn seen(
        view: &View<'a>,
        limits: &'a RewindLimits,
        now: Tick,
        tick_seconds: f32,
    ) -> Result<Self, RewindRefusal> {
        let admitted = Self::admitted(view, limits, now, tick_seconds);
        let used = limits.admit(view.time, admitted.arrived, tick_seconds, view.round_trip)?;
        let on = limits.mode == RewindMode::On;
        // Without rewind nobody is asked.
        Ok(Self { asked: on.then_some(view.time), time: on.then_some(used), ..admitted })
    }

    /// What the same screen showed later. What anybody was drawn from then is not known: what was sent for
    /// that time.
    pub fn later(self, time: ViewTime) -> Self {
        let asked = self.asked.or(self.time);
        let arrived = if time.tick.is_newer_than(self.arrived) { time.tick } else { self.arrived };
        Self { asked, time: Some(time), arrived, ..self }
    }

    pub fn judged(&self) -> JudgedTime {
        JudgedTime { asked: self.asked.or(self.time), used: self.time }
    }

    /// The row of the table to look into for those near.
    pub fn row(&self) -> RowOf {
        match self.time {
            None => RowOf::Present,
            Some(time) if self.complete => RowOf::Tick(time.tick),
            Some(_) => RowOf::Everybody,
        }
    }

    /// How a target was drawn at a moment if nothing was lost.
    pub fn implied(&self, target: &Target, time: ViewTime) -> Option<ViewStamp> {
        match self.sent {
            Some(sent) => sent.stamp(target.id, &target.path.sent, time),
            None => target.path.sent.stamp(time),
        }
    }

    /// Whether this shooter was sent a snapshot.
    pub fn was_sent(&self, target: &Target, tick: Tick) -> bool {
        self.sent.is_none_or(|sent| sent.contains(target.id, tick))
    }

    /// Whether this shooter's screen can have shown a target as the shot says: from what it was sent, and at
    /// no other moment than how often *it* was sent this target explains, or a moment of its own would be a
    /// way to choose among moments. How fast that may change from shot to shot is
    /// [`ViewLedger`](crate::ViewLedger)'s matter.
    pub fn may_have_shown(&self, target: &Target, named: &StampOverride, sampler: &Sampler) -> bool {
        let Some(sent) = self.sent else { return true };
        let was_sent = |tick: Tick| self.was_sent(target, tick);
        let known = named.is_moment() || was_sent(named.from) && named.to.is_none_or(was_sent);
        let played_out = target.mode.is_none_or(|mode| mode.is_played_out());
        known && self.is_explained(sent, target, named, played_out, sampler)
    }

    fn is_explained(
        &self,
        sent: &SentLog,
        target: &Target,
        named: &StampOverride,
        played_out: bool,
        sampler: &Sampler,
    ) -> bool {
        let rates = sent.rates(target.id, target.path.interval());
        // Whichever rate the screen's main clock is for.
        let (shortest, longest) = match sent.common() {
            (0, _) => (sampler.snapshot_ticks, sampler.snapshot_ticks),
            (shortest, longest) => (i32::from(shortest).min(sampler.snapshot_ticks), i32::from(longest)),
        };
        let within =
            |shift: i64, longer: i32| shift <= (SLOWER * i64::from(longer.max(0)) + CLOCK_CHANGE) * SUB_TICKS;
        let shift = i64::from(named.shift);
        if shift < 0 {
            // Gaps of whom a budget leaves out are of every length.
            let short = sent.was_short_since(self.arrived.offset(-SHORT));
            let space = if short { rates.longest } else { rates.usual };
            if !within(-shift, i32::from(space) - shortest) {
                return false;
            }
        } else if played_out {
            let space = if rates.shortest == 0 { longest } else { i32::from(rates.shortest) };
            if !within(shift, longest - space) {
                return false;
            }
        }
        // Only what is shown as it is stands at its snapshot's very moment. The ledger knows it by that.
        let as_it_is = shift != 0 && named.to.is_none() && self.own(named) == Some(ViewTime::at(named.from));
        !(played_out && as_it_is)
    }

    /// The moment that an override names.
    fn own(&self, named: &StampOverride) -> Option<ViewTime> {
        Some(self.time?.later(i64::from(named.shift)))
    }

    /// When this target was drawn, and from what.
    pub fn stamp(
        &self,
        time: ViewTime,
        target: &Target,
        named: Option<&StampOverride>,
        sampler: &Sampler,
    ) -> Option<ViewStamp> {
        let Some(named) = named else { return self.implied(target, time) };
        if !self.may_have_shown(target, named, sampler) {
            return None;
        }
        // A moment of its own is no way around the limits; but what is simulated to the present is drawn
        // within the server's current tick.
        let newest = ViewTime::at(self.arrived).later(SUB_TICKS);
        let wanted = time.later(i64::from(named.shift));
        let own = if wanted.since(newest) > 0 { newest } else { wanted };
        let own = self.oldest.filter(|oldest| own.since(*oldest) < 0).unwrap_or(own);
        if own != wanted || self.judged().clamped() {
            // What it was drawn from says nothing about another moment.
            return self.implied(target, own);
        }
        if named.is_moment() {
            return self.implied(target, own);
        }
        let carried_on = match sampler.interpolation {
            Interpolation::Step => 0.0,
            _ => 2.0 * sampler.max_extrapolation_ticks,
        };
        // What had stood still for want of news, or is shown as it is, is not from further back.
        if named.to.is_none() && own.ticks_since(named.from) > carried_on {
            return None;
        }
        named.stamp(own)
    }

    /// A target's pose, and when that was; `None` for now.
    pub fn pose(
        &self,
        target: &Target,
        sampler: &Sampler,
        bases: &BaseView<'_>,
    ) -> Result<(PoseSample, Option<ViewTime>), Miss> {
        let path = target.path;
        let (pose, time) = match self.time {
            None => (path.present().copied().ok_or(Miss::Gone(target.id))?, None),
            Some(time) => {
                let (pose, time) = self.drawn(time, target, sampler, bases)?;
                (pose, Some(time))
            }
        };
        if !pose.alive {
            return Err(Miss::Gone(target.id));
        }
        let limit = self.limits.max_distance;
        if limit < f32::INFINITY
            && path.present().is_some_and(|now| now.position.distance(pose.position) > limit)
        {
            return Err(Miss::TooFar(target.id));
        }
        Ok((pose, time))
    }

    fn drawn(
        &self,
        time: ViewTime,
        target: &Target,
        sampler: &Sampler,
        bases: &BaseView<'_>,
    ) -> Result<(PoseSample, ViewTime), Miss> {
        let sampler = sampler.of(target.mode);
        let sent = &target.path.sent;
        let named = self.overrides.iter().find(|named| named.target == target.id);
        let stamp = self.stamp(time, target, named, &sampler).ok_or_else(|| {
            let shown = named.is_none() && sent.iter().any(|snapshot| self.was_sent(target, snapshot.tick));
            if shown { Miss::Gone(target.id) } else { Miss::NotShown(target.id) }
        })?;
        let pose = sent.pose(stamp, &sampler, bases).ok_or(Miss::NotShown(target.id))?;
        let drawn = match stamp {
            ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. } => time,
            ViewStamp::Present => time,
        };
        Ok((pose, drawn))
    }
}

#[cfg(test)]
mod tests;

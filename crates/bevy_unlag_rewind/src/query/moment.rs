//! Moment of a query within its limits, and the pose of a target at it.

use bevy_unlag_core::{
    BaseView, Interpolation, PoseSample, PoseSampler, SUB_TICKS, Tick, ViewStamp, ViewTime,
};

use crate::{
    limits::{RewindLimits, RewindMode, RewindRefusal},
    query_result::{Miss, RewoundTime},
    table::RowKey,
    target::Target,
    view::{QueryView, StampOverride},
    view_time_validator::EXTRA_DELAY_PER_TICK,
};
use bevy_unlag_smoothing::SentSnapshots;

/// Ticks by which a pawn with the usual update rate may be drawn before or after the other remote pawns,
/// while its playout clock changes over.
const CLOCK_CHANGE: i64 = 4;
/// Ticks before the oldest accepted moment in which an omitted update still affects the shooter's view.
const OMISSION_MARGIN_TICKS: i32 = 16;
/// Ticks for which an update omitted for lack of bandwidth budget affects the client's playout.
const BUDGET_WINDOW_TICKS: i32 = 256;

/// Moment at which a query poses its targets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// Moment that the shot claimed; `None` for the present and for the server's own queries.
    pub requested: Option<ViewTime>,
    /// Moment that is used; `None` for the present.
    pub time: Option<ViewTime>,
    /// Tick in which the shot arrived.
    pub arrived: Tick,
    /// Oldest moment accepted for any target; `None` without a limit.
    pub oldest: Option<ViewTime>,
    pub overrides: &'a [StampOverride],
    pub sent: Option<&'a SentSnapshots>,
    /// Whether the shooter was sent every snapshot that any client was sent, in which case the table
    /// bounds apply to its view.
    pub complete: bool,
    pub limits: &'a RewindLimits,
}

impl<'a> Moment<'a> {
    pub fn present(now: Tick, limits: &'a RewindLimits) -> Self {
        Self {
            requested: None,
            time: None,
            arrived: now,
            oldest: None,
            overrides: &[],
            sent: None,
            complete: true,
            limits,
        }
    }

    /// Selects a moment without any check.
    pub fn at(time: ViewTime, now: Tick, limits: &'a RewindLimits) -> Self {
        Self { time: Some(time), ..Self::present(now, limits) }
    }

    /// Selects a view without checking its age.
    pub fn at_validated(
        view: &QueryView<'a>,
        limits: &'a RewindLimits,
        now: Tick,
        tick_seconds: f32,
    ) -> Self {
        let arrived = now.offset(-(view.queued_ticks.min(1_000).cast_signed()));
        let oldest = limits.oldest_accepted(arrived, tick_seconds, view.round_trip);
        let complete =
            view.sent.is_none_or(|sent| sent.is_complete_since(oldest.tick.offset(-OMISSION_MARGIN_TICKS)));
        Self {
            requested: Some(view.time),
            time: Some(view.time),
            arrived,
            oldest: Some(oldest),
            overrides: view.overrides,
            sent: view.sent,
            complete,
            limits,
        }
    }

    /// Returns the moment of a view within the limits.
    ///
    /// # Errors
    /// The view is too old, ahead of the server, or from before the match.
    pub fn from_view(
        view: &QueryView<'a>,
        limits: &'a RewindLimits,
        now: Tick,
        tick_seconds: f32,
    ) -> Result<Self, RewindRefusal> {
        let admitted = Self::at_validated(view, limits, now, tick_seconds);
        let used = limits.validate(view.time, admitted.arrived, tick_seconds, view.round_trip)?;
        let on = limits.mode == RewindMode::On;
        // Without rewind the claimed view is ignored.
        Ok(Self { requested: on.then_some(view.time), time: on.then_some(used), ..admitted })
    }

    /// Returns the same view at a later time. The snapshots from which the screen drew that are not
    /// known, so those sent for that time are assumed.
    pub fn later(self, time: ViewTime) -> Self {
        let requested = self.requested.or(self.time);
        let arrived = if time.tick.is_newer_than(self.arrived) { time.tick } else { self.arrived };
        Self { requested, time: Some(time), arrived, ..self }
    }

    pub fn rewound_time(&self) -> RewoundTime {
        RewoundTime { requested: self.requested.or(self.time), used: self.time }
    }

    /// Returns the row of the table to search for nearby targets.
    pub fn row(&self) -> RowKey {
        match self.time {
            None => RowKey::Present,
            Some(time) if self.complete => RowKey::Tick(time.tick),
            Some(_) => RowKey::All,
        }
    }

    /// Returns how a target was drawn at a moment if no snapshot was lost.
    pub fn implied(&self, target: &Target, time: ViewTime) -> Option<ViewStamp> {
        match self.sent {
            Some(sent) => sent.stamp(target.id, &target.path.sent, time),
            None => target.path.sent.stamp(time),
        }
    }

    /// Returns whether this shooter was sent a snapshot.
    pub fn was_sent(&self, target: &Target, tick: Tick) -> bool {
        self.sent.is_none_or(|sent| sent.contains(target.id, tick))
    }

    /// Returns whether this shooter's screen can have shown a target as the shot claims: from snapshots
    /// that it was sent, and with a shift that the shooter's update rate for *this* target explains.
    /// Otherwise overrides would let a client choose among moments. How fast the shift may change from
    /// shot to shot is limited by [`ViewTimeValidator`](crate::ViewTimeValidator).
    pub fn may_have_shown(&self, target: &Target, named: &StampOverride, sampler: &PoseSampler) -> bool {
        let Some(sent) = self.sent else { return true };
        let was_sent = |tick: Tick| self.was_sent(target, tick);
        let known = named.is_moment() || was_sent(named.from) && named.to.is_none_or(was_sent);
        let played_out = target.mode.is_none_or(|mode| mode.is_played_out());
        known && self.is_explained(sent, target, named, played_out, sampler)
    }

    fn is_explained(
        &self,
        sent: &SentSnapshots,
        target: &Target,
        named: &StampOverride,
        played_out: bool,
        sampler: &PoseSampler,
    ) -> bool {
        let rates = sent.rates(target.id, target.path.interval());
        // The screen's view time may follow the clock of any of the common rates.
        let (shortest, longest) = match sent.common() {
            (0, _) => (sampler.snapshot_ticks, sampler.snapshot_ticks),
            (shortest, longest) => (i32::from(shortest).min(sampler.snapshot_ticks), i32::from(longest)),
        };
        let within = |shift: i64, longer: i32| {
            shift <= (EXTRA_DELAY_PER_TICK * i64::from(longer.max(0)) + CLOCK_CHANGE) * SUB_TICKS
        };
        let shift = i64::from(named.shift);
        if shift < 0 {
            // A pawn omitted for lack of bandwidth budget can have gaps of any length.
            let short = sent.was_over_budget_since(self.arrived.offset(-BUDGET_WINDOW_TICKS));
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
        // Only a pawn that is drawn without playout is shown exactly at its snapshot's time. The
        // validator recognises such pawns by that.
        let as_it_is = shift != 0 && named.to.is_none() && self.own(named) == Some(ViewTime::at(named.from));
        !(played_out && as_it_is)
    }

    /// Returns the view time that an override names.
    fn own(&self, named: &StampOverride) -> Option<ViewTime> {
        Some(self.time?.later(i64::from(named.shift)))
    }

    /// Returns the time at which this target was drawn and the snapshots it was drawn from.
    pub fn stamp(
        &self,
        time: ViewTime,
        target: &Target,
        named: Option<&StampOverride>,
        sampler: &PoseSampler,
    ) -> Option<ViewStamp> {
        let Some(named) = named else { return self.implied(target, time) };
        if !self.may_have_shown(target, named, sampler) {
            return None;
        }
        // An override must not circumvent the limits, but a pawn that is simulated to the present is
        // drawn within the server's current tick.
        let newest = ViewTime::at(self.arrived).later(SUB_TICKS);
        let wanted = time.later(i64::from(named.shift));
        let outdated = ViewStamp::Extrapolated { from: named.from, time: wanted };
        if !named.is_moment() && self.sent.is_some_and(|sent| sent.conceals(target.id, outdated)) {
            return None;
        }
        let own = if wanted.since(newest) > 0 { newest } else { wanted };
        let own = self.oldest.filter(|oldest| own.since(*oldest) < 0).unwrap_or(own);
        if own != wanted || self.rewound_time().clamped() {
            // The named snapshots do not apply to another moment.
            return self.implied(target, own);
        }
        if named.is_moment() {
            return self.implied(target, own);
        }
        let carried_on = match sampler.interpolation {
            Interpolation::Step => 0.0,
            _ => 2.0 * sampler.max_extrapolation_ticks(),
        };
        // A pawn whose extrapolation had stopped, or that is drawn without interpolation, cannot be from
        // further back.
        if named.to.is_none() && own.ticks_since(named.from) > carried_on {
            return None;
        }
        named.stamp(own)
    }

    /// Returns a target's pose and the time at which it was drawn; `None` for the present.
    ///
    /// # Errors
    /// The reason why the target cannot be hit at this moment.
    pub fn pose(
        &self,
        target: &Target,
        sampler: &PoseSampler,
        bases: &BaseView<'_>,
    ) -> Result<(PoseSample, Option<ViewTime>), Miss> {
        let path = target.path;
        let (pose, time) = match self.time {
            None => (path.present().copied().ok_or(Miss::NotPresent(target.id))?, None),
            Some(time) => {
                let (pose, time) = self.drawn(time, target, sampler, bases)?;
                (pose, Some(time))
            }
        };
        if !pose.alive {
            return Err(Miss::NotPresent(target.id));
        }
        let limit = self.limits.max_distance;
        if limit < f32::INFINITY
            && path.present().is_some_and(|now| now.position.distance(pose.position) > limit)
        {
            return Err(Miss::MovedTooFar(target.id));
        }
        Ok((pose, time))
    }

    fn drawn(
        &self,
        time: ViewTime,
        target: &Target,
        sampler: &PoseSampler,
        bases: &BaseView<'_>,
    ) -> Result<(PoseSample, ViewTime), Miss> {
        let sampler = sampler.of(target.mode);
        let sent = &target.path.sent;
        let named = self.overrides.iter().find(|named| named.target == target.id);
        if named.is_none()
            && self.sent.is_none()
            && let Some(pose) = sent.pose_at(time, &sampler, bases)
        {
            // The same pose as below, with one search instead of two.
            return Ok((pose, time));
        }
        let stamp = self.stamp(time, target, named, &sampler).ok_or_else(|| {
            let shown = named.is_none() && sent.iter().any(|snapshot| self.was_sent(target, snapshot.tick));
            if shown { Miss::NotPresent(target.id) } else { Miss::NotSent(target.id) }
        })?;
        let pose = sent.pose(stamp, &sampler, bases).ok_or(Miss::NotSent(target.id))?;
        let drawn = match stamp {
            ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. } => time,
            ViewStamp::Present => time,
        };
        Ok((pose, drawn))
    }
}

#[cfg(test)]
mod tests;

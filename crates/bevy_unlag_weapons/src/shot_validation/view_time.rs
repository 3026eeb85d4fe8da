//! Validation of a shot's view time.

use core::time::Duration;

use bevy::{ecs::query::QueryData, prelude::*};
use bevy_unlag_core::{CurrentTick, PoseSampler, RoundTrip, StepEvent, Tick, ViewTime};
use bevy_unlag_rewind::{
    QueryView, RewindLimits, RewindTimeSource, ValidatedOverrides, ViewClaim, ViewTimeValidator,
    ViewValidationConfig,
};
use bevy_unlag_smoothing::SentSnapshots;

use crate::{
    fire_input::{MAX_OVERRIDES, ShooterView},
    fire_rules::FireRules,
    verdict::ShotRefusal,
    weapon::Weapon,
    weapon_extension::WithWeapons,
};

/// Additional time beyond the round trip until a client's moves reflect the death of its pawn: frames,
/// buffers and lost packets.
const DEATH_NOTICE_SLACK: Duration = Duration::from_millis(250);
/// Ticks for which a pawn that was left out of a client's snapshots still affects its playout: about a
/// second.
const OMITTED_SNAPSHOT_MEMORY: i32 = 64;

/// The server's knowledge of a shooter's screen. Hosts and bots have none of these components and are
/// trusted.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Shooter {
    sent: Option<&'static SentSnapshots>,
    validator: Option<&'static mut ViewTimeValidator>,
    round_trip: Option<&'static RoundTrip>,
}

/// Resources for the validation of view times.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct ValidationClock<'w> {
    tick: Res<'w, CurrentTick>,
    sampler: Res<'w, PoseSampler>,
    config: Res<'w, ViewValidationConfig>,
}

/// A validated view, and whether its time differs from the claimed one.
pub(crate) struct ValidatedView<'a> {
    /// View time; `None` for the present.
    time: Option<ViewTime>,
    pub moved: bool,
    /// Whether the shot claims that its screen showed no pawns, so that it cannot hit any.
    pub blind: bool,
    bases: ViewTime,
    overrides: ValidatedOverrides,
    queued_ticks: u32,
    round_trip: Option<Duration>,
    sent: Option<&'a SentSnapshots>,
}

impl ValidatedView<'_> {
    /// Returns the view to rewind to; `None` for the present.
    pub fn view<'v>(&'v self, limits: Option<&'v RewindLimits>) -> Option<QueryView<'v>> {
        Some(QueryView {
            time: self.time?,
            overrides: &self.overrides,
            bases: Some(self.bases),
            queued_ticks: self.queued_ticks,
            round_trip: self.round_trip,
            sent: self.sent,
            limits,
        })
    }
}

/// Returns the rewind limits of a weapon with a lower limit than the global one.
pub(super) fn limits(weapon: &Weapon, limits: &RewindLimits) -> Option<RewindLimits> {
    let own = weapon.max_rewind.and_then(|seconds| Duration::try_from_secs_f32(seconds).ok())?;
    (own < limits.max_age).then_some(RewindLimits { max_age: own, ..*limits })
}

impl ValidationClock<'_> {
    /// Returns the tick in which a move arrived that has been queued for `queued_ticks` ticks.
    pub fn arrived(&self, queued_ticks: u32) -> Tick {
        self.tick.0.offset(-(queued_ticks.min(1_000).cast_signed()))
    }

    /// Returns the tick length in seconds.
    pub fn dt(&self) -> f32 {
        self.sampler.tick_seconds
    }

    /// Returns the time from a view time to the server's tick; `None` for the present.
    pub fn age(&self, time: Option<ViewTime>) -> Option<Duration> {
        let ticks = -time?.ticks_since(self.tick.0);
        Duration::try_from_secs_f32(ticks.max(0.0) * self.dt()).ok()
    }
}

impl ShooterItem<'_, '_> {
    /// Returns the lengths of the frames in which two moves were produced, in seconds; unlimited for trusted
    /// shooters.
    pub fn frame_lengths(&self, moves: [Tick; 2], clocks: &ValidationClock) -> [f32; 2] {
        let frame = |own| {
            self.validator.as_ref().map_or(1e3, |validator| validator.frame(own, &clocks.config, clocks.dt()))
        };
        moves.map(frame)
    }

    /// Returns for how many ticks after its death a shooter may be unaware of it: the configured limit,
    /// reduced to little more than the round trip where that is known.
    pub fn death_grace_ticks(&self, rules: &FireRules, clocks: &ValidationClock) -> i32 {
        let ticks = |time: Duration| time.as_secs_f32() / clocks.dt().max(1e-6);
        let unaware = |trip: &RoundTrip| ticks(trip.rtt + DEATH_NOTICE_SLACK).ceil() as i32;
        let window = ticks(rules.trade_window).round() as i32;
        window.min(self.round_trip.map_or(i32::MAX, unaware))
    }

    /// Validates the view time of a shot. `flies` is set for projectiles, which continue from there.
    ///
    /// # Errors
    /// [`ShotRefusal::View`] if the view is implausible and the rules refuse such shots.
    pub fn admit<M: bevy_unlag_core::MoveModel>(
        &mut self,
        step: &StepEvent<WithWeapons<M>>,
        (seen, flies): (&ShooterView, bool),
        rules: &FireRules,
        clocks: &ValidationClock,
    ) -> Result<ValidatedView<'_>, ShotRefusal> {
        let seconds = clocks.dt();
        let arrived = clocks.arrived(step.queued_ticks);
        let mut admitted = ValidatedView {
            time: seen.time,
            moved: false,
            // Hosts and bots see the present.
            blind: seen.time.is_none() && self.validator.is_some(),
            bases: seen.bases.unwrap_or(ViewTime::at(step.tick)),
            overrides: ValidatedOverrides::all(seen.overrides()),
            queued_ticks: step.queued_ticks,
            round_trip: self.round_trip.map(|trip| trip.rtt),
            sent: self.sent,
        };
        let Some(claimed) = seen.time else {
            if flies && admitted.blind {
                // The projectile hits pawns that the screen shows later, so it gets the most likely view
                // time, never the present.
                let trip = admitted.round_trip.unwrap_or(clocks.config.assumed_rtt);
                admitted.time = RewindTimeSource::RoundTrip.estimate(arrived, Some(trip), seconds);
                (admitted.blind, admitted.moved) = (false, true);
            }
            return Ok(admitted);
        };
        if let Some(time) = rules.stamp.estimate(arrived, admitted.round_trip, seconds) {
            (admitted.time, admitted.sent) = (Some(time), None);
            admitted.overrides = default();
            return Ok(admitted);
        }
        let sent = self.sent;
        if let Some(validator) = self.validator.as_deref_mut() {
            admitted.bases = validator.validate_base_time(step.tick, seen.bases, &clocks.config, seconds);
            let claim = ViewClaim {
                time: claimed,
                shooter_tick: step.tick,
                arrived,
                last_received_snapshot: step.last_received_snapshot,
                rtt: self.round_trip.map(|trip| trip.min_rtt),
                interval: sent.map_or(0, SentSnapshots::interval),
                interval_spread: sent.map_or(0, SentSnapshots::interval_spread),
                late: sent.map_or(0, SentSnapshots::late),
                left_out: sent
                    .is_some_and(|sent| sent.was_over_budget_since(arrived.offset(-OMITTED_SNAPSHOT_MEMORY))),
                tick_seconds: seconds,
            };
            let validated = validator.validate(&claim, &clocks.config);
            if validated.refused {
                return Err(ShotRefusal::View);
            }
            (admitted.time, admitted.moved) = (Some(validated.time), validated.error.is_some());
            let claim = ViewClaim { time: validated.time, ..claim };
            // Snapshot pairs of one view time are meaningless at another one.
            let named = if admitted.moved { &[] } else { seen.overrides() };
            admitted.overrides =
                validator.validate_overrides((&claim, &clocks.config), (named, MAX_OVERRIDES), sent);
        }
        Ok(admitted)
    }
}

//! Validation of a shot's view time.

use core::time::Duration;

use bevy::{ecs::query::QueryData, prelude::*};
use bevy_unlag_core::{CurrentTick, RoundTrip, Sampler, StepEvent, Tick, ViewTime};
use bevy_unlag_rewind::{
    BelievedOverrides, RewindLimits, StampSource, View, ViewClaim, ViewLedger, ViewTrust,
};
use bevy_unlag_smoothing::SentLog;

use crate::{Armed, FireRules, MAX_OVERRIDES, ShotRefusal, Sight, Weapon};

/// Additional time beyond the round trip until a client's moves reflect the death of its pawn: frames,
/// buffers and lost packets.
const LEARNS: Duration = Duration::from_millis(250);
/// Ticks for which a pawn that was left out of a client's snapshots still affects its playout: about a
/// second.
const LEFT_OUT: i32 = 64;

/// The server's knowledge of a shooter's screen. Hosts and bots have none of these components and are
/// trusted.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Shooter {
    sent: Option<&'static SentLog>,
    ledger: Option<&'static mut ViewLedger>,
    round_trip: Option<&'static RoundTrip>,
}

/// Resources for the validation of view times.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Clocks<'w> {
    tick: Res<'w, CurrentTick>,
    sampler: Res<'w, Sampler>,
    trust: Res<'w, ViewTrust>,
}

/// A validated view, and whether its time differs from the claimed one.
pub(crate) struct Admitted<'a> {
    /// View time; `None` for the present.
    time: Option<ViewTime>,
    pub moved: bool,
    /// Whether the shot claims that its screen showed no pawns, so that it cannot hit any.
    pub blind: bool,
    bases: ViewTime,
    overrides: BelievedOverrides,
    waited: u32,
    round_trip: Option<Duration>,
    sent: Option<&'a SentLog>,
}

impl Admitted<'_> {
    /// Returns the view to rewind to; `None` for the present.
    pub fn view<'v>(&'v self, limits: Option<&'v RewindLimits>) -> Option<View<'v>> {
        Some(View {
            time: self.time?,
            overrides: &self.overrides,
            bases: Some(self.bases),
            waited: self.waited,
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

impl Clocks<'_> {
    /// Returns the tick in which a move arrived that has been queued for `waited` ticks.
    pub fn arrived(&self, waited: u32) -> Tick {
        self.tick.0.offset(-(waited.min(1_000).cast_signed()))
    }

    /// Returns the tick length in seconds.
    pub fn dt(&self) -> f32 {
        self.sampler.tick_seconds
    }
}

impl ShooterItem<'_, '_> {
    /// Returns the lengths of the frames in which two moves were produced, in seconds; unlimited for trusted
    /// shooters.
    pub fn frames(&self, moves: [Tick; 2], clocks: &Clocks) -> [f32; 2] {
        let frame =
            |own| self.ledger.as_ref().map_or(1e3, |ledger| ledger.frame(own, &clocks.trust, clocks.dt()));
        moves.map(frame)
    }

    /// Returns for how many ticks after its death a shooter may be unaware of it: the configured limit,
    /// reduced to little more than the round trip where that is known.
    pub fn unaware(&self, rules: &FireRules, clocks: &Clocks) -> i32 {
        let ticks =
            |trip: &RoundTrip| ((trip.rtt + LEARNS).as_secs_f32() / clocks.dt().max(1e-6)).ceil() as i32;
        rules.trade_ticks.min(self.round_trip.map_or(i32::MAX, ticks))
    }

    /// Validates the view time of a shot. `flies` is set for projectiles, which continue from there.
    ///
    /// # Errors
    /// [`ShotRefusal::View`] if the view is implausible and the rules refuse such shots.
    pub fn admit<M: bevy_unlag_core::MoveModel>(
        &mut self,
        step: &StepEvent<Armed<M>>,
        (seen, flies): (&Sight, bool),
        rules: &FireRules,
        clocks: &Clocks,
    ) -> Result<Admitted<'_>, ShotRefusal> {
        let seconds = clocks.dt();
        let arrived = clocks.arrived(step.waited);
        let mut admitted = Admitted {
            time: seen.time,
            moved: false,
            // Hosts and bots see the present.
            blind: seen.time.is_none() && self.ledger.is_some(),
            bases: seen.bases.unwrap_or(ViewTime::at(step.tick)),
            overrides: BelievedOverrides::all(seen.overrides()),
            waited: step.waited,
            round_trip: self.round_trip.map(|trip| trip.rtt),
            sent: self.sent,
        };
        let Some(claimed) = seen.time else {
            if flies && admitted.blind {
                // The projectile hits pawns that the screen shows later, so it gets the most likely view
                // time, never the present.
                let trip = admitted.round_trip.unwrap_or(clocks.trust.assumed_rtt);
                admitted.time = StampSource::RoundTrip.estimate(arrived, Some(trip), seconds);
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
        if let Some(ledger) = self.ledger.as_deref_mut() {
            admitted.bases = ledger.admit_bases(step.tick, seen.bases, &clocks.trust, seconds);
            let claim = ViewClaim {
                time: claimed,
                own: step.tick,
                arrived,
                heard: step.heard,
                rtt: self.round_trip.map(|trip| trip.least),
                interval: sent.map_or(0, SentLog::interval),
                mixed: sent.map_or(0, SentLog::mixed),
                late: sent.map_or(0, SentLog::late),
                left_out: sent.is_some_and(|sent| sent.was_short_since(arrived.offset(-LEFT_OUT))),
                tick_seconds: seconds,
            };
            let judged = ledger.admit(&claim, &clocks.trust);
            if judged.refused {
                return Err(ShotRefusal::View);
            }
            (admitted.time, admitted.moved) = (Some(judged.time), judged.fault.is_some());
            let claim = ViewClaim { time: judged.time, ..claim };
            // Snapshot pairs of one view time are meaningless at another one.
            let named = if admitted.moved { &[] } else { seen.overrides() };
            admitted.overrides =
                ledger.admit_overrides((&claim, &clocks.trust), (named, MAX_OVERRIDES), sent);
        }
        Ok(admitted)
    }
}

//! When a shot's screen was, as far as the server believes it.

use core::time::Duration;

use bevy::{ecs::query::QueryData, prelude::*};
use bevy_unlag_core::{CurrentTick, RoundTrip, SUB_TICKS, Sampler, StepEvent, Tick, ViewTime};
use bevy_unlag_rewind::{RewindLimits, SentLog, View, ViewClaim, ViewLedger, ViewTrust};

use crate::{Armed, FireRules, ShotRefusal, Sight, Weapon};

/// Ticks before a move in which its shooter may have seen movement bases: a quarter of a second at 64
/// Hz, a frame of a very slow machine.
const MAX_BASE_LAG: i64 = 16;
/// Ticks in which somebody left out of what a client was sent still matters to its playout: a second.
const LEFT_OUT: i32 = 64;

/// What the server itself knows of a shooter's screen. A host and a bot have none of it, and are believed.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Shooter {
    sent: Option<&'static SentLog>,
    ledger: Option<&'static mut ViewLedger>,
    round_trip: Option<&'static RoundTrip>,
}

/// What judging a moment needs.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Clocks<'w> {
    tick: Res<'w, CurrentTick>,
    sampler: Res<'w, Sampler>,
    trust: Res<'w, ViewTrust>,
}

/// The view that a shot is judged at, and whether that is another one than it says.
pub(crate) struct Admitted<'a> {
    /// `None` for the present.
    time: Option<ViewTime>,
    pub moved: bool,
    /// Whether it is the server's own idea of the moment.
    estimated: bool,
    /// Whether it says that its screen showed nobody: then it hits nobody.
    pub blind: bool,
    bases: ViewTime,
    waited: u32,
    round_trip: Option<Duration>,
    sent: Option<&'a SentLog>,
}

impl Admitted<'_> {
    /// `None` for the present.
    pub fn view<'v>(&'v self, seen: &'v Sight, limits: Option<&'v RewindLimits>) -> Option<View<'v>> {
        // Pairs that were drawn at one moment say nothing about another.
        let overrides = if self.moved || self.estimated { &[] } else { seen.overrides() };
        Some(View {
            time: self.time?,
            overrides,
            bases: Some(self.bases),
            waited: self.waited,
            round_trip: self.round_trip,
            sent: self.sent,
            limits,
        })
    }
}

/// The limits of a weapon that honours less than others do.
pub(super) fn limits(weapon: &Weapon, limits: &RewindLimits) -> Option<RewindLimits> {
    let own = weapon.max_rewind.and_then(|seconds| Duration::try_from_secs_f32(seconds).ok())?;
    (own < limits.max_age).then(|| RewindLimits { max_age: own, ..*limits })
}

impl Clocks<'_> {
    /// The tick in which a move came that has waited for so many.
    pub fn arrived(&self, waited: u32) -> Tick {
        self.tick.0.offset(-(waited.min(1_000).cast_signed()))
    }

    /// Seconds in a tick.
    pub fn dt(&self) -> f32 {
        self.sampler.tick_seconds
    }
}

impl ShooterItem<'_, '_> {
    /// How many ticks the frames of a client are long; 0 for whoever is believed.
    pub fn frame(&self) -> u8 {
        self.ledger.as_ref().map_or(u8::MAX, |ledger| ledger.frame_ticks())
    }

    /// # Errors
    /// When such shots do not count.
    pub fn admit<M: bevy_unlag_core::MoveModel>(
        &mut self,
        step: &StepEvent<Armed<M>>,
        seen: &Sight,
        rules: &FireRules,
        clocks: &Clocks,
    ) -> Result<Admitted<'_>, ShotRefusal> {
        let seconds = clocks.dt();
        let arrived = clocks.arrived(step.waited);
        let mut admitted = Admitted {
            time: seen.time,
            moved: false,
            estimated: false,
            // A host and a bot see the present.
            blind: seen.time.is_none() && self.ledger.is_some(),
            bases: bases(seen, step.tick),
            waited: step.waited,
            round_trip: self.round_trip.map(|trip| trip.rtt),
            sent: self.sent,
        };
        let Some(claimed) = seen.time else { return Ok(admitted) };
        if let Some(time) = rules.stamp.estimate(arrived, admitted.round_trip, seconds) {
            (admitted.time, admitted.estimated, admitted.sent) = (Some(time), true, None);
            return Ok(admitted);
        }
        let sent = self.sent;
        if let Some(ledger) = self.ledger.as_deref_mut() {
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
        }
        Ok(admitted)
    }
}

/// What a screen showed lies a few frames before the move, whatever a client says.
fn bases(seen: &Sight, own: Tick) -> ViewTime {
    let bases = ViewTime::at(own);
    seen.bases.map_or(bases, |claimed| {
        let lag = bases.since(claimed).clamp(0, MAX_BASE_LAG * SUB_TICKS);
        bases.later(-lag)
    })
}

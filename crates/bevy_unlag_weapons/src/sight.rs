//! When a round's screen was, as far as the server believes it.

use core::time::Duration;

use bevy::{ecs::query::QueryData, prelude::*};
use bevy_unlag_core::{CurrentTick, RoundTrip, SUB_TICKS, Sampler, StepEvent, Tick, ViewTime};
use bevy_unlag_rewind::{SentLog, View, ViewClaim, ViewLedger, ViewTrust};

use crate::{Armed, FireInput, RifleConfig, ShotRefusal};

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

/// The view that a round is judged at, and whether that is another one than it says.
pub(crate) struct Sight<'a> {
    /// `None` for the present.
    pub view: Option<View<'a>>,
    pub moved: bool,
}

impl ShooterItem<'_, '_> {
    /// # Errors
    /// When such shots do not count.
    pub fn sight<'a, M: bevy_unlag_core::MoveModel>(
        &'a mut self,
        step: &StepEvent<Armed<M>>,
        fire: &'a FireInput,
        config: &RifleConfig,
        clocks: &Clocks,
    ) -> Result<Sight<'a>, ShotRefusal> {
        let Some(claimed) = fire.time else { return Ok(Sight { view: None, moved: false }) };
        let seconds = clocks.sampler.tick_seconds;
        let arrived = clocks.tick.0.offset(-(step.waited.min(1_000).cast_signed()));
        let view = |time: ViewTime, round_trip: Option<&RoundTrip>| View {
            bases: Some(bases(fire, step.tick)),
            waited: step.waited,
            round_trip: round_trip.map(|trip| trip.rtt),
            ..View::from(time)
        };
        let round_trip = self.round_trip;
        if let Some(time) = config.stamp.estimate(arrived, round_trip.map(|trip| trip.rtt), seconds) {
            return Ok(Sight { view: Some(view(time, round_trip)), moved: false });
        }
        let least: Option<Duration> = round_trip.map(|trip| trip.least);
        let sent = self.sent;
        let (time, moved) = match self.ledger.as_deref_mut() {
            None => (claimed, false),
            Some(ledger) => {
                let claim = ViewClaim {
                    time: claimed,
                    own: step.tick,
                    arrived,
                    heard: step.heard,
                    rtt: least,
                    interval: sent.map_or(0, SentLog::interval),
                    mixed: sent.map_or(0, SentLog::mixed),
                    late: sent.map_or(0, SentLog::late),
                    left_out: sent.is_some_and(|sent| sent.was_short_since(arrived.offset(-LEFT_OUT))),
                    tick_seconds: seconds,
                };
                let admitted = ledger.admit(&claim, &clocks.trust);
                if admitted.refused {
                    return Err(ShotRefusal::View);
                }
                (admitted.time, admitted.fault.is_some())
            }
        };
        // Pairs that were drawn at one moment say nothing about another.
        let overrides = if moved { &[] } else { fire.overrides() };
        Ok(Sight { view: Some(View { overrides, sent, ..view(time, round_trip) }), moved })
    }
}

/// What a screen showed lies a few frames before the move, whatever a client says.
fn bases(fire: &FireInput, own: Tick) -> ViewTime {
    let bases = ViewTime::at(own);
    fire.bases.map_or(bases, |claimed| {
        let lag = bases.since(claimed).clamp(0, MAX_BASE_LAG * SUB_TICKS);
        bases.later(-lag)
    })
}

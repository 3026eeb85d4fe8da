//! Timeline for developers: what became of each tick of the own pawn, from its prediction to the server's answer.
//!
//! * [`Timeline`] on a client: the last ticks, in bounded memory.
//! * [`TraceWriter`] writes them, and recordings ([`write_recording`]), as Chrome's trace JSON, which
//!   `ui.perfetto.dev` and `chrome://tracing` open.

mod clients;
mod first_difference;
mod recorded;
mod trace_writer;

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag::{
    core::{DrawnViewTime, MovesAcknowledged, Tick, ViewTime},
    prediction::Correction,
    prelude::*,
    weapons::ShotResult,
};

pub use clients::{TimelineClock, write_client};
pub use first_difference::first_difference;
pub use recorded::write_recording;
pub use trace_writer::TraceWriter;

/// Correction of a tick.
#[derive(Clone, PartialEq, Debug)]
pub struct TimelineCorrection {
    /// Time of the app at which it arrived, in seconds.
    pub at: f64,
    /// Cause.
    pub cause: String,
    /// Distance in metres between the two results.
    pub error: f32,
    /// Number of moves that were replayed.
    pub replayed: u32,
    /// First field of the state that differs, with both values.
    pub field: String,
}

/// Events of one tick of the own pawn. Times are those of the app, in seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimelineTick {
    /// Tick of the move.
    pub tick: Tick,
    /// When the move was predicted.
    pub predicted: f64,
    /// When the first packet with the move was sent.
    pub sent: Option<f64>,
    /// When the server's answer arrived.
    pub answered: Option<f64>,
    /// Whether the move never ran on the server with its input: it was lost, or too late.
    pub is_lost: bool,
    /// Correction, if the server had another result.
    pub correction: Option<TimelineCorrection>,
    /// View time of other pawns in the last frame of the tick.
    pub drawn: Option<ViewTime>,
    /// Verdict on a shot of the tick, and when it arrived.
    pub judged: Option<(f64, ShotResult)>,
}

/// The last ticks of the own pawn, oldest first.
#[derive(Resource, Clone, Debug)]
pub struct Timeline {
    most: usize,
    ticks: VecDeque<TimelineTick>,
    packets: u64,
}

impl Timeline {
    /// Creates a timeline of at most so many ticks.
    #[must_use]
    pub fn of(most: usize) -> Self {
        Self { most: most.max(1), ticks: VecDeque::new(), packets: 0 }
    }

    /// Returns the ticks, oldest first.
    pub fn ticks(&self) -> impl DoubleEndedIterator<Item = &TimelineTick> + ExactSizeIterator {
        self.ticks.iter()
    }

    fn push(&mut self, tick: Tick, now: f64) {
        // A new count of ticks, as after a reconnection.
        if self.ticks.back().is_some_and(|last| !tick.is_newer_than(last.tick)) {
            if self.ticks.back().is_some_and(|last| last.tick == tick) {
                return;
            }
            self.ticks.clear();
        }
        if self.ticks.len() == self.most {
            self.ticks.pop_front();
        }
        self.ticks.push_back(TimelineTick { tick, predicted: now, ..default() });
    }

    fn get(&mut self, tick: Tick) -> Option<&mut TimelineTick> {
        let at = self.ticks.binary_search_by(|known| known.tick.since(tick).cmp(&0)).ok()?;
        self.ticks.get_mut(at)
    }

    fn send(&mut self, packets: u64, now: f64) {
        if core::mem::replace(&mut self.packets, packets) < packets {
            let unsent = self.ticks.iter_mut().rev().take_while(|known| known.sent.is_none());
            unsent.for_each(|known| known.sent = Some(now));
        }
    }

    fn answer(&mut self, answer: &MovesAcknowledged, now: f64) {
        if let Some(acked) = answer.acked {
            let older = self.ticks.iter_mut().rev().skip_while(|known| known.tick.is_newer_than(acked));
            older.take_while(|known| known.answered.is_none()).for_each(|known| known.answered = Some(now));
        }
        let Some(ran) = answer.ran else { return };
        for before in (0..64).filter(|before| answer.missed >> before & 1 == 1) {
            if let Some(known) = self.get(ran.offset(-before)) {
                known.is_lost = true;
            }
        }
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self::of(1_024)
    }
}

/// Keeps a [`Timeline`] of the own pawn of the model `M`, on a client. Add it once for each model.
pub fn plugin<M: MoveModel>(app: &mut App) {
    app.init_resource::<Timeline>()
        .add_systems(FixedLast, predict::<M>)
        .add_systems(PostUpdate, (answer, correct::<M>, judge, send).chain())
        .add_systems(Last, draw);
}

fn predict<M: MoveModel>(
    (tick, time): (Res<CurrentTick>, Res<Time<Real>>),
    own: Query<(), (With<LocalControl>, With<M::State>)>,
    mut timeline: ResMut<Timeline>,
) {
    if !own.is_empty() {
        timeline.push(tick.0, time.elapsed_secs_f64());
    }
}

fn send(
    time: Res<Time<Real>>,
    own: Query<&PredictionStats, With<LocalControl>>,
    mut timeline: ResMut<Timeline>,
) {
    if let Ok(stats) = own.single() {
        timeline.send(stats.packets, time.elapsed_secs_f64());
    }
}

fn answer(
    time: Res<Time<Real>>,
    answers: Option<MessageReader<MovesAcknowledged>>,
    mut timeline: ResMut<Timeline>,
) {
    let Some(mut answers) = answers else { return };
    answers.read().for_each(|answer| timeline.answer(answer, time.elapsed_secs_f64()));
}

fn correct<M: MoveModel>(
    time: Res<Time<Real>>,
    corrections: Option<MessageReader<Correction<M>>>,
    mut timeline: ResMut<Timeline>,
) {
    let Some(mut corrections) = corrections else { return };
    for found in corrections.read() {
        let field = found.client.as_ref().and_then(|client| first_difference(client, &found.server));
        if let Some(known) = timeline.get(found.tick) {
            known.correction = Some(TimelineCorrection {
                at: time.elapsed_secs_f64(),
                cause: found.cause.to_string(),
                error: found.error,
                replayed: found.replayed,
                field: field.unwrap_or_default(),
            });
        }
    }
}

fn judge(
    time: Res<Time<Real>>,
    verdicts: Option<MessageReader<ShotVerdict>>,
    mut timeline: ResMut<Timeline>,
) {
    let Some(mut verdicts) = verdicts else { return };
    for verdict in verdicts.read() {
        if let Some(known) = timeline.get(verdict.shot) {
            known.judged = Some((time.elapsed_secs_f64(), verdict.result));
        }
    }
}

fn draw(drawn: Option<Res<DrawnViewTime>>, mut timeline: ResMut<Timeline>) {
    if let Some(last) = timeline.ticks.back_mut() {
        last.drawn = drawn.and_then(|drawn| drawn.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acknowledged(acked: u32, missed: u64) -> MovesAcknowledged {
        let tick = Some(Tick(acked));
        MovesAcknowledged { entity: Entity::PLACEHOLDER, acked: tick, ran: tick, missed }
    }

    #[test]
    fn tick_is_predicted_sent_and_answered_or_lost() {
        let mut timeline = Timeline::of(8);
        for tick in 0..6 {
            timeline.push(Tick(tick), f64::from(tick));
            timeline.send(u64::from(tick / 2), f64::from(tick));
        }
        timeline.answer(&acknowledged(3, 0b10), 9.0);
        let sent: Vec<_> = timeline.ticks().map(|tick| tick.sent).collect();
        assert_eq!(sent, [Some(2.0), Some(2.0), Some(2.0), Some(4.0), Some(4.0), None]);
        let answered: Vec<_> = timeline.ticks().map(|tick| tick.answered.is_some()).collect();
        assert_eq!(answered, [true, true, true, true, false, false]);
        let lost: Vec<_> = timeline.ticks().filter(|tick| tick.is_lost).map(|tick| tick.tick.0).collect();
        assert_eq!(lost, [2]);
    }

    #[test]
    fn timeline_is_bounded_and_starts_anew_with_the_count_of_ticks() {
        let mut timeline = Timeline::of(4);
        (u32::MAX - 8..=u32::MAX).chain(0..9).for_each(|tick| timeline.push(Tick(tick), 0.0));
        assert_eq!(timeline.ticks().map(|tick| tick.tick.0).collect::<Vec<_>>(), [5, 6, 7, 8]);
        assert!(timeline.get(Tick(6)).is_some() && timeline.get(Tick(4)).is_none());
        timeline.push(Tick(2), 1.0);
        assert_eq!(timeline.ticks().len(), 1);
    }
}

//! Bevy diagnostics of prediction, for logs, overlays and a game's own graphs.

use core::{marker::PhantomData, time::Duration};
use std::collections::VecDeque;

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    ecs::entity::EntityHashMap,
    prelude::*,
};
use bevy_unlag_core::MoveModel;

use crate::{cause::CorrectionCause, move_queue::MoveQueue, saved_moves::SavedMoves, stats::PredictionStats};

/// Publishes the [`PredictionStats`] of the pawns of the model `M` as Bevy diagnostics. On a client it
/// measures the own pawn. On a server it sums the counters of all pawns and takes the worst value of each
/// gauge. A diagnostic that does not apply has no value.
///
/// Rates cover the last minute and are updated once per second.
pub struct MovePredictionDiagnosticsPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(MovePredictionDiagnosticsPlugin<M>);

impl<M> MovePredictionDiagnosticsPlugin<M> {
    /// Corrections in the last minute: on a client those that count, on a server the acknowledgements with
    /// a correction. The initial state of a pawn does not count. [`corrections_of`](Self::corrections_of)
    /// has them by cause.
    pub const CORRECTIONS: DiagnosticPath = DiagnosticPath::const_new("unlag/corrections_per_minute");
    /// Client: number of moves in the last replay.
    pub const REPLAY_MOVES: DiagnosticPath = DiagnosticPath::const_new("unlag/replay_moves");
    /// Client: duration of the last replay, in milliseconds.
    pub const REPLAY_TIME: DiagnosticPath = DiagnosticPath::const_new("unlag/replay_time");
    /// Client: number of unacknowledged moves.
    pub const UNACKNOWLEDGED_MOVES: DiagnosticPath = DiagnosticPath::const_new("unlag/unacknowledged_moves");
    /// Client: round trip, in milliseconds.
    pub const ROUND_TRIP: DiagnosticPath = DiagnosticPath::const_new("unlag/round_trip");
    /// Server: ticks from a move's own tick to the server tick in which it is due, largest value of all
    /// pawns.
    pub const INPUT_MARGIN: DiagnosticPath = DiagnosticPath::const_new("unlag/input_margin");
    /// Server: moves in the last minute that were missing, so that the pawn was extrapolated.
    pub const EXTRAPOLATED_MOVES: DiagnosticPath =
        DiagnosticPath::const_new("unlag/extrapolated_moves_per_minute");
    /// Server: moves in the last minute that were not run because their client's clock was too fast.
    pub const WITHHELD: DiagnosticPath = DiagnosticPath::const_new("unlag/withheld_per_minute");
    /// Server: packet loss on the uplink in percent, largest value of all pawns.
    pub const LOSS: DiagnosticPath = DiagnosticPath::const_new("unlag/loss");

    /// Returns the path of the [`CORRECTIONS`](Self::CORRECTIONS) of one cause, such as
    /// `unlag/corrections_per_minute/missing_moves`.
    #[must_use]
    pub fn corrections_of(cause: CorrectionCause) -> DiagnosticPath {
        let name = cause.name().replace(' ', "_");
        DiagnosticPath::from_components(["unlag", "corrections_per_minute", &name])
    }
}

impl<M: MoveModel> Plugin for MovePredictionDiagnosticsPlugin<M> {
    fn build(&self, app: &mut App) {
        for (path, suffix) in [
            (Self::CORRECTIONS, ""),
            (Self::REPLAY_MOVES, ""),
            (Self::REPLAY_TIME, " ms"),
            (Self::UNACKNOWLEDGED_MOVES, ""),
            (Self::ROUND_TRIP, " ms"),
            (Self::INPUT_MARGIN, " ticks"),
            (Self::EXTRAPOLATED_MOVES, ""),
            (Self::WITHHELD, ""),
            (Self::LOSS, " %"),
        ] {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
        for cause in CorrectionCause::ALL {
            app.register_diagnostic(Diagnostic::new(Self::corrections_of(cause)));
        }
        app.add_systems(Update, (measure_gauges::<M>, measure_counters::<M>));
    }
}

/// Measures the gauges in every frame.
fn measure_gauges<M: MoveModel>(
    own: Query<&PredictionStats, With<SavedMoves<M>>>,
    others: Query<&PredictionStats, With<MoveQueue<M>>>,
    mut diagnostics: Diagnostics,
) {
    type Paths<M> = MovePredictionDiagnosticsPlugin<M>;
    for stats in &own {
        diagnostics
            .add_measurement(&Paths::<M>::UNACKNOWLEDGED_MOVES, || f64::from(stats.unacknowledged_moves));
        if !stats.rtt.is_zero() {
            diagnostics.add_measurement(&Paths::<M>::ROUND_TRIP, || stats.rtt.as_secs_f64() * 1e3);
        }
        if stats.replayed > 0 {
            let time = stats.last_replay_time.as_secs_f64() * 1e3;
            diagnostics.add_measurement(&Paths::<M>::REPLAY_MOVES, || f64::from(stats.last_replay));
            diagnostics.add_measurement(&Paths::<M>::REPLAY_TIME, || time);
        }
    }
    if let Some(margin) = others.iter().map(|stats| stats.delay).max() {
        let loss = others.iter().map(|stats| stats.loss).fold(0.0, f32::max);
        diagnostics.add_measurement(&Paths::<M>::INPUT_MARGIN, || f64::from(margin));
        diagnostics.add_measurement(&Paths::<M>::LOSS, || f64::from(loss) * 100.0);
    }
}

const CAUSES: usize = CorrectionCause::ALL.len();

/// Counters of events.
#[derive(Clone, Copy, Default)]
struct Counts {
    causes: [u64; CAUSES],
    extrapolated_moves: u64,
    withheld: u64,
}

impl Counts {
    fn of(stats: &PredictionStats) -> Self {
        Self {
            causes: stats.by_cause.map(u64::from),
            extrapolated_moves: stats.extrapolated_moves,
            withheld: stats.withheld,
        }
    }

    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            causes: core::array::from_fn(|i| f(self.causes[i], other.causes[i])),
            extrapolated_moves: f(self.extrapolated_moves, other.extrapolated_moves),
            withheld: f(self.withheld, other.withheld),
        }
    }
}

/// Counters of each second of the last minute.
#[derive(Default)]
struct RollingMinute {
    seconds: VecDeque<Counts>,
    began: Duration,
    /// Counters of each pawn at the last sample.
    seen: EntityHashMap<Counts>,
}

impl RollingMinute {
    const SECONDS: usize = 60;

    /// Advances to `now`. Returns whether another second is over.
    fn advance(&mut self, now: Duration) -> bool {
        if self.seconds.is_empty() {
            self.began = now;
            self.seconds.push_back(Counts::default());
        }
        let passed = now.saturating_sub(self.began).as_secs();
        self.began += Duration::from_secs(passed);
        for _ in 0..passed.min(Self::SECONDS as u64) {
            if self.seconds.len() == Self::SECONDS {
                self.seconds.pop_front();
            }
            self.seconds.push_back(Counts::default());
        }
        passed > 0
    }

    fn record(&mut self, pawn: Entity, now: Counts) {
        let before = self.seen.insert(pawn, now).unwrap_or_default();
        if let Some(second) = self.seconds.back_mut() {
            *second = second.zip(now.zip(before, u64::saturating_sub), u64::saturating_add);
        }
    }

    fn sum(&self) -> Counts {
        self.seconds.iter().fold(Counts::default(), |sum, second| sum.zip(*second, u64::saturating_add))
    }
}

/// Measures the events of the last minute, once per second.
fn measure_counters<M: MoveModel>(
    time: Res<Time<Real>>,
    pawns: Query<(Entity, &PredictionStats), Or<(With<SavedMoves<M>>, With<MoveQueue<M>>)>>,
    servers: Query<(), With<MoveQueue<M>>>,
    mut minute: Local<RollingMinute>,
    mut diagnostics: Diagnostics,
) {
    type Paths<M> = MovePredictionDiagnosticsPlugin<M>;
    let over = minute.advance(time.elapsed());
    for (pawn, stats) in &pawns {
        minute.record(pawn, Counts::of(stats));
    }
    if !over {
        return;
    }
    minute.seen.retain(|pawn, _| pawns.contains(*pawn));
    if pawns.is_empty() {
        return;
    }
    let sum = minute.sum();
    for (cause, count) in CorrectionCause::ALL.into_iter().zip(sum.causes) {
        diagnostics.add_measurement(&Paths::<M>::corrections_of(cause), || count as f64);
    }
    let first_states = sum.causes[CorrectionCause::InitialState as usize];
    let corrections = sum.causes.iter().sum::<u64>() - first_states;
    diagnostics.add_measurement(&Paths::<M>::CORRECTIONS, || corrections as f64);
    if !servers.is_empty() {
        diagnostics.add_measurement(&Paths::<M>::EXTRAPOLATED_MOVES, || sum.extrapolated_moves as f64);
        diagnostics.add_measurement(&Paths::<M>::WITHHELD, || sum.withheld as f64);
    }
}

#[cfg(test)]
mod tests {
    use bevy::{diagnostic::DiagnosticsStore, time::TimeUpdateStrategy};

    use super::*;
    use crate::testing::Slider;

    type Tool = MovePredictionDiagnosticsPlugin<Slider>;

    fn app() -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, Tool::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(100)));
        app
    }

    fn run(app: &mut App, seconds: usize) {
        for _ in 0..seconds * 10 {
            app.update();
        }
    }

    fn value(app: &App, path: &DiagnosticPath) -> Option<f64> {
        app.world().resource::<DiagnosticsStore>().get(path).expect("the diagnostic is registered").value()
    }

    fn correct(app: &mut App, pawn: Entity, times: u32, cause: CorrectionCause) {
        let mut stats = app.world_mut().get_mut::<PredictionStats>(pawn).expect("the pawn has stats");
        for _ in 0..times {
            stats.count_correction(0.1, cause);
        }
    }

    #[test]
    fn client_has_the_diagnostics_of_its_own_pawn_and_no_server_ones() {
        let mut app = app();
        let mut stats = PredictionStats::default();
        (stats.replayed, stats.last_replay) = (20, 9);
        stats.last_replay_time = Duration::from_micros(500);
        stats.unacknowledged_moves = 7;
        stats.rtt = Duration::from_millis(80);
        let own = app.world_mut().spawn((SavedMoves::<Slider>::default(), stats)).id();
        run(&mut app, 2);
        assert_eq!(value(&app, &Tool::CORRECTIONS), Some(0.0));
        correct(&mut app, own, 3, CorrectionCause::Terrain);
        correct(&mut app, own, 1, CorrectionCause::MissingMoves);
        run(&mut app, 2);
        assert_eq!(value(&app, &Tool::CORRECTIONS), Some(4.0));
        assert_eq!(value(&app, &Tool::corrections_of(CorrectionCause::Terrain)), Some(3.0));
        assert_eq!(value(&app, &Tool::corrections_of(CorrectionCause::MissingMoves)), Some(1.0));
        assert_eq!(value(&app, &Tool::corrections_of(CorrectionCause::ClientClock)), Some(0.0));
        assert_eq!(value(&app, &Tool::REPLAY_MOVES), Some(9.0));
        assert_eq!(value(&app, &Tool::REPLAY_TIME), Some(0.5));
        assert_eq!(value(&app, &Tool::UNACKNOWLEDGED_MOVES), Some(7.0));
        assert_eq!(value(&app, &Tool::ROUND_TRIP), Some(80.0));
        for path in [Tool::INPUT_MARGIN, Tool::EXTRAPOLATED_MOVES, Tool::WITHHELD, Tool::LOSS] {
            assert_eq!(value(&app, &path), None, "{path}");
        }
    }

    #[test]
    fn server_sums_counters_and_takes_the_worst_gauge_of_all_pawns() {
        let mut app = app();
        for (delay, loss, extrapolated_moves, withheld) in [(2, 0.25, 3, 0), (9, 0.0, 4, 5)] {
            let mut stats = PredictionStats::default();
            (stats.delay, stats.loss) = (delay, loss);
            (stats.extrapolated_moves, stats.withheld) = (extrapolated_moves, withheld);
            let pawn = app.world_mut().spawn((MoveQueue::<Slider>::default(), stats)).id();
            correct(&mut app, pawn, 1, CorrectionCause::InitialState);
            correct(&mut app, pawn, 1, CorrectionCause::OtherPawn);
        }
        run(&mut app, 2);
        assert_eq!(value(&app, &Tool::INPUT_MARGIN), Some(9.0));
        assert_eq!(value(&app, &Tool::LOSS), Some(25.0));
        assert_eq!(value(&app, &Tool::EXTRAPOLATED_MOVES), Some(7.0));
        assert_eq!(value(&app, &Tool::WITHHELD), Some(5.0));
        assert_eq!(value(&app, &Tool::CORRECTIONS), Some(2.0), "an initial state is not a correction");
        for path in [Tool::REPLAY_MOVES, Tool::UNACKNOWLEDGED_MOVES, Tool::ROUND_TRIP] {
            assert_eq!(value(&app, &path), None, "{path}");
        }
    }

    #[test]
    fn corrections_leave_the_rate_after_one_minute() {
        let mut app = app();
        let own = app.world_mut().spawn((SavedMoves::<Slider>::default(), PredictionStats::default())).id();
        run(&mut app, 1);
        correct(&mut app, own, 5, CorrectionCause::Unknown);
        run(&mut app, 50);
        assert_eq!(value(&app, &Tool::CORRECTIONS), Some(5.0));
        run(&mut app, 15);
        assert_eq!(value(&app, &Tool::CORRECTIONS), Some(0.0));
    }

    #[test]
    fn each_diagnostic_has_its_own_path() {
        let mut app = app();
        run(&mut app, 1);
        let paths = app
            .world()
            .resource::<DiagnosticsStore>()
            .iter()
            .filter(|d| d.path().as_str().starts_with("unlag/"));
        assert_eq!(paths.count(), 9 + CAUSES);
    }
}

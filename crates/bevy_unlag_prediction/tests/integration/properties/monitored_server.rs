//! A server with one pawn, and a monitor that checks every tick.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{BitReader, CurrentTick, PublishedState, StepEvent, Tick, Wire};
use bevy_unlag_prediction::{
    AuthorityPawn, IncomingMoves, MoveAck, MoveQueue, OutgoingMoveAcks, PredictionConfig, PredictionPlugin,
    PredictionStats, ScheduledPushes, TimeDiscrepancy,
};

use super::walker::{LONGEST_SHOVE, Mode, Shove, Walker, WalkerConfig, WalkerState};

pub(crate) const TICK: Duration = Duration::from_nanos(15_625_000);
const DT: f64 = 1.0 / 64.0;
/// Maximum number of moves queued on a server.
const MOST_WAITING: usize = 512;
/// Length in seconds of the windows in which the drift allowance is applied.
const DRIFT_WINDOW: f64 = 8.0;
/// Tolerance for sums of floats, in seconds.
const ROUNDING: f64 = 1e-6;

/// Returns an app with the walker.
pub(crate) fn app(now: Tick) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PredictionPlugin::<Walker>::default()))
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(CurrentTick(now))
        .init_resource::<WalkerConfig>();
    app
}

/// Runs one frame of an app with this length.
pub(crate) fn frame(app: &mut App, length: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(length));
    app.update();
}

/// Totals of all ticks, and the first violation.
#[derive(Resource, Debug, Default)]
pub(crate) struct Monitor {
    last: Tick,
    position: Vec3,
    accepted: u64,
    pushed: u32,
    /// Number of pushes requested.
    asked: u32,
    /// Seconds that have passed on the server.
    pub(crate) passed: f64,
    /// Moves that were run, by mode.
    pub(crate) moves: [u64; 3],
    /// Distance in metres of these moves, by mode.
    pub(crate) metres: [f64; 3],
    /// Least and greatest time in seconds by which the moves were ahead. The least excludes what a stall
    /// has cost.
    least_ahead: f64,
    pub(crate) most_ahead: f64,
    /// Seconds of a stall that may still be caught up.
    stalled: f64,
    wrong: Option<String>,
}

impl Monitor {
    /// Checks one tick.
    fn check_tick(
        &mut self,
        (now, passed): (Tick, f64),
        config: &PredictionConfig,
        (place, queue, account, stats, shown): (
            &WalkerState,
            &MoveQueue<Walker>,
            &TimeDiscrepancy,
            &PredictionStats,
            &PublishedState<Walker>,
        ),
        steps: &mut MessageReader<StepEvent<Walker>>,
    ) -> Result<(), String> {
        let margin = f64::from(config.time.max_time_margin);
        let drift = f64::from(config.time.drift_allowance);
        // Clients may catch up on a stall of the server for as long again.
        let stalled = f64::from(now.since(self.last) - 1).max(0.0) * DT;
        self.stalled = (self.stalled - (passed - self.passed - stalled).max(0.0)).max(0.0) + stalled;
        (self.last, self.passed) = (now, passed);

        let mut way = 0.0;
        for step in steps.read() {
            self.moves[step.event.mode as usize] += 1;
            self.metres[step.event.mode as usize] += step.event.metres;
            way += step.event.metres;
        }
        let granted = self.moves.iter().sum::<u64>() as f64 * DT;
        let ahead = granted - self.passed * (1.0 + drift);
        if ahead > margin + ROUNDING {
            return Err(format!("{granted} s of moves in {} s", self.passed));
        }
        // Stalls are counted in whole ticks; the remainder counts in the next one.
        let window = margin - f64::from(config.time.min_time_margin) + drift * DRIFT_WINDOW + DT;
        if ahead - self.least_ahead > window + ROUNDING {
            return Err(format!("{} s gained since it was slowest", ahead - self.least_ahead));
        }
        self.least_ahead = self.least_ahead.min(ahead + self.stalled);
        self.most_ahead = self.most_ahead.max(ahead);
        if account.granted >= margin.max(f64::MIN_POSITIVE) {
            return Err(format!("{} s granted beyond the time that has passed", account.granted));
        }
        for mode in Mode::ALL {
            let metres = self.metres[mode as usize];
            let most = f64::from(mode.top_speed()) * (self.passed * (1.0 + drift) + margin) + 0.001;
            if metres > most {
                return Err(format!("{mode:?}: {metres} m, but at most {most} m are possible"));
            }
        }

        // Only steps, pushes and accepted end positions may move the pawn.
        let pushes = place.pushed.wrapping_sub(self.pushed);
        let accepted = (stats.accepted - self.accepted) as f64;
        way += f64::from(LONGEST_SHOVE) * f64::from(pushes);
        way += f64::from(config.accept_client_position) * accepted;
        let moved = (place.position - self.position).as_dvec3().length();
        if moved > way + 1e-4 {
            return Err(format!("moved {moved} m in one tick by moves of {way} m"));
        }
        if place.pushed > self.asked {
            return Err(format!("pushed {} times, but requested {}", place.pushed, self.asked));
        }
        (self.position, self.pushed, self.accepted) = (place.position, place.pushed, stats.accepted);

        let finite = |place: &WalkerState| place.position.is_finite() && place.velocity.is_finite();
        if !finite(place) || !finite(&shown.state) {
            return Err(format!("{place:?}, published as {:?}", shown.state));
        }
        if queue.queued_moves() > MOST_WAITING {
            return Err(format!("{} moves are queued", queue.queued_moves()));
        }
        Ok(())
    }
}

fn watch(
    tick: Res<CurrentTick>,
    real: Res<Time<Real>>,
    config: Res<PredictionConfig>,
    pawn: Single<(
        &WalkerState,
        &MoveQueue<Walker>,
        &TimeDiscrepancy,
        &PredictionStats,
        &PublishedState<Walker>,
    )>,
    mut steps: MessageReader<StepEvent<Walker>>,
    mut watch: ResMut<Monitor>,
) {
    let seen = watch.check_tick((tick.0, real.elapsed_secs_f64()), &config, *pawn, &mut steps);
    if watch.wrong.is_none()
        && let Err(why) = seen
    {
        watch.wrong = Some(format!("tick {}: {why}", tick.0.0));
    }
}

/// A server with one pawn.
pub(crate) struct Server {
    app: App,
    pawn: Entity,
    /// Epoch of the last acknowledgement, known to any client.
    pub(crate) epoch: u8,
}

impl Server {
    pub(crate) fn new(config: PredictionConfig, now: Tick) -> Self {
        let mut app = app(now);
        app.insert_resource(config)
            .insert_resource(Monitor { last: now, ..default() })
            .add_systems(FixedLast, watch);
        let pawn = app.world_mut().spawn((AuthorityPawn::<Walker>::default(), WalkerState::default()));
        let pawn = pawn.id();
        Self { app, pawn, epoch: 0 }
    }

    fn get<C: Component>(&self) -> &C {
        self.app.world().get(self.pawn).expect("the pawn has it")
    }

    pub(crate) fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    pub(crate) fn place(&self) -> WalkerState {
        *self.get()
    }

    pub(crate) fn stats(&self) -> PredictionStats {
        *self.get()
    }

    pub(crate) fn monitor(&self) -> &Monitor {
        self.app.world().resource()
    }

    pub(crate) fn push(&mut self, by: Vec3) {
        self.app.world_mut().resource_mut::<Monitor>().asked += 1;
        let mut pushes = self.app.world_mut().get_mut::<ScheduledPushes<Walker>>(self.pawn);
        pushes.as_mut().expect("the pawn can be pushed").push(Shove(by));
    }

    pub(crate) fn deliver(&mut self, bytes: Vec<u8>) {
        let mut mailbox = self.app.world_mut().get_mut::<IncomingMoves>(self.pawn);
        mailbox.as_mut().expect("the pawn has a mailbox").deliver(bytes);
    }

    /// Runs one frame. Returns the acknowledgements, or the first violation.
    pub(crate) fn frame(&mut self, length: Duration) -> Result<Vec<Vec<u8>>, String> {
        frame(&mut self.app, length);
        if let Some(wrong) = &self.monitor().wrong {
            return Err(wrong.clone());
        }
        let mut mailbox = self.app.world_mut().get_mut::<OutgoingMoveAcks>(self.pawn);
        let answers = core::mem::take(&mut mailbox.as_mut().expect("the pawn has a mailbox").0);
        for bytes in &answers {
            let answer = MoveAck::<WalkerState, Shove>::read(&mut BitReader::new(bytes));
            self.epoch = answer.map_err(|why| format!("an acknowledgement of the server: {why}"))?.epoch;
        }
        Ok(answers)
    }
}

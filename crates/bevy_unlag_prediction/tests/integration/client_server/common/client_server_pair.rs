//! A client and a server, each with its own frames and clock, at the ends of a pipe.

use core::time::Duration;

use bevy::{
    ecs::{component::Mutable, schedule::SingleThreadedExecutor},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_unlag_core::{
    BitWriter, CurrentTick, GameClock, MoveInput, MoveSystems, PublishedState, Tick, Wire,
};
use bevy_unlag_prediction::{
    AuthorityPawn, AutonomousPawn, ClockSteering, CorrectionCause, IncomingMoveAcks, IncomingMoves,
    MoveTrace, OutgoingMoveAcks, OutgoingMoves, PredictionConfig, PredictionPlugin, PredictionStats,
    ScheduledPushes, TimeDiscrepancy,
};

use super::{LinkDirection, LinkProfile, Log, MessageLog, TICK, TestModel, Walker, log::RecordedMove};

/// Scripted input by ticks since the start.
#[derive(Resource)]
struct Script<M: TestModel> {
    began: Tick,
    wanted: Box<dyn Fn(u32) -> M::Input + Send + Sync>,
}

/// Client or server app.
pub struct Side {
    pub app: App,
    pub pawn: Entity,
    /// Duration of its frames.
    pub frame: Duration,
    /// Speed of its clock.
    pub clock: f64,
    /// End of its next frame.
    next: Duration,
}

/// Both apps and the pipe between them.
pub struct Pair<M: TestModel = Walker> {
    pub client: Side,
    pub server: Side,
    pub up: LinkDirection,
    pub down: LinkDirection,
    /// Whether the client follows its [`ClockSteering`]; a cheat does not.
    pub steers: bool,
    pub now: Duration,
    pub log: Log,
    /// All messages sent in both directions, if recording is on.
    pub sent: Option<(Vec<Vec<u8>>, Vec<Vec<u8>>)>,
    /// Change that a cheat makes to its packets.
    pub forge: Option<fn(&mut Vec<u8>)>,
    model: core::marker::PhantomData<fn() -> M>,
}

impl Side {
    fn new(app: App, pawn: Entity, phase: f64) -> Self {
        let next = TICK + Duration::from_secs_f64(phase);
        Self { app, pawn, frame: TICK, clock: 1.0, next }
    }

    /// Makes the next frame longer by these seconds.
    pub fn hitch(&mut self, seconds: f64) {
        self.next += Duration::from_secs_f64(seconds);
    }

    pub fn get<C: Component>(&self) -> &C {
        self.app.world().get(self.pawn).expect("the pawn has it")
    }

    pub fn edit<C: Component<Mutability = Mutable>>(&mut self) -> Mut<'_, C> {
        self.app.world_mut().get_mut(self.pawn).expect("the pawn has it")
    }

    pub fn res<R: Resource>(&self) -> &R {
        self.app.world().resource()
    }

    pub fn res_mut<R: Resource<Mutability = Mutable>>(&mut self) -> Mut<'_, R> {
        self.app.world_mut().resource_mut()
    }

    pub fn stats(&self) -> PredictionStats {
        *self.get()
    }

    /// Sets the speed of the game on this side.
    pub fn set_game_speed(&mut self, speed: f64) {
        self.res_mut::<GameClock>().set_speed(speed);
        self.res_mut::<Time<Virtual>>().set_relative_speed_f64(speed);
    }

    pub fn tick(&self) -> Tick {
        self.res::<CurrentTick>().0
    }
}

impl Pair {
    /// Returns a pair with a walker in a world that starts at tick 0.
    pub fn new(seed: u64, profile: LinkProfile) -> Self {
        Self::of(Tick(0), seed, profile)
    }

    pub fn mine(&self) -> super::WalkerState {
        *self.client.get()
    }

    pub fn theirs(&self) -> super::WalkerState {
        *self.server.get()
    }
}

impl<M: TestModel> Pair<M> {
    /// Returns a pair in a world that starts at `began`, with equal links in both directions.
    pub fn of(began: Tick, seed: u64, profile: LinkProfile) -> Self {
        let (mut client, mut server) = (app::<M>(began), app::<M>(began));
        client
            .add_systems(FixedUpdate, play::<M>.in_set(MoveSystems::Sample))
            .insert_resource(Script::<M> { began, wanted: Box::new(|_| M::Input::default()) });
        let own = (AutonomousPawn::<M>::default(), MoveTrace::default());
        let own = client.world_mut().spawn(own).id();
        let pawn = (AuthorityPawn::<M>::default(), M::start(), MoveTrace::default());
        let pawn = server.world_mut().spawn(pawn).id();
        Self {
            client: Side::new(client, own, 0.004),
            server: Side::new(server, pawn, 0.0),
            up: LinkDirection::new(seed, profile),
            down: LinkDirection::new(seed ^ 0xabcdef, profile),
            steers: true,
            now: Duration::ZERO,
            log: Log::default(),
            sent: None,
            forge: None,
            model: core::marker::PhantomData,
        }
    }

    /// Changes the configuration of both sides.
    pub fn tuned(mut self, tune: impl Fn(&mut PredictionConfig)) -> Self {
        for side in [&mut self.client, &mut self.server] {
            tune(&mut side.res_mut());
        }
        self
    }

    /// Sets the scripted input from now on, by ticks since the start.
    pub fn play(&mut self, wanted: impl Fn(u32) -> M::Input + Send + Sync + 'static) {
        self.client.res_mut::<Script<M>>().wanted = Box::new(wanted);
    }

    /// Runs for some seconds.
    pub fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.client.next.min(self.server.next) <= end {
            self.next_frame();
        }
        self.now = end;
    }

    /// Runs the next frame of either app.
    fn next_frame(&mut self) {
        if self.server.next <= self.client.next {
            self.server_frame();
        } else {
            self.client_frame();
        }
    }

    /// Runs until the client has had a frame.
    pub fn run_client_frame(&mut self) {
        let due = self.client.next;
        while self.client.next == due {
            self.next_frame();
        }
    }

    /// Runs until the client has had a frame in which the server changed its pawn.
    ///
    /// # Panics
    ///
    /// After five seconds without one.
    pub fn run_until_server_change(&mut self) {
        let limit = self.seconds() + 5.0;
        while self.client.stats().server_changes() == 0 {
            assert!(self.seconds() < limit, "no change by the server: {:?}", self.client.stats());
            self.run_client_frame();
        }
    }

    /// Runs until the server has had a frame.
    pub fn run_server_frame(&mut self) {
        let due = self.server.next;
        while self.server.next == due {
            self.next_frame();
        }
    }

    fn client_frame(&mut self) {
        let now = self.client.next;
        for bytes in self.down.arrived(now) {
            self.client.edit::<IncomingMoveAcks>().deliver(bytes);
        }
        let speed = if self.steers { self.client.res::<ClockSteering>().speed } else { 1.0 };
        let game = self.client.res::<GameClock>().speed();
        self.client.res_mut::<Time<Virtual>>().set_relative_speed_f64(speed * game);
        self.update(now, |pair| &mut pair.client);
        let sent = core::mem::take(&mut self.client.edit::<OutgoingMoves>().0);
        for mut bytes in sent {
            if let Some(forge) = self.forge {
                forge(&mut bytes);
            }
            if let Some((up, _)) = &mut self.sent {
                up.push(bytes.clone());
            }
            self.up.send(now, bytes);
        }
        let when = now.as_secs_f64();
        let made = core::mem::take(&mut self.client.edit::<MoveTrace>().0);
        self.log.client.extend(made.into_iter().map(|(tick, at)| RecordedMove { tick, at, when }));
        if let Some(state) = self.client.app.world().get::<M::State>(self.client.pawn) {
            self.log.mix(&bytes_of(state));
        }
    }

    fn server_frame(&mut self) {
        let now = self.server.next;
        for bytes in self.up.arrived(now) {
            self.server.edit::<IncomingMoves>().deliver(bytes);
        }
        let before = self.server.tick();
        self.update(now, |pair| &mut pair.server);
        let sent = core::mem::take(&mut self.server.edit::<OutgoingMoveAcks>().0);
        for bytes in sent {
            if let Some((_, down)) = &mut self.sent {
                down.push(bytes.clone());
            }
            self.down.send(now, bytes);
        }
        let when = now.as_secs_f64();
        let made = core::mem::take(&mut self.server.edit::<MoveTrace>().0);
        self.log.server.extend(made.into_iter().map(|(tick, at)| (tick, RecordedMove { tick, at, when })));
        let (shown, state) = (*self.server.get::<PublishedState<M>>(), *self.server.get::<M::State>());
        if self.server.tick() != before {
            self.log.shown.push((shown.tick, M::position(&shown.state)));
        }
        self.log.mix(&bytes_of(&state));
    }

    fn update(&mut self, now: Duration, side: impl Fn(&mut Self) -> &mut Side) {
        // An app measures the length of its frame with its own clock.
        let since =
            now - core::mem::replace(&mut side(self).app.world_mut().resource_mut::<LastFrame>().0, now);
        let side = side(self);
        let felt = if side.clock == 1.0 { since } else { since.mul_f64(side.clock) };
        side.app.insert_resource(TimeUpdateStrategy::ManualDuration(felt));
        side.app.update();
        side.next = now + side.frame;
        self.now = self.now.max(now);
    }

    /// Schedules a push of the pawn on the server.
    pub fn push(&mut self, push: M::Push) {
        self.server.edit::<ScheduledPushes<M>>().push(push);
    }

    /// Cuts both directions, or restores them.
    pub fn cut(&mut self, cut: bool) {
        (self.up.cut, self.down.cut) = (cut, cut);
    }

    pub fn seconds(&self) -> f64 {
        self.now.as_secs_f64()
    }

    pub fn corrections(&self) -> u64 {
        self.client.stats().corrections
    }

    /// Asserts that the client was corrected for this cause and no other.
    pub fn assert_only_cause(&self, cause: CorrectionCause) {
        let stats = self.client.stats();
        let others =
            CorrectionCause::ALL.iter().filter(|other| **other != cause && stats.corrections_of(**other) > 0);
        assert_eq!(others.collect::<Vec<_>>(), Vec::<&CorrectionCause>::new(), "{stats:?}");
        assert!(stats.corrections_of(cause) > 0, "{cause}: {stats:?}");
    }

    pub fn account(&self) -> TimeDiscrepancy {
        *self.server.get()
    }

    pub fn seen(&self) -> &MessageLog<M> {
        self.client.res()
    }
}

/// End of an app's last frame.
#[derive(Resource, Default)]
struct LastFrame(Duration);

fn app<M: TestModel>(began: Tick) -> App {
    let mut app = App::new();
    app.add_plugins(MinimalPlugins)
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .init_resource::<LastFrame>()
        .add_plugins(PredictionPlugin::<M>::default())
        .insert_resource(CurrentTick(began));
    M::install(&mut app);
    MessageLog::<M>::install(&mut app);
    // Tests simulate hours, for which threads would cost more than they save.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app
}

fn play<M: TestModel>(script: Res<Script<M>>, tick: Res<CurrentTick>, mut pawns: Query<&mut MoveInput<M>>) {
    for mut input in &mut pawns {
        input.0 = (script.wanted)(tick.0.since(script.began).cast_unsigned());
    }
}

/// Returns the encoded state.
fn bytes_of(state: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    state.write(&mut w);
    w.finish()
}

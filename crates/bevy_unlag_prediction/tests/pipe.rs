//! Client and server over a seeded, lossy pipe in memory: no network, a model of this test's own.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::{ecs::system::SystemParamItem, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    BitReader, BitWriter, CurrentTick, MoveInput, MoveModel, NetRole, Snapshot, StepContext, StepEvent, Tick,
    Wire, WireError,
};
use bevy_unlag_prediction::{
    IncomingAnswers, IncomingMoves, MovePacket, OutgoingAnswers, OutgoingMoves, PredictionPlugin,
    PredictionStats, ServerAnswer, authority_pawn, autonomous_pawn,
};

const TICK: Duration = Duration::from_nanos(15_625_000);

/// Walks along X; counts its steps; rings a bell on every tenth.
struct Walker;

#[derive(Resource, Default)]
struct Pace(f32);

#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Push(i8);

#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
struct Place {
    x: f32,
    steps: u32,
}

/// Metres, at once.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Shove(i8);

impl Wire for Shove {
    fn write(&self, w: &mut BitWriter) {
        w.signed(i32::from(self.0), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.signed(8)? as i8))
    }
}

impl Wire for Push {
    fn write(&self, w: &mut BitWriter) {
        w.signed(i32::from(self.0), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.signed(8)? as i8))
    }
}

impl Wire for Place {
    fn write(&self, w: &mut BitWriter) {
        w.f32(self.x);
        w.bits(self.steps, 32);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self { x: r.f32()?, steps: r.bits(32)? })
    }
}

impl MoveModel for Walker {
    type Config = Pace;
    type Input = Push;
    type State = Place;
    type Event = u32;
    type Push = Shove;
    type World = ();

    fn step(
        config: &Pace,
        state: &Place,
        input: &Push,
        ctx: &StepContext,
        (): &SystemParamItem<()>,
        events: &mut Vec<u32>,
    ) -> Place {
        let steps = state.steps + 1;
        if steps.is_multiple_of(10) {
            events.push(steps);
        }
        Place { x: state.x + f32::from(input.0) * config.0 * ctx.dt, steps }
    }

    fn position(state: &Place) -> Vec3 {
        Vec3::X * state.x
    }

    fn snapshot(state: &Place, tick: Tick) -> Snapshot {
        Snapshot::new(tick, Self::position(state), Vec3::ZERO)
    }

    fn eye(_: &Pace, state: &Place) -> Vec3 {
        Self::position(state)
    }

    fn kind(_: &Place) -> u32 {
        0
    }

    fn teleports(_: &Place) -> u8 {
        0
    }

    fn push(_: &Pace, state: &Place, push: &Shove) -> Place {
        Place { x: state.x + f32::from(push.0), ..*state }
    }

    fn unattended(last: &Push, axes: bool) -> Push {
        if axes { *last } else { Push(0) }
    }
}

/// How many bells rang in an app.
#[derive(Resource, Default)]
struct Bells(usize);

fn app(with_plugin: bool) -> App {
    let mut app = App::new();
    app.add_plugins(MinimalPlugins)
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(Pace(0.05))
        .init_resource::<Bells>();
    if with_plugin {
        app.add_plugins(PredictionPlugin::<Walker>::default()).add_systems(
            FixedLast,
            |mut rung: MessageReader<StepEvent<Walker>>, mut bells: ResMut<Bells>| {
                bells.0 += rung.read().count();
            },
        );
    }
    app
}

/// One way of the pipe: every message waits, some are lost, some come twice or out of turn.
struct Pipe {
    random: u64,
    loss: u64,
    waiting: VecDeque<(usize, Vec<u8>)>,
}

impl Pipe {
    fn new(seed: u64, loss: u64) -> Self {
        Self { random: seed, loss, waiting: VecDeque::new() }
    }

    fn dice(&mut self, sides: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % sides
    }

    fn carry(&mut self, frame: usize, sent: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        for bytes in sent {
            if self.dice(100) < self.loss {
                continue;
            }
            let delay = 4 + self.dice(3) as usize;
            if self.dice(4) == 0 {
                let later = delay + self.dice(8) as usize;
                self.waiting.push_back((frame + later, bytes.clone()));
            }
            self.waiting.push_back((frame + delay, bytes));
        }
        let due =
            self.waiting.iter().filter(|(at, _)| *at <= frame).map(|(_, bytes)| bytes.clone()).collect();
        self.waiting.retain(|(at, _)| *at > frame);
        due
    }
}

struct Pair {
    client: App,
    server: App,
    own: Entity,
    pawn: Entity,
    up: Pipe,
    down: Pipe,
    frame: usize,
}

impl Pair {
    fn new(seed: u64, loss: u64, with_plugin: bool) -> Self {
        let (mut client, mut server) = (app(with_plugin), app(with_plugin));
        let own = client.world_mut().spawn((NetRole::AutonomousProxy, autonomous_pawn::<Walker>())).id();
        let pawn =
            server.world_mut().spawn((NetRole::Authority, authority_pawn::<Walker>(Place::default()))).id();
        let (up, down) = (Pipe::new(seed, loss), Pipe::new(seed ^ 0xabcdef, loss));
        Self { client, server, own, pawn, up, down, frame: 0 }
    }

    fn run(&mut self, frames: usize, push: impl Fn(usize) -> i8) {
        for _ in 0..frames {
            self.frame += 1;
            let wanted = Push(push(self.frame));
            self.client.world_mut().get_mut::<MoveInput<Walker>>(self.own).expect("own pawn").0 = wanted;
            self.client.update();
            let sent = core::mem::take(
                &mut self.client.world_mut().get_mut::<OutgoingMoves>(self.own).expect("mailbox").0,
            );
            for bytes in self.up.carry(self.frame, sent) {
                self.server.world_mut().get_mut::<IncomingMoves>(self.pawn).expect("mailbox").deliver(bytes);
            }
            self.server.update();
            let sent = core::mem::take(
                &mut self.server.world_mut().get_mut::<OutgoingAnswers>(self.pawn).expect("mailbox").0,
            );
            for bytes in self.down.carry(self.frame, sent) {
                self.client.world_mut().get_mut::<IncomingAnswers>(self.own).expect("mailbox").deliver(bytes);
            }
        }
    }

    fn client_place(&self) -> Option<Place> {
        self.client.world().get::<Place>(self.own).copied()
    }

    fn server_place(&self) -> Place {
        *self.server.world().get::<Place>(self.pawn).expect("the server has a state")
    }

    fn stats(&self) -> PredictionStats {
        *self.client.world().get::<PredictionStats>(self.own).expect("stats")
    }
}

fn zigzag(frame: usize) -> i8 {
    if (frame / 17).is_multiple_of(2) { 100 } else { -60 }
}

#[test]
fn loss_duplicates_and_disorder_change_nothing() {
    for seed in 1..6 {
        let mut pair = Pair::new(seed, 10, true);
        pair.run(600, zigzag);
        assert!(pair.client_place().is_some_and(|place| place.steps > 500), "{:?}", pair.client_place());
        let stats = pair.stats();
        assert_eq!(stats.corrections, 0, "seed {seed}: {stats:?}");
        assert_eq!(stats.malformed, 0);
        // Both come to rest at the same place.
        pair.run(60, |_| 0);
        let (mine, theirs) = (pair.client_place().expect("a state").x, pair.server_place().x);
        assert_eq!(mine, theirs, "seed {seed}");
    }
}

#[test]
fn the_owner_counts_its_moves_on_the_servers_time_line() {
    let mut pair = Pair::new(3, 10, true);
    // A server that has run for a day.
    pair.server.world_mut().insert_resource(CurrentTick(Tick(5_529_600)));
    pair.run(300, zigzag);
    let [client, server] = [&pair.client, &pair.server].map(|app| app.world().resource::<CurrentTick>().0);
    assert!((0..32).contains(&server.since(client)), "the owner is at {client:?}, the server at {server:?}");
    assert_eq!(pair.stats().corrections, 0, "{:?}", pair.stats());
}

#[test]
fn without_the_plugin_nothing_moves() {
    let mut pair = Pair::new(1, 0, false);
    pair.run(100, zigzag);
    assert_eq!((pair.client_place(), pair.server_place()), (None, Place::default()));
}

#[test]
fn a_push_on_the_server_is_replayed_and_its_bells_ring_once() {
    let mut pair = Pair::new(3, 0, true);
    pair.run(200, zigzag);
    let (rung, made) = (pair.client.world().resource::<Bells>().0, pair.stats().moves);
    pair.server.world_mut().get_mut::<Place>(pair.pawn).expect("a state").x += 2.0;
    pair.run(40, zigzag);
    let stats = pair.stats();
    assert_eq!(stats.corrections, 1, "{stats:?}");
    assert!(stats.replayed >= 6, "the unanswered moves were made again: {stats:?}");
    assert!((stats.largest_correction - 2.0).abs() < 0.02, "{stats:?}");
    let (rang, moves) = (pair.client.world().resource::<Bells>().0 - rung, stats.moves - made);
    assert_eq!(rang as u64, moves / 10, "a replay rings no bell");
}

/// The pawn moves at its usual pace, and both sides come to rest at one place.
fn assert_walks_on_and_agrees(pair: &mut Pair) {
    let before = pair.server_place().steps;
    pair.run(200, zigzag);
    let walked = pair.server_place().steps - before;
    assert!((190..=240).contains(&walked), "{walked} steps in 200 ticks");
    pair.run(60, |_| 0);
    assert_eq!(pair.client_place().map(|place| place.x), Some(pair.server_place().x));
}

#[test]
fn a_client_with_a_fast_clock_gains_its_credit_and_no_more() {
    let mut pair = Pair::new(5, 0, true);
    pair.run(50, |_| 100);
    // Two moves a server tick for ten seconds.
    let before = pair.server_place().steps;
    for _ in 0..640 {
        pair.client.update();
        pair.run(1, |_| 100);
    }
    let gained = pair.server_place().steps - before;
    assert!(gained < 640 + 32 + 16, "{gained} steps in 640 ticks");
    assert!(gained > 600, "a fast clock is no reason to stop: {gained} steps in 640 ticks");

    // Back to an honest clock, it pays back what it was ahead, walks on and soon agrees again.
    pair.run(64, zigzag);
    assert_walks_on_and_agrees(&mut pair);
}

#[test]
fn a_server_that_lags_behind_and_recovers_moves_everyone_on() {
    let mut pair = Pair::new(6, 0, true);
    pair.run(50, zigzag);
    // The server runs at nine tenths of the clients' speed for a minute.
    for _ in 0..384 {
        pair.client.update();
        pair.run(9, zigzag);
    }
    assert_walks_on_and_agrees(&mut pair);
}

#[test]
fn a_silence_longer_than_any_window_is_forgiven() {
    let mut pair = Pair::new(7, 0, true);
    pair.run(50, zigzag);
    pair.up.loss = 100;
    pair.run(400, zigzag);
    pair.up.loss = 0;
    let before = pair.server_place().steps;
    pair.run(100, zigzag);
    assert!(pair.server_place().steps > before + 80, "{:?}", pair.server_place());
    pair.run(60, |_| 0);
    assert_eq!(pair.client_place().map(|place| place.x), Some(pair.server_place().x));
}

#[test]
fn any_bytes_are_a_message_or_an_error() {
    let mut dice = Pipe::new(99, 0);
    let mut pair = Pair::new(2, 0, true);
    pair.run(50, zigzag);
    for round in 0..2_000 {
        let bytes: Vec<u8> = (0..dice.dice(80)).map(|_| dice.dice(256) as u8).collect();
        let _ = MovePacket::<Push>::read(&mut BitReader::new(&bytes));
        let _ = ServerAnswer::<Place, Shove>::read(&mut BitReader::new(&bytes));
        pair.server.world_mut().get_mut::<IncomingMoves>(pair.pawn).expect("mailbox").deliver(bytes.clone());
        pair.client.world_mut().get_mut::<IncomingAnswers>(pair.own).expect("mailbox").deliver(bytes);
        if round % 16 == 0 {
            pair.run(1, zigzag);
        }
    }
    assert!(pair.server_place().x.is_finite());
}

//! Simulation of a client with the real playout clock, honest or cheating, and a validating server, on a
//! simulated link.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use bevy_unlag_core::{RoundTrip, SUB_TICKS, SnapshotAck, SnapshotAcks, Tick, ViewTime};
use bevy_unlag_rewind::{
    ValidatedViewTime, ViewClaim, ViewTimeStats, ViewTimeValidator, ViewValidationConfig,
};
use bevy_unlag_smoothing::{PlayoutClock, PlayoutConfig};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::stamps::{link::LinkDirection, strafer::Strafer};

pub const DT: f64 = 1.0 / 64.0;
/// The tick counter wraps half a minute after the start.
pub const ORIGIN: Tick = Tick(u32::MAX - 2_000);
/// Packets that repeat a shot, in ticks after its own.
const REPEAT_OFFSETS: [i32; 5] = [0, 1, 3, 6, 10];
/// Ticks for which the server waits for an earlier shot.
const REORDER_TICKS: i32 = 16;

/// Method by which a client falsifies its claims.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cheat {
    /// Claims what its screen showed.
    None,
    /// Claims in every second shot that the screen was so many ticks earlier.
    Backtrack(f64),
    /// Delays all acknowledgements by so many seconds, and aims at the screen that it would have shown
    /// then.
    DelayAcks(f64),
    /// Reports every second for so many seconds that nothing arrives, so that it seems to need that much
    /// playout delay, and claims to use it in every second shot.
    FakeStall(f64),
    /// Knows the server's state and claims for each shot whatever makes the server test it closest to the
    /// aim: the best possible strategy from shot to shot.
    Optimal,
}

#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Times are in seconds; loss is a fraction.
    pub rtt: f64,
    pub jitter: f64,
    pub loss: f64,
    pub fps: f64,
    /// Excess speed of the client's clock, as a fraction.
    pub drift: f64,
    /// Ticks between two snapshots.
    pub interval: u16,
    /// Whether it fires bursts; otherwise it fires one round every two seconds.
    pub bursts: bool,
    pub seconds: f64,
    pub cheat: Cheat,
    /// Number of moves that it holds back to send them at once, and whether it sends only the first and the
    /// last of them.
    pub move_burst: (usize, bool),
    pub seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            rtt: 0.1,
            jitter: 0.01,
            loss: 0.05,
            fps: 60.0,
            drift: 0.0,
            interval: 3,
            bursts: true,
            seconds: 600.0,
            cheat: Cheat::None,
            move_burst: (0, false),
            seed: 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Shot {
    own: Tick,
    claimed: ViewTime,
    /// The view time that the screen showed.
    shown: ViewTime,
}

#[derive(Clone, Debug)]
struct Packet {
    own: Tick,
    last_received_snapshot: Option<Tick>,
    shots: Vec<Shot>,
}

/// A validated shot.
#[derive(Clone, Copy, Debug)]
pub struct ValidatedShot {
    pub shown: ViewTime,
    pub claimed: ViewTime,
    pub admitted: ValidatedViewTime,
}

impl ValidatedShot {
    /// Returns the age of the validated view time beyond the shooter's screen, in ticks.
    pub fn excess_age(&self) -> f64 {
        self.shown.since(self.admitted.time) as f64 / SUB_TICKS as f64
    }
}

pub struct SimulationResult {
    pub shots: Vec<ValidatedShot>,
    pub counts: ViewTimeStats,
    /// The server's final estimate of the client's usual frame, in ticks.
    pub frame: u8,
}

struct Client {
    clock: PlayoutClock,
    drawn: Option<ViewTime>,
    newest: Option<Tick>,
    /// Received snapshots with their arrival times.
    last_received_snapshot: VecDeque<(f64, Tick)>,
    own: Tick,
    /// Simulated seconds of its own clock.
    simulated: f64,
    cooldown: u32,
    /// Whether it fires, and until when.
    trigger: (bool, f64),
    shots: VecDeque<Shot>,
    held: Vec<Packet>,
    fired: u64,
    rng: SmallRng,
}

/// Runs a simulation.
pub fn simulate(setup: &Setup, config: &ViewValidationConfig) -> SimulationResult {
    let mut down = LinkDirection::new(setup.rtt / 2.0, setup.jitter, setup.loss, setup.seed ^ 0xd0);
    let mut up = LinkDirection::new(setup.rtt / 2.0, setup.jitter, setup.loss, setup.seed ^ 0x0b);
    let mut acks = LinkDirection::new(setup.rtt / 2.0, setup.jitter, setup.loss, setup.seed ^ 0xac);
    let mut client = Client::new(setup);
    let mut server = Server { target: Strafer::new(setup.seed, setup.seconds), ..Server::default() };
    let (mut tick, mut frame) = (0, 0.003);
    let mut shots = Vec::new();
    while f64::from(tick) * DT < setup.seconds {
        let now = f64::from(tick) * DT;
        if now <= frame {
            let at = ORIGIN.offset(tick);
            acks.arrived(now).into_iter().for_each(|(when, tick)| server.acknowledged(tick, when));
            server.tick(at, up.arrived(now), setup, config, &mut shots);
            if tick % i32::from(setup.interval) == 0 {
                down.send(now, at);
            }
            tick += 1;
        } else {
            let arrived = down.arrived(frame);
            // The transport acknowledges at once, independently of the client's claims and moves.
            arrived.iter().for_each(|(_, tick)| acks.send(frame, *tick));
            // All moves of a frame are sent in one datagram.
            let moves = client.frame(frame, &arrived, setup);
            let moves = client.moves_to_send(moves, setup.move_burst);
            if !moves.is_empty() {
                up.send(frame, moves);
            }
            frame += client.rng.random_range(0.9..1.1) / setup.fps;
        }
    }
    // The usual frame: that of an unknown move.
    let frame = server.validator.frame(Tick(0), &ViewValidationConfig::default(), 1.0 / 64.0) * 64.0;
    SimulationResult { shots, counts: server.validator.counts(), frame: frame.round() as u8 }
}

impl Client {
    fn new(setup: &Setup) -> Self {
        Self {
            clock: PlayoutClock::new(PlayoutConfig::default()).with_interval(setup.interval),
            drawn: None,
            newest: None,
            last_received_snapshot: VecDeque::new(),
            // The tick that the server announced when the client joined.
            own: ORIGIN.offset(-(setup.rtt / 2.0 / DT).round() as i32),
            simulated: 0.0,
            cooldown: 0,
            trigger: (false, 1.0),
            shots: VecDeque::new(),
            held: Vec::new(),
            fired: 0,
            rng: SmallRng::seed_from_u64(setup.seed),
        }
    }

    fn frame(&mut self, now: f64, arrived: &[(f64, Tick)], setup: &Setup) -> Vec<Packet> {
        for &(_, tick) in arrived {
            if self.newest.is_none_or(|newest| tick.is_newer_than(newest)) {
                // Snapshots that wait in one frame count as one arrival, of the newest.
                self.last_received_snapshot.push_back((now, tick));
            }
        }
        let newest = self
            .last_received_snapshot
            .iter()
            .map(|(_, tick)| *tick)
            .reduce(|a, b| if b.is_newer_than(a) { b } else { a });
        if let Some(newest) = newest.filter(|newest| Some(*newest) != self.newest) {
            self.clock.arrived(newest, self.newest, now);
            self.newest = Some(newest);
        }
        let mut moves = Vec::new();
        while self.simulated + DT <= now * (1.0 + setup.drift) {
            self.simulated += DT;
            self.own = self.own.offset(1);
            self.fire_if_due(now, setup);
            let repeated = |shot: &&Shot| REPEAT_OFFSETS.contains(&self.own.since(shot.own));
            let shots = self.shots.iter().filter(repeated).copied().collect();
            moves.push(Packet {
                own: self.own,
                last_received_snapshot: self.acknowledged_snapshot(now, setup),
                shots,
            });
        }
        self.drawn = self.clock.advance(now);
        moves
    }

    /// Returns the moves to send now.
    fn moves_to_send(&mut self, moves: Vec<Packet>, (move_burst, sparse): (usize, bool)) -> Vec<Packet> {
        self.held.extend(moves);
        if self.held.len() < move_burst {
            return Vec::new();
        }
        let mut all = core::mem::take(&mut self.held);
        if sparse && all.len() > 2 {
            // The shots of dropped moves are repeated.
            let between = all.drain(1..all.len() - 1).flat_map(|packet| packet.shots).collect::<Vec<_>>();
            all[1].shots.splice(0..0, between);
        }
        all
    }

    /// Fires if it is time to.
    fn fire_if_due(&mut self, now: f64, setup: &Setup) {
        self.cooldown = self.cooldown.saturating_sub(1);
        if now > self.trigger.1 {
            let length = if setup.bursts { self.rng.random_range(0.3..3.0) } else { 2.0 };
            self.trigger = (!self.trigger.0 || !setup.bursts, now + length);
            self.cooldown = 0;
        }
        let Some(shown) = self.drawn.filter(|_| self.trigger.0 && self.cooldown == 0) else { return };
        self.cooldown = if setup.bursts { 6 } else { u32::MAX };
        self.fired += 1;
        let back = |ticks: f64| shown.later(-(ticks * SUB_TICKS as f64) as i64);
        let claimed = match setup.cheat {
            Cheat::Backtrack(ticks) if self.fired.is_multiple_of(2) => back(ticks),
            Cheat::DelayAcks(seconds) => back(seconds / DT),
            Cheat::FakeStall(seconds) if self.fired.is_multiple_of(2) => back(seconds / DT),
            _ => shown,
        };
        self.shots.push_back(Shot { own: self.own, claimed, shown });
        if self.shots.len() > 16 {
            self.shots.pop_front();
        }
    }

    /// Returns the snapshot that the client acknowledges.
    fn acknowledged_snapshot(&mut self, now: f64, setup: &Setup) -> Option<Tick> {
        let until = match setup.cheat {
            Cheat::DelayAcks(seconds) => now - seconds,
            Cheat::FakeStall(seconds) if now.fract() < seconds => now.floor(),
            _ => now,
        };
        while self.last_received_snapshot.len() > 64 {
            self.last_received_snapshot.pop_front();
        }
        let known = self.last_received_snapshot.iter().filter(|(at, _)| *at <= until);
        known.map(|(_, tick)| *tick).reduce(|a, b| if b.is_newer_than(a) { b } else { a })
    }
}

#[derive(Default)]
struct Server {
    target: Strafer,
    validator: ViewTimeValidator,
    acks: SnapshotAcks,
    trip: Option<RoundTrip>,
    /// Shots that are not validated yet, by the shooter's tick.
    waiting: BTreeMap<i32, (Shot, Tick, Option<Tick>)>,
    last: i32,
    seen: Option<Tick>,
}

impl Server {
    fn acknowledged(&mut self, tick: Tick, now: f64) {
        let sample = Duration::from_secs_f64((now - f64::from(tick.since(ORIGIN)) * DT).max(0.0));
        match &mut self.trip {
            Some(trip) => trip.sample(sample),
            None => self.trip = Some(RoundTrip::first(sample)),
        }
    }

    fn tick(
        &mut self,
        tick: Tick,
        arrived: Vec<(f64, Vec<Packet>)>,
        setup: &Setup,
        config: &ViewValidationConfig,
        judged: &mut Vec<ValidatedShot>,
    ) {
        self.acks.begin_tick();
        for Packet { own, last_received_snapshot, shots } in arrived.into_iter().flat_map(|(_, moves)| moves)
        {
            self.acks.record(SnapshotAck { own, arrived: tick, last_received_snapshot }, 0);
            self.seen = Some(self.seen.map_or(own, |seen| if own.is_newer_than(seen) { own } else { seen }));
            for shot in shots {
                let number = shot.own.since(ORIGIN);
                if number > self.last {
                    self.waiting.entry(number).or_insert((shot, tick, last_received_snapshot));
                }
            }
        }
        self.validator.receive_acknowledgements(&self.acks, false, DT as f32);
        // In order: all earlier shots have arrived or are given up.
        while let Some(entry) = self.waiting.first_entry() {
            let (shot, arrived, last_received_snapshot) = *entry.get();
            if self.seen.is_none_or(|seen| seen.since(shot.own) < REORDER_TICKS) {
                break;
            }
            self.last = *entry.key();
            entry.remove();
            let claim = ViewClaim {
                time: shot.claimed,
                shooter_tick: shot.own,
                arrived,
                last_received_snapshot,
                rtt: self.trip.map(|trip| trip.min_rtt),
                interval: setup.interval,
                interval_spread: 0,
                late: 0,
                left_out: false,
                tick_seconds: DT as f32,
            };
            let claim = match setup.cheat {
                Cheat::Optimal => ViewClaim { time: self.best(&claim, shot.shown, config), ..claim },
                _ => claim,
            };
            let admitted = self.validator.validate(&claim, config);
            judged.push(ValidatedShot { shown: shot.shown, claimed: claim.time, admitted });
        }
    }

    /// Returns the claim for which the shot is tested closest to its aim.
    fn best(&self, claim: &ViewClaim, shown: ViewTime, config: &ViewValidationConfig) -> ViewTime {
        let aim = self.target.aim(shown);
        let claims = (0..=72).flat_map(|half: i64| [-half, half]).filter(|half| *half <= 16);
        let judged = claims.filter_map(|half| {
            let time = shown.later(half * SUB_TICKS / 2);
            let admitted = self.validator.clone().validate(&ViewClaim { time, ..*claim }, config);
            (!admitted.refused).then(|| ((self.target.place(admitted.time) - aim).abs(), time))
        });
        judged.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(shown, |(_, time)| time)
    }
}

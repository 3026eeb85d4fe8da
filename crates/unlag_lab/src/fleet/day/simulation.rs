//! Events of a simulated day: players come, wait for a match, play, and play again or leave.

use core::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{
    ARRIVALS, BUFFER, FILL_S, FIRST_HOUR, MACHINE_IDLE_S, MACHINE_S, MATCH_PLAYERS, MATCH_S, MatchNeeds,
    PAUSE_S, POD_S, SESSION_S, WarmBuffer, machines::Machines,
};
use crate::prelude::*;

/// Results of a day.
pub struct Day {
    /// Largest number of players at a time: in a match, between two, or waiting.
    pub peak_players: usize,
    /// Largest number of cores at a time.
    pub peak_cores: usize,
    /// Hours for which cores were kept.
    pub core_hours: f64,
    /// Seconds of all players in matches.
    pub played_s: f64,
    /// Seconds from asking for a match until it began, for each player and match.
    pub waits: Vec<f64>,
}

/// Player who waits for a match, in microseconds since the beginning of the day.
#[derive(Clone, Copy)]
struct Waiting {
    since: u64,
    /// End of the player's session.
    until: u64,
}

/// Event; its order among those of one time does not matter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A player comes, whose session ends then.
    Arrival { until: u64 },
    /// A player of another match wants to play again.
    Return { until: u64 },
    /// A match has filled for long enough.
    Filled { number: usize },
    /// A process on a machine is ready.
    ProcessReady { machine: usize },
    /// A machine is up.
    MachineUp { machine: usize },
    /// A match is over.
    MatchOver { number: usize },
    /// The autoscaler looks at the fleet.
    Adjustment,
}

/// Fleet with its players, and the events to come.
struct Simulation {
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Number of events so far, which orders those of one time.
    count: u64,
    now: u64,
    fleet: Machines,
    /// Time from the start of a pod until its process listens, in seconds.
    start_s: f64,
    /// Players of the match that fills.
    filling: Vec<Waiting>,
    /// Numbers of full matches without a process.
    unserved: VecDeque<usize>,
    /// Players of each full match, and the machine that it is played on.
    matches: Vec<(Vec<Waiting>, usize)>,
    /// Players who are there now, and those who have not left yet.
    inside: usize,
    left: usize,
    day: Day,
}

/// Simulates a day with so many players. Without a buffer a process starts once a full match needs it.
pub fn simulate(players: usize, needs: MatchNeeds, buffer: Option<WarmBuffer>, seed: u64) -> Day {
    let day = Day { peak_players: 0, peak_cores: 0, core_hours: 0.0, played_s: 0.0, waits: Vec::new() };
    let mut simulation = Simulation {
        events: BinaryHeap::new(),
        count: 0,
        now: 0,
        fleet: Machines::new(needs.per_core, buffer),
        start_s: POD_S + needs.ready_s,
        filling: Vec::new(),
        unserved: VecDeque::new(),
        matches: Vec::new(),
        inside: 0,
        left: players,
        day,
    };
    let mut rng = SmallRng::seed_from_u64(seed);
    for _ in 0..players {
        let come = arrival(&mut rng);
        let session = -(1.0 - rng.random::<f64>()).ln() * SESSION_S;
        simulation.add(come, Event::Arrival { until: micros_of(come + session) });
    }
    simulation.add(0.0, Event::Adjustment);
    simulation.run()
}

/// Returns when a player comes, in seconds since the beginning of the day.
fn arrival(rng: &mut SmallRng) -> f64 {
    let mut share = rng.random_range(0.0..ARRIVALS.iter().sum::<f64>());
    let hour = ARRIVALS.iter().position(|hour| {
        share -= hour;
        share < 0.0
    });
    let hour = (hour.unwrap_or(0) + ARRIVALS.len() - FIRST_HOUR) % ARRIVALS.len();
    (hour as f64 + rng.random::<f64>()) * 3_600.0
}

fn micros_of(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

impl Simulation {
    /// Adds an event that happens after so many seconds.
    fn add(&mut self, after: f64, event: Event) {
        self.events.push(Reverse((self.now + micros_of(after), self.count, event)));
        self.count += 1;
    }

    /// Returns the time in seconds.
    fn seconds(&self) -> f64 {
        self.now as f64 / 1e6
    }

    fn run(mut self) -> Day {
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            self.now = at;
            self.handle(event);
        }
        self.day.peak_cores = self.fleet.peak_cores();
        self.day.core_hours = self.fleet.core_hours(self.seconds());
        self.day
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrival { until } => {
                self.inside += 1;
                self.day.peak_players = self.day.peak_players.max(self.inside);
                self.ask(until);
            }
            Event::Return { until } => self.ask(until),
            Event::Filled { number } => {
                if number == self.matches.len() && !self.filling.is_empty() {
                    self.close();
                }
            }
            Event::ProcessReady { machine } => {
                self.fleet.process_is_ready(machine);
                self.serve();
            }
            Event::MachineUp { machine } => {
                self.fleet.machine_is_up(machine, self.seconds());
                self.serve();
            }
            Event::MatchOver { number } => self.end(number),
            Event::Adjustment => {
                self.fleet.adjust(self.seconds(), MACHINE_IDLE_S);
                self.serve();
                if self.left > 0 {
                    self.add(BUFFER.sync_s, Event::Adjustment);
                }
            }
        }
    }

    /// Puts a player into the match that fills.
    fn ask(&mut self, until: u64) {
        if self.filling.is_empty() {
            self.add(FILL_S, Event::Filled { number: self.matches.len() });
        }
        self.filling.push(Waiting { since: self.now, until });
        if self.filling.len() == MATCH_PLAYERS {
            self.close();
        }
    }

    /// Lets the match that fills begin as soon as there is a process.
    fn close(&mut self) {
        self.unserved.push_back(self.matches.len());
        self.matches.push((core::mem::take(&mut self.filling), 0));
        self.serve();
    }

    /// Begins matches on ready processes, and lets the fleet follow.
    fn serve(&mut self) {
        while let Some(&number) = self.unserved.front()
            && let Some(machine) = self.fleet.allocate()
        {
            self.unserved.pop_front();
            let (players, on) = &mut self.matches[number];
            *on = machine;
            let now = self.now;
            self.day.waits.extend(players.iter().map(|player| (now - player.since) as f64 / 1e6));
            self.day.played_s += MATCH_S * players.len() as f64;
            self.add(MATCH_S, Event::MatchOver { number });
        }
        let started = self.fleet.scale(self.seconds(), self.unserved.len());
        for machine in started.processes {
            self.add(self.start_s, Event::ProcessReady { machine });
        }
        for machine in started.machines {
            self.add(MACHINE_S, Event::MachineUp { machine });
        }
    }

    fn end(&mut self, number: usize) {
        let (players, machine) = core::mem::take(&mut self.matches[number]);
        self.fleet.end_match(machine, self.seconds());
        for Waiting { until, .. } in players {
            if until > self.now {
                self.add(PAUSE_S, Event::Return { until });
            } else {
                self.inside -= 1;
                self.left -= 1;
            }
        }
        self.serve();
    }
}

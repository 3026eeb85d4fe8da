//! Two ways between two apps of one process, each with bad luck of its own, and a message that is
//! sent until it arrives.

use core::time::Duration;

use bevy_unlag::{link_conditioner::Conditioner, prelude::LinkConditions};

#[derive(Clone, Debug)]
enum Up {
    Moves(Vec<u8>),
    /// "Please teleport me", and its number.
    Request(u16),
}

#[derive(Clone, Debug)]
enum Down {
    Answer(Vec<u8>),
    /// The request of this number is here.
    Received(u16),
}

/// Carries the mailboxes of the prediction and, for the variants that need one, a reliable request:
/// Unreal's reliable server function.
#[derive(Debug)]
pub struct Pipe {
    /// The way from the owner to the server. May be changed at any time.
    pub up: LinkConditions,
    /// The way back.
    pub down: LinkConditions,
    way_up: Conditioner<Up>,
    way_down: Conditioner<Down>,
    /// How long the owner waits for word of a request before it sends it again.
    patience: Duration,
    /// Requests without such word, and when they are to be sent.
    waiting: Vec<(u16, Duration)>,
    asked: u16,
    received: Vec<u16>,
}

impl Pipe {
    /// The same conditions both ways; all luck comes from the seed.
    #[must_use]
    pub fn new(seed: u64, conditions: LinkConditions) -> Self {
        Self {
            up: conditions,
            down: conditions,
            way_up: Conditioner::new(seed),
            way_down: Conditioner::new(seed ^ 0x0d0f_1e57),
            patience: 2 * (conditions.latency + conditions.jitter) + Duration::from_millis(50),
            waiting: Vec::new(),
            asked: 0,
            received: Vec::new(),
        }
    }

    /// The owner sends what its mailbox and its game have for the server.
    pub fn send_up(&mut self, now: Duration, moves: Vec<Vec<u8>>, requests: usize) {
        for bytes in moves {
            self.way_up.push(now, &self.up, Up::Moves(bytes));
        }
        for _ in 0..requests {
            self.waiting.push((self.asked, now));
            self.asked += 1;
        }
        for (number, due) in &mut self.waiting {
            if *due <= now {
                self.way_up.push(now, &self.up, Up::Request(*number));
                *due = now + self.patience;
            }
        }
    }

    /// What arrives at the server: moves, and how many requests that it has not had yet.
    pub fn arrived_up(&mut self, now: Duration) -> (Vec<Vec<u8>>, usize) {
        let (mut moves, mut requests) = (Vec::new(), 0);
        while let Some(packet) = self.way_up.pop(now) {
            match packet {
                Up::Moves(bytes) => moves.push(bytes),
                Up::Request(number) => {
                    self.way_down.push(now, &self.down, Down::Received(number));
                    if !self.received.contains(&number) {
                        self.received.push(number);
                        requests += 1;
                    }
                }
            }
        }
        (moves, requests)
    }

    /// The server sends what its mailbox has.
    pub fn send_down(&mut self, now: Duration, answers: Vec<Vec<u8>>) {
        for bytes in answers {
            self.way_down.push(now, &self.down, Down::Answer(bytes));
        }
    }

    /// What arrives at the owner.
    pub fn arrived_down(&mut self, now: Duration) -> Vec<Vec<u8>> {
        let mut answers = Vec::new();
        while let Some(packet) = self.way_down.pop(now) {
            match packet {
                Down::Answer(bytes) => answers.push(bytes),
                Down::Received(number) => self.waiting.retain(|(waiting, _)| *waiting != number),
            }
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_arrives_once_however_bad_the_link_is() {
        for seed in 0..20 {
            let conditions = LinkConditions {
                latency: Duration::from_millis(20),
                loss: 0.6,
                duplication: 0.3,
                ..LinkConditions::PERFECT
            };
            let mut pipe = Pipe::new(seed, conditions);
            let mut arrived = 0;
            for frame in 0..2_000 {
                let now = Duration::from_millis(10 * frame);
                pipe.send_up(now, Vec::new(), usize::from(frame == 3));
                arrived += pipe.arrived_up(now).1;
                pipe.arrived_down(now);
            }
            assert_eq!(arrived, 1, "seed {seed}");
            assert!(pipe.waiting.is_empty(), "seed {seed}: sent for ever");
        }
    }
}

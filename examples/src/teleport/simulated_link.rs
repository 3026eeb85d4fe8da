//! Simulated link between two apps of one process: two seeded directions, and a request that is resent until
//! acknowledged.

use core::time::Duration;

use bevy_unlag::link_conditioner::{Conditioner, LinkConditions};

#[derive(Clone, Debug)]
enum Up {
    Moves(Vec<u8>),
    /// A teleport request and its number.
    Request(u16),
}

#[derive(Clone, Debug)]
enum Down {
    Answer(Vec<u8>),
    /// Acknowledgement of the request with this number.
    Received(u16),
}

/// Carries the prediction messages and, for the variants that need one, a reliable request, the counterpart
/// of Unreal's reliable server RPC.
#[derive(Debug)]
pub struct SimulatedLink {
    /// Conditions of the uplink. May be changed at any time.
    pub up: LinkConditions,
    /// Conditions of the downlink. May be changed at any time.
    pub down: LinkConditions,
    uplink: Conditioner<Up>,
    downlink: Conditioner<Down>,
    /// Time after which an unacknowledged request is resent.
    resend_interval: Duration,
    /// Unacknowledged requests, and the time at which they are sent next.
    waiting: Vec<(u16, Duration)>,
    next_request: u16,
    received: Vec<u16>,
}

impl SimulatedLink {
    /// Creates a link with the same conditions in both directions. All randomness comes from `seed`.
    #[must_use]
    pub fn new(seed: u64, conditions: LinkConditions) -> Self {
        Self {
            up: conditions,
            down: conditions,
            uplink: Conditioner::new(seed),
            downlink: Conditioner::new(seed ^ 0x0d0f_1e57),
            resend_interval: 2 * (conditions.latency + conditions.jitter) + Duration::from_millis(50),
            waiting: Vec::new(),
            next_request: 0,
            received: Vec::new(),
        }
    }

    /// Sends the owner's moves, and its pending teleport requests.
    pub fn send_up(&mut self, now: Duration, moves: Vec<Vec<u8>>, requests: usize) {
        for bytes in moves {
            self.uplink.push(now, &self.up, Up::Moves(bytes));
        }
        for _ in 0..requests {
            self.waiting.push((self.next_request, now));
            self.next_request += 1;
        }
        for (number, due) in &mut self.waiting {
            if *due <= now {
                self.uplink.push(now, &self.up, Up::Request(*number));
                *due = now + self.resend_interval;
            }
        }
    }

    /// Returns what has arrived at the server: moves, and the number of requests received for the first
    /// time.
    pub fn arrived_up(&mut self, now: Duration) -> (Vec<Vec<u8>>, usize) {
        let (mut moves, mut requests) = (Vec::new(), 0);
        while let Some(packet) = self.uplink.pop(now) {
            match packet {
                Up::Moves(bytes) => moves.push(bytes),
                Up::Request(number) => {
                    self.downlink.push(now, &self.down, Down::Received(number));
                    if !self.received.contains(&number) {
                        self.received.push(number);
                        requests += 1;
                    }
                }
            }
        }
        (moves, requests)
    }

    /// Sends the server's acknowledgements.
    pub fn send_down(&mut self, now: Duration, answers: Vec<Vec<u8>>) {
        for bytes in answers {
            self.downlink.push(now, &self.down, Down::Answer(bytes));
        }
    }

    /// Returns the acknowledgements that have arrived at the owner.
    pub fn arrived_down(&mut self, now: Duration) -> Vec<Vec<u8>> {
        let mut answers = Vec::new();
        while let Some(packet) = self.downlink.pop(now) {
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
    fn request_arrives_exactly_once_over_a_lossy_link() {
        for seed in 0..20 {
            let conditions = LinkConditions {
                latency: Duration::from_millis(20),
                loss: 0.6,
                duplication: 0.3,
                ..LinkConditions::PERFECT
            };
            let mut pipe = SimulatedLink::new(seed, conditions);
            let mut arrived = 0;
            for frame in 0..2_000 {
                let now = Duration::from_millis(10 * frame);
                pipe.send_up(now, Vec::new(), usize::from(frame == 3));
                arrived += pipe.arrived_up(now).1;
                pipe.arrived_down(now);
            }
            assert_eq!(arrived, 1, "seed {seed}");
            assert!(pipe.waiting.is_empty(), "seed {seed}: the request is still being resent");
        }
    }
}

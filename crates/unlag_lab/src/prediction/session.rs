//! Server and clients with individual clocks, connected by simulated links in memory.

use core::iter::from_fn;

use super::empty_model;
use crate::prelude::*;

/// Link and clock of a player.
#[derive(Clone, Copy)]
pub struct PlayerOptions {
    /// Uplink.
    pub up: LinkConditions,
    /// Downlink.
    pub down: LinkConditions,
    /// Speed of the client's clock relative to real time.
    pub clock: f64,
    /// Length of additional uplink loss bursts in packets; one burst every one to four seconds.
    pub burst: Option<u32>,
}

/// Client with its links.
pub struct Player {
    /// Client app.
    pub client: App,
    /// Pawn on the client.
    pub own: Entity,
    /// Pawn on the server.
    pub pawn: Entity,
    options: PlayerOptions,
    up: Conditioner<Vec<u8>>,
    down: Conditioner<Vec<u8>>,
    frame: Duration,
    due: Duration,
    bursts: Bursts,
}

struct Bursts {
    rng: SmallRng,
    next: Duration,
    left: u32,
}

impl Bursts {
    fn drops(&mut self, now: Duration, length: u32) -> bool {
        if self.left == 0 && now >= self.next {
            self.next = now + Duration::from_secs_f64(self.rng.random_range(1.0..4.0));
            self.left = length;
        }
        let lost = self.left > 0;
        self.left = self.left.saturating_sub(1);
        lost
    }
}

/// Server and clients, updated in the order of their frames.
pub struct Session {
    /// Server app.
    pub server: App,
    /// Clients.
    pub players: Vec<Player>,
    now: Duration,
    server_due: Duration,
}

impl Session {
    /// Creates a session in which all players have joined. With `record_moves` the server records
    /// [`empty_model::MoveLog`].
    pub fn new(options: &[PlayerOptions], record_moves: bool, seed: u64) -> Self {
        let mut server = empty_model::server(record_moves);
        let players = (0_u64..).zip(options).map(|(i, options)| {
            let (client, own) = empty_model::client();
            let seed = seed.wrapping_mul(7_919).wrapping_add(i * 3);
            let mut rng = SmallRng::seed_from_u64(seed);
            // Random phases, so that the clients' frames do not coincide.
            let due = TICK.mul_f64(rng.random_range(0.0..1.0));
            Player {
                client,
                own,
                pawn: empty_model::pawn(&mut server),
                options: *options,
                up: Conditioner::new(seed + 1),
                down: Conditioner::new(seed + 2),
                frame: TICK.div_f64(options.clock),
                due,
                bursts: Bursts { rng, next: Duration::from_secs(1), left: 0 },
            }
        });
        let players = players.collect();
        Self { server, players, now: Duration::ZERO, server_due: Duration::ZERO }
    }

    /// Runs the session for a number of seconds.
    pub fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        loop {
            let next = self.players.iter().map(|player| player.due).min().unwrap_or(Duration::MAX);
            self.now = next.min(self.server_due);
            if self.now > end {
                self.now = end;
                return;
            }
            if self.server_due == self.now {
                self.serve();
            }
            for player in self.players.iter_mut().filter(|player| player.due == self.now) {
                player.play(self.now);
            }
        }
    }

    fn serve(&mut self) {
        let (now, server) = (self.now, &mut self.server);
        for player in &mut self.players {
            deliver_moves(server, player.pawn, from_fn(|| player.up.pop(now)));
        }
        server.update();
        for player in &mut self.players {
            for bytes in take_acks(server, player.pawn) {
                player.down.push(now, &player.options.down, bytes);
            }
        }
        self.server_due += TICK;
    }
}

impl Player {
    fn play(&mut self, now: Duration) {
        deliver_acks(&mut self.client, self.own, from_fn(|| self.down.pop(now)));
        self.client.update();
        for bytes in take_moves(&mut self.client, self.own) {
            if !self.options.burst.is_some_and(|length| self.bursts.drops(now, length)) {
                self.up.push(now, &self.options.up, bytes);
            }
        }
        self.due += self.frame;
    }
}

//! One cell of the matrix: a link, and a match that is played over it until enough hits were drawn.

use core::time::Duration;

use bevy_unlag::{
    prelude::*,
    weapons::{CatchUp, ProjectileRules},
};
use unlag_examples::{
    app::ServerOptions,
    shot_stats::ShotStats,
    stepped_match::{Match, MatchOptions},
};

use super::{
    fought::Fought,
    hands::Hands,
    range::{self, Scene},
};

/// The link of every player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The round trip in milliseconds, half of it each way.
    pub rtt: u32,
    /// ± milliseconds each way.
    pub jitter: u32,
    /// Percent of packets each way.
    pub loss: u32,
}

/// How a cell is played.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Drawn hits to wait for.
    pub hits: u64,
    /// The seed of links and players.
    pub seed: u64,
    /// Whether shots are judged in the past.
    pub rewind: RewindMode,
    /// The oldest view that is honoured.
    pub max_age: Duration,
    /// With what.
    pub weapon: Fought,
    /// What everybody does.
    pub scene: Scene,
    /// Where everyone is while a projectile is caught up.
    pub catch_up: CatchUp,
}

impl Rules {
    /// Rays, judged in the past.
    pub fn new(hits: u64, seed: u64) -> Self {
        let (weapon, catch_up) = (Fought::Hitscan, CatchUp::Seen);
        let (rewind, max_age, scene) = (RewindMode::On, super::MAX_AGE, Scene::Machines);
        Self { hits, seed, rewind, max_age, weapon, scene, catch_up }
    }
}

/// What was measured in a cell.
#[derive(Clone, Debug)]
pub struct Played {
    /// The link.
    pub cell: Cell,
    /// All players' rounds.
    pub shot_stats: ShotStats,
    /// Seconds of the match, in its own time.
    pub seconds: f64,
    /// The players' playout delay in milliseconds, on average.
    pub playout_ms: f64,
}

/// How many players.
const PLAYERS: u64 = 4;
/// Frames a second of every player's screen.
const FPS: f64 = 60.0;
/// Seconds in which clocks and the simulated link come to rest before the first round.
const LEARNING: f64 = 3.0;
/// Seconds between two looks at how many hits there are.
const STRETCH: f64 = 5.0;
/// A match whose hits are that rare is given up, in hits a second.
const FEWEST: f64 = 0.5;

impl Cell {
    /// The link.
    pub fn conditions(self) -> LinkConditions {
        LinkConditions {
            latency: Duration::from_micros(u64::from(self.rtt) * 500),
            jitter: Duration::from_millis(self.jitter.into()),
            loss: self.loss as f32 / 100.0,
            ..LinkConditions::PERFECT
        }
    }

    /// As in keys.
    pub fn name(self) -> String {
        format!("{}_{}_{}", self.rtt, self.jitter, self.loss)
    }

    /// Plays it. Nobody dies: what a round that hit does is not what is measured here.
    ///
    /// # Errors
    /// One line when somebody could not join, or nobody hits anybody.
    pub fn play(self, rules: &Rules) -> Result<Played, String> {
        let seed = [self.rtt, self.jitter, self.loss]
            .into_iter()
            .fold(rules.seed, |seed, part| seed.wrapping_mul(1_000_003).wrapping_add(part.into()));
        let server =
            ServerOptions { rewind: rules.rewind, max_age: Some(rules.max_age), ..ServerOptions::default() };
        let mut game = Match::start(&MatchOptions {
            players: PLAYERS,
            conditions: self.conditions(),
            seed,
            server,
            fps: FPS,
            ..MatchOptions::default()
        })?;
        for app in game.apps_mut() {
            app.insert_resource(rules.weapon.arsenal());
        }
        game.server.world_mut().resource_mut::<ProjectileRules>().catch_up = rules.catch_up;
        range::set_up(&mut game, rules.scene);
        for (player, client) in (0..).zip(&mut game.clients) {
            let seed = seed.wrapping_mul(31).wrapping_add(player);
            Hands::take_over(seed, (rules.scene, rules.weapon.speed()), client);
        }
        game.run(Duration::from_secs_f64(LEARNING));
        arm(&mut game, true);
        let mut seconds = 0.0;
        while drawn(&game) < rules.hits {
            game.run(Duration::from_secs_f64(STRETCH));
            seconds += STRETCH;
            if (drawn(&game) as f64) < (seconds - 60.0) * FEWEST {
                return Err(format!("{} hits in {seconds} s are too few to measure", drawn(&game)));
            }
        }
        arm(&mut game, false);
        game.run(Duration::from_secs(3));
        let report = game.report();
        let playout: f64 = report.players.iter().map(|player| player.playout_ms).sum();
        Ok(Played {
            cell: self,
            shot_stats: report.total(),
            seconds,
            playout_ms: playout / report.players.len().max(1) as f64,
        })
    }
}

impl Played {
    /// The lower of the two numbers in percent.
    pub fn agreement(&self) -> f64 {
        self.shot_stats.tally().agreement().unwrap_or(f64::NAN)
    }
}

fn arm(game: &mut Match, may_fire: bool) {
    for client in &mut game.clients {
        if let Some(mut hands) = client.world_mut().get_resource_mut::<Hands>() {
            hands.may_fire = may_fire;
        }
    }
}

fn drawn(game: &Match) -> u64 {
    let ledgers = game.clients.iter().filter_map(|client| client.world().get_resource::<ShotStats>());
    ledgers.map(|shot_stats| shot_stats.drawn).sum()
}

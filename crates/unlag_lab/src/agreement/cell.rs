//! Cell of the agreement matrix: a link and a match played over it until enough hits were drawn.

use serde::{Deserialize, Serialize};
use unlag_examples::{match_report::PlayerReport, shot_stats::ShotStats};

use super::{
    bot::Bot,
    scene::{self, Scene},
    weapon::MeasuredWeapon,
};
use crate::prelude::*;

/// Link conditions of every player in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Round trip in milliseconds, half of it each way.
    pub rtt: u32,
    /// Jitter in ± milliseconds each way.
    pub jitter: u32,
    /// Packet loss in percent each way.
    pub loss: u32,
}

/// Settings of a cell's match.
#[derive(Clone, Copy, Debug)]
pub struct CellConfig {
    /// Number of drawn hits at which the match ends.
    pub hits: u64,
    /// Seed of the links and players.
    pub seed: u64,
    /// Whether the server rewinds the targets of shots.
    pub rewind: RewindMode,
    /// Age limit of rewind views.
    pub max_age: Duration,
    /// Weapon of every player.
    pub weapon: MeasuredWeapon,
    /// Layout and behaviour of the players.
    pub scene: Scene,
    /// Positions of the targets while a projectile catches up with the server's time.
    pub catch_up: CatchUp,
    /// Tick and snapshot rate of the server and all clients.
    pub rate: SimulationRate,
    /// Frames per second of every client.
    pub fps: f64,
}

impl CellConfig {
    /// Returns the settings for hitscan weapons with rewind, at 64 ticks and 60 frames per second.
    pub fn new(hits: u64, seed: u64) -> Self {
        Self {
            hits,
            seed,
            rewind: RewindMode::On,
            max_age: super::MAX_AGE,
            weapon: MeasuredWeapon::Hitscan,
            scene: Scene::Platforms,
            catch_up: CatchUp::Displayed,
            rate: SimulationRate::default(),
            fps: 60.0,
        }
    }
}

/// Measurements of one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellResult {
    /// Link of the cell.
    pub cell: Cell,
    /// Shots of all players.
    pub shot_stats: ShotStats,
    /// Average playout delay of the players in milliseconds.
    pub playout_ms: f64,
    /// Average bytes per second that a player sent and received, without UDP and IP headers.
    #[serde(default)]
    pub bytes: (f64, f64),
}

/// Number of players.
const PLAYERS: u64 = 4;
/// Seconds before the first round, in which the clocks and the simulated link settle.
const SETTLING: f64 = 3.0;
/// Seconds between two checks of the number of hits.
const CHECK_INTERVAL: f64 = 5.0;
/// Hits per second below which a match is aborted.
const MIN_HITS_PER_SECOND: f64 = 0.5;

impl Cell {
    /// Returns the link conditions of the cell.
    pub fn conditions(self) -> LinkConditions {
        LinkConditions {
            latency: Duration::from_micros(u64::from(self.rtt) * 500),
            jitter: Duration::from_millis(self.jitter.into()),
            loss: self.loss as f32 / 100.0,
            ..LinkConditions::PERFECT
        }
    }

    /// Returns the name of the cell as used in JSON keys.
    pub fn name(self) -> String {
        format!("{}_{}_{}", self.rtt, self.jitter, self.loss)
    }

    /// Plays a match over this link. Weapons do no damage, so deaths do not affect the measurement.
    ///
    /// # Errors
    /// Returns a message if a client cannot join or hits are too rare.
    pub fn play(self, rules: &CellConfig) -> Result<CellResult, String> {
        let seed = [self.rtt, self.jitter, self.loss]
            .into_iter()
            .fold(rules.seed, |seed, part| seed.wrapping_mul(1_000_003).wrapping_add(part.into()));
        let server = ServerOptions {
            rewind: rules.rewind,
            max_age: Some(rules.max_age),
            rate: rules.rate,
            ..default()
        };
        let mut game = Match::start(&MatchOptions {
            players: PLAYERS,
            conditions: self.conditions(),
            seed,
            server,
            fps: rules.fps,
            ..default()
        })?;
        for app in game.apps_mut() {
            app.insert_resource(rules.weapon.arsenal());
        }
        game.server.world_mut().resource_mut::<ProjectileRules>().catch_up = rules.catch_up;
        scene::set_up(&mut game, rules.scene);
        for (player, client) in (0..).zip(&mut game.clients) {
            let seed = seed.wrapping_mul(31).wrapping_add(player);
            Bot::take_over(seed, (rules.scene, rules.weapon.speed()), client);
        }
        game.run(Duration::from_secs_f64(SETTLING));
        allow_fire(&mut game, true);
        let mut seconds = 0.0;
        while drawn(&game) < rules.hits {
            game.run(Duration::from_secs_f64(CHECK_INTERVAL));
            seconds += CHECK_INTERVAL;
            if (drawn(&game) as f64) < (seconds - 60.0) * MIN_HITS_PER_SECOND {
                return Err(format!("{} hits in {seconds} s are too few to measure", drawn(&game)));
            }
        }
        allow_fire(&mut game, false);
        game.run(Duration::from_secs(3));
        let report = game.report();
        let average = |of: fn(&PlayerReport) -> f64| mean(report.players.iter().map(of));
        Ok(CellResult {
            cell: self,
            shot_stats: report.total(),
            playout_ms: average(|player| player.playout_ms),
            bytes: (average(|player| player.bytes_up), average(|player| player.bytes_down)),
        })
    }
}

impl CellResult {
    /// Returns the lower of both agreement ratios in percent.
    pub fn agreement(&self) -> f64 {
        self.shot_stats.tally().agreement().unwrap_or(f64::NAN)
    }
}

fn allow_fire(game: &mut Match, may_fire: bool) {
    for client in &mut game.clients {
        if let Some(mut hands) = client.world_mut().get_resource_mut::<Bot>() {
            hands.may_fire = may_fire;
        }
    }
}

fn drawn(game: &Match) -> u64 {
    let stats = game.clients.iter().filter_map(|client| client.world().get_resource::<ShotStats>());
    stats.map(|shot_stats| shot_stats.drawn).sum()
}

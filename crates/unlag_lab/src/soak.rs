//! Soak test: a long match with joining and leaving players, changing links, and two cheaters.
//!
//! Time is stepped and all randomness comes from the seed: a failure names its second, and the same seed
//! reproduces it.

mod adversaries;
mod invariants;

use clap::Args;
use invariants::Invariants;
use lightyear::prelude::LocalTimeline;
use unlag_examples::weapon_set::WeaponSet;

use crate::load::resident_bytes;
use crate::prelude::*;

/// Options of the soak test.
#[derive(Args, Clone, Copy, Debug)]
pub struct SoakArgs {
    /// Minutes of play. Default 40, in which every 16-bit number wraps; with `--quick` 2.
    #[arg(long)]
    minutes: Option<f64>,
}

/// Number of honest players; the first of them never leaves.
pub const HONEST: usize = 4;
/// Number of all players, including two cheaters.
pub const PLAYERS: usize = HONEST + 2;
/// Playable links. Every link changes to one of them from time to time.
const LINKS: [&str; 8] =
    ["LAN", "Good broadband", "Average (UE)", "Bad (UE)", "4G p50", "WiFi congested", "Starlink", "GNS bad"];
/// Average number of ticks between two departures.
const DEPARTURE_TICKS: u32 = 1_000;
/// Seconds between two rests, in which both sides must agree.
const REST_INTERVAL: u64 = 30;
/// First tick of the match: 16-bit ticks wrap one minute later.
const FIRST_TICK: u32 = 65_536 - 64 * 60;

/// Connection state of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PlayerState {
    Playing,
    /// Disconnected until this second.
    Disconnected(u64),
    /// Connecting since this second.
    Joining(u64),
}

pub fn measure(options: &Options, args: SoakArgs) -> Result<Figures, String> {
    let minutes = args.minutes.unwrap_or(options.extent(2.0, 40.0));
    let seconds = (minutes * 60.0) as u64;
    let mut soak = Soak::new(options.seed)?;
    let early = seconds / 4;
    let mut memory = 0;
    for second in 0..seconds {
        soak.second(second)?;
        if second == early {
            memory = resident_bytes();
        }
    }
    soak.watch.second = seconds;
    soak.rest();
    let mut figures = Figures::default();
    let breaks = soak.watch.breaks as f64;
    let note = format!("{minutes} minutes, {} joins", soak.joins);
    figures.add_noted("soak_invariant_breaks", breaks, note)?;
    figures.add("soak_kicked_adversaries", soak.watch.kicked as f64)?;
    let report = soak.game.report();
    let steady = &report.players[0].shot_stats;
    let agreed = steady.unclamped().confirmed_of_drawn().ok_or("the first player drew no hit")?;
    figures.add("soak_agreement_percent", agreed)?;
    figures.add("soak_rounds", steady.shots as f64)?;
    figures.add("soak_lost_verdicts", steady.lost as f64)?;
    let growth = resident_bytes() as f64 / memory.max(1) as f64 - 1.0;
    figures.add("soak_rss_growth_percent", growth * 100.0)?;
    figures.add("soak_digest", f64::from(soak.watch.digest))?;
    Ok(figures)
}

struct Soak {
    game: Match,
    rng: SmallRng,
    lives: [PlayerState; PLAYERS],
    watch: Invariants,
    joins: u32,
}

impl Soak {
    fn new(seed: u64) -> Result<Self, String> {
        let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
        let options = MatchOptions { players: PLAYERS as u64, seed, server, ..default() };
        let game = Match::start_with(&options, |server| {
            server.insert_resource(CurrentTick(Tick(FIRST_TICK)));
            server.world_mut().resource_mut::<LocalTimeline>().apply_delta(FIRST_TICK.cast_signed());
        })?;
        let mut this = Self {
            game,
            rng: SmallRng::seed_from_u64(seed ^ 0x50AC),
            lives: [PlayerState::Playing; PLAYERS],
            watch: Invariants::new(seed),
            joins: 0,
        };
        invariants::record_kicks(&mut this.game.server);
        adversaries::make_cheaters(&mut this.game, seed);
        this.game.set_firing(true);
        Ok(this)
    }

    fn second(&mut self, second: u64) -> Result<(), String> {
        self.watch.second = second;
        if second % REST_INTERVAL == REST_INTERVAL - 1 {
            self.rest();
            return Ok(());
        }
        for player in 0..PLAYERS {
            self.live(player, second)?;
            if self.rng.random_range(0..60) == 0 {
                let link = preset(LINKS[self.rng.random_range(0..LINKS.len())])?;
                set_link(&mut self.game.clients[player], link.conditions());
            }
        }
        // Departures happen at fractions of a second.
        let first = Duration::from_secs_f64(self.rng.random_range(0.0..1.0));
        self.game.run(first);
        for player in 1..PLAYERS {
            let leaves = self.rng.random_bool(64.0 / f64::from(DEPARTURE_TICKS) / (PLAYERS - 1) as f64);
            if leaves && self.lives[player] == PlayerState::Playing {
                if self.rng.random_bool(0.5) {
                    self.game.disconnect(player);
                } else {
                    self.game.power_off(player);
                }
                self.lives[player] = PlayerState::Disconnected(second + self.rng.random_range(1..12));
            }
        }
        self.game.run(Duration::from_secs(1).saturating_sub(first));
        self.watch.check_values_and_kicks(&mut self.game);
        Ok(())
    }

    /// Updates a player's connection: rejoins after an absence and waits until the player has a pawn.
    fn live(&mut self, player: usize, second: u64) -> Result<(), String> {
        /// Seconds to join: netcode keeps an old connection for some time, and a handshake takes a few round
        /// trips more.
        const PATIENCE: u64 = 12;
        let playing = self.game.is_playing(player);
        match self.lives[player] {
            // Kicked, or the connection was lost.
            PlayerState::Playing if !playing => {
                if player < HONEST {
                    self.watch.report_break(format!("honest player {player} lost its connection"));
                }
                self.lives[player] = PlayerState::Disconnected(second + 2);
            }
            PlayerState::Disconnected(until) if second >= until => {
                self.game.rejoin(player)?;
                adversaries::make_cheater(&mut self.game, player, self.rng.random());
                self.joins += 1;
                self.lives[player] = PlayerState::Joining(second);
            }
            PlayerState::Joining(_) if playing => {
                self.lives[player] = PlayerState::Playing;
                if let Some(mut script) = self.script(player) {
                    script.may_fire = true;
                }
            }
            PlayerState::Joining(since) if second > since + PATIENCE => {
                if player < HONEST {
                    self.watch.report_break(format!("player {player} could not rejoin within {PATIENCE} s"));
                }
                self.lives[player] = PlayerState::Disconnected(second + 1);
            }
            _ => {}
        }
        Ok(())
    }

    fn script(&mut self, player: usize) -> Option<Mut<'_, ScriptedPlayer>> {
        self.game.clients.get_mut(player)?.world_mut().get_resource_mut()
    }

    /// Pauses all input and checks that both sides agree.
    fn rest(&mut self) {
        self.watch.check_at_rest(&mut self.game, |player| self.lives[player] == PlayerState::Playing);
    }
}

fn set_link(client: &mut App, conditions: LinkConditions) {
    let world = client.world_mut();
    for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
        sim.set(conditions);
    }
}

// A second has 64 ticks.
const _: () = assert!(TICK.as_nanos() == 15_625_000);

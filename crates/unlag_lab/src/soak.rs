//! A long match in which everything changes all the time: who plays, how bad each link is, and two who cheat.
//!
//! Time is stepped and all chance comes from the seed: a failure says at which second it happened, and the same seed
//! brings it about again.

mod adversaries;
mod watch;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use clap::Args;
use lightyear::prelude::LocalTimeline;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::{
    app::{ServerOptions, TICK},
    stepped_match::{Match, MatchOptions},
    weapon_set::WeaponSet,
};

use crate::{Options, figures::Figures, load::resident_bytes};
use watch::Watch;

/// How long to soak.
#[derive(Args, Clone, Copy, Debug)]
pub struct SoakArgs {
    /// Minutes of play. Default 40, in which every number of 16 bits wraps; with `--quick` 4.
    #[arg(long)]
    minutes: Option<f64>,
}

/// Players who do nothing wrong; the first of them never leaves.
pub const HONEST: usize = 4;
/// And two who do.
pub const PLAYERS: usize = HONEST + 2;
/// Links on which one can play. A link changes to one of them now and then.
const LINKS: [&str; 8] =
    ["LAN", "Good broadband", "Average (UE)", "Bad (UE)", "4G p50", "WiFi congested", "Starlink", "GNS bad"];
/// A tick in so many begins somebody's leave.
const LEAVES: u32 = 1_000;
/// Seconds between two rests, in which everything must be equal on both sides.
const REST: u64 = 30;
/// Ticks of 16 bits wrap a minute after this one.
const FIRST_TICK: u32 = 65_536 - 64 * 60;

/// What a player is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Playing,
    /// Until this second.
    Away(u64),
    /// Since this second.
    Joining(u64),
}

pub fn measure(options: &Options, args: SoakArgs) -> Result<Figures, String> {
    let minutes = args.minutes.unwrap_or(if options.quick { 4.0 } else { 40.0 });
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
    soak.rest(seconds);
    let mut figures = Figures::default();
    let breaks = soak.watch.breaks as f64;
    let what =
        format!("{minutes} minutes, seed {}, {} joins, {} links", options.seed, soak.joins, soak.links);
    figures.add("soak_invariant_breaks", breaks, what)?;
    figures.add(
        "soak_kicked_adversaries",
        soak.watch.kicked as f64,
        "times that one who cheats was thrown out for its packets",
    )?;
    let report = soak.game.report();
    let steady = &report.players[0].shot_stats;
    let agreed = steady.unclamped().confirmed_of_drawn().ok_or("nobody was shot at")?;
    figures.add("soak_agreement_percent", agreed, "of what the steady player's screen showed as hit")?;
    figures.add("soak_rounds", steady.shots as f64, "that the steady player fired")?;
    figures.add("soak_lost_verdicts", steady.lost as f64, "rounds of the steady player without an answer")?;
    let growth = resident_bytes() as f64 / memory.max(1) as f64 - 1.0;
    figures.add("soak_rss_growth_percent", growth * 100.0, "from a quarter of it on, all apps together")?;
    figures.add("soak_digest", f64::from(soak.watch.digest), "of where everybody was at every rest")?;
    Ok(figures)
}

struct Soak {
    game: Match,
    rng: SmallRng,
    lives: [Life; PLAYERS],
    watch: Watch,
    joins: u32,
    links: u32,
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
            lives: [Life::Playing; PLAYERS],
            watch: Watch::new(seed),
            joins: 0,
            links: 0,
        };
        watch::listen(&mut this.game.server);
        adversaries::equip(&mut this.game, seed);
        this.game.set_firing(true);
        Ok(this)
    }

    fn second(&mut self, second: u64) -> Result<(), String> {
        if second % REST == REST - 1 {
            self.rest(second);
            return Ok(());
        }
        for player in 0..PLAYERS {
            self.live(player, second)?;
            if self.rng.random_range(0..60) == 0 {
                let link = LinkPreset::named(LINKS[self.rng.random_range(0..LINKS.len())]);
                let conditions = link.map(LinkPreset::conditions).ok_or("a preset is gone")?;
                self.links += 1;
                set_link(&mut self.game.clients[player], conditions);
            }
        }
        // Not everything happens at whole seconds.
        let first = Duration::from_secs_f64(self.rng.random_range(0.0..1.0));
        self.game.run(first);
        for player in 1..PLAYERS {
            let leaves = self.rng.random_bool(64.0 / f64::from(LEAVES) / (PLAYERS - 1) as f64);
            if leaves && self.lives[player] == Life::Playing {
                if self.rng.random_bool(0.5) {
                    self.game.disconnect(player);
                } else {
                    self.game.power_off(player);
                }
                self.lives[player] = Life::Away(second + self.rng.random_range(1..12));
            }
        }
        self.game.run(Duration::from_secs(1).saturating_sub(first));
        self.watch.numbers(&mut self.game, second);
        Ok(())
    }

    /// Comes back when it is time, and is looked after until it plays.
    fn live(&mut self, player: usize, second: u64) -> Result<(), String> {
        /// netcode knows an old link for so long, and a handshake takes a few more round trips.
        const PATIENCE: u64 = 12;
        let playing = self.game.is_playing(player);
        match self.lives[player] {
            // Thrown out, or the connection was lost.
            Life::Playing if !playing => {
                if player < HONEST {
                    self.watch.say(second, format!("honest player {player} was dropped"));
                }
                self.lives[player] = Life::Away(second + 2);
            }
            Life::Away(until) if second >= until => {
                self.game.rejoin(player)?;
                adversaries::equip_one(&mut self.game, player, self.rng.random());
                self.joins += 1;
                self.lives[player] = Life::Joining(second);
            }
            Life::Joining(_) if playing => {
                self.lives[player] = Life::Playing;
                if let Some(mut script) = self.script(player) {
                    script.may_fire = true;
                }
            }
            Life::Joining(since) if second > since + PATIENCE => {
                if player < HONEST {
                    self.watch.say(second, format!("player {player} did not get back in {PATIENCE} s"));
                }
                self.lives[player] = Life::Away(second + 1);
            }
            _ => {}
        }
        Ok(())
    }

    fn script(&mut self, player: usize) -> Option<Mut<'_, unlag_examples::scripted_player::ScriptedPlayer>> {
        self.game.clients.get_mut(player)?.world_mut().get_resource_mut()
    }

    /// Everybody takes the hands off; then both sides must be the same.
    fn rest(&mut self, second: u64) {
        self.watch.rest(&mut self.game, |player| self.lives[player] == Life::Playing, second);
    }
}

fn set_link(client: &mut App, conditions: LinkConditions) {
    let world = client.world_mut();
    for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
        sim.set(conditions);
    }
}

/// So many ticks as make a second.
const _: () = assert!(TICK.as_nanos() == 15_625_000);

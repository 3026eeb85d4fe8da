//! Remote pawn on other clients, through server and links, against the owner's own screen.

mod habit_script;
mod owner;
mod recorders;
mod uplink;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{link_conditioner::LinkPreset, net::UpdateInterval, prelude::*};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use super::{
    Plan,
    error_metrics::{DrawnSample, ErrorMetrics, measure_errors, spread},
    truth::Truth,
};
use crate::figures::Figures;
use habit_script::{Habit, HabitScript};
use owner::OwnPath;
use recorders::{DrawnFrames, PublishedMoves};

/// Learning time of the clocks in seconds.
const LEARNING: f64 = 8.0;
/// Link of every client without Wi-Fi jitter on its uplink.
const USUAL: &str = "Good broadband";
/// Presets that the shooter offers as buttons, except the usual one.
const PRESETS: [&str; 8] =
    ["Perfect", "LAN", "Average (UE)", "Bad (UE)", "WiFi congested", "Bursty", "GNS terrible", "Torture A"];

/// Measured combination of player and links.
#[derive(Clone, Copy)]
struct Case {
    habit: Habit,
    /// Link of every client.
    link: &'static LinkPreset,
    /// Whether the owner's uplink additionally has the jitter of a home Wi-Fi.
    home: bool,
    /// Ticks between two updates, if not the default.
    interval: Option<u32>,
}

/// Results of two watchers of one owner, one per run.
#[derive(Default)]
struct Watched {
    /// Watcher with Hermite interpolation.
    hermite: Vec<ErrorMetrics>,
    /// Watcher with linear interpolation.
    linear: Vec<ErrorMetrics>,
    /// Corrections of the owner.
    corrections: u64,
}

/// Adds the errors of a remote pawn through the whole pipeline.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let usual = LinkPreset::find(USUAL).map_err(|e| e.to_string())?;
    let at_home = "home WiFi jitter on the owner's uplink";
    for habit in Habit::ALL {
        let case = Case { habit, link: usual, home: true, interval: None };
        add_case(figures, plan, case, habit.name(), &format!("{USUAL} and {at_home}"))?;
    }
    let rare = Case { habit: Habit::Strafing, link: usual, home: true, interval: Some(6) };
    add_case(
        figures,
        plan,
        rare,
        "strafing_6ticks",
        &format!("{USUAL} and {at_home}, an update every 6 ticks"),
    )?;
    for name in PRESETS {
        let link = LinkPreset::find(name).map_err(|e| e.to_string())?;
        let case = Case { habit: Habit::Strafing, link, home: false, interval: None };
        add_case(figures, plan, case, &format!("strafing_{}", super::playout::slug(name)), name)?;
    }
    Ok(())
}

fn add_case(figures: &mut Figures, plan: &Plan, case: Case, key: &str, link: &str) -> Result<(), String> {
    let mut watched = Watched::default();
    // A match is expensive: one run per three seeds.
    for seed in plan.seeds.iter().take(plan.seeds.len().div_ceil(3)) {
        case.play(plan.seconds, *seed, &mut watched)?;
    }
    let of = |runs: &[ErrorMetrics], number: fn(&ErrorMetrics) -> f64| spread(runs.iter().map(number));
    let (runs, linear) = (&watched.hermite, &watched.linear);
    figures.add(
        format!("replicated_rms_cm_{key}"),
        of(runs, |v| v.rms).mean,
        format!(
            "cm between a watcher's screen and the owner's path at the same time of the owner, RMS, {} \
             on {link}, mean of {} runs; mean error {:.3}; linear {:.3}; {} corrections of the owner",
            case.habit.name(),
            runs.len(),
            of(runs, |v| v.mean).mean,
            of(linear, |v| v.rms).mean,
            watched.corrections
        ),
    )?;
    figures.add(
        format!("replicated_max_cm_{key}"),
        of(runs, |v| v.max).worst,
        format!(
            "the same, maximum of {} frames; p99 {:.3}; linear {:.3}; {} pops, {:.3} % frozen",
            runs.iter().map(|v| v.frames).sum::<usize>(),
            of(runs, |v| v.p99).worst,
            of(linear, |v| v.max).worst,
            runs.iter().map(|v| v.pops).sum::<usize>(),
            of(runs, |v| v.frozen_percent).mean
        ),
    )?;
    figures.add(
        format!("replicated_delay_ms_{key}"),
        of(runs, |v| v.delay.0 * 1_000.0).mean,
        format!(
            "ms from the owner's screen to the watcher's, both directions and all buffering included; \
             maximum {:.0}",
            of(runs, |v| v.delay.1 * 1_000.0).worst
        ),
    )
}

impl Case {
    fn play(self, seconds: f64, seed: u64, watched: &mut Watched) -> Result<(), String> {
        let options = MatchOptions { players: 3, seed, ..MatchOptions::default() };
        let mut game = Match::start(&options)?;
        let [owner, watchers @ ..] = &mut game.clients[..] else { return Err("no client joined".to_owned()) };
        let world = owner.world_mut();
        let id = *world
            .query_filtered::<&NetId, With<LocalControl>>()
            .single(world)
            .map_err(|e| format!("the owner has no pawn: {e}"))?;
        for (watcher, mode) in watchers.iter_mut().zip([ProxySmoothing::Hermite, ProxySmoothing::Linear]) {
            watcher.insert_resource(ScriptedPlayer::idle());
            let world = watcher.world_mut();
            let mut proxies = world.query::<(Entity, &NetId)>();
            let found = proxies.iter(world).find(|(_, proxy)| **proxy == id).map(|(proxy, _)| proxy);
            world.entity_mut(found.ok_or("a watcher does not have the owner's pawn")?).insert(mode);
            DrawnFrames::watch(watcher, id);
        }
        let world = game.server.world_mut();
        let mut pawns = world.query::<(Entity, &NetId)>();
        let pawn = pawns.iter(world).find(|(_, pawn)| **pawn == id).map(|(pawn, _)| pawn);
        if let Some((pawn, interval)) = pawn.zip(self.interval) {
            world.entity_mut(pawn).insert(UpdateInterval(interval));
        }
        PublishedMoves::watch(&mut game.server, id);
        for client in &mut game.clients {
            let world = client.world_mut();
            world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.apply(self.link));
        }
        let owner = &mut game.clients[0];
        HabitScript::new(self.habit, seed).take_over(owner);
        OwnPath::watch(owner);
        if self.home {
            uplink::jitter(owner);
        }
        game.run(Duration::from_secs_f64(LEARNING + seconds));
        self.judge(&mut game, watched)
    }

    fn judge(self, game: &mut Match, watched: &mut Watched) -> Result<(), String> {
        let clock = |game: &Match, client: usize| {
            let elapsed = game.clients[client].world().resource::<Time<Real>>().elapsed();
            (elapsed + game.client_age(client)).as_secs_f64()
        };
        let world = game.clients[0].world_mut();
        let mut own = world.query_filtered::<&PredictionStats, With<LocalControl>>();
        watched.corrections += own.single(world).map_or(0, |stats| stats.corrections);
        let path = world.remove_resource::<OwnPath>().unwrap_or_default();
        let began = path.began.ok_or("the owner's pawn never moved")?;
        let truth = Truth::from_positions(&path.places, OwnPath::STEP);
        let stage = game.server.world_mut().remove_resource::<PublishedMoves>().unwrap_or_default();
        for (watcher, runs) in [(1, &mut watched.hermite), (2, &mut watched.linear)] {
            let ahead = clock(game, 0) - clock(game, watcher);
            let screen =
                game.clients[watcher].world_mut().remove_resource::<DrawnFrames>().unwrap_or_default();
            let seen = screen.0.iter().filter_map(|picture| {
                let view = stage.moment(picture.stamp, began)? / 64.0;
                let now = path.ticks_at(picture.now + ahead)? / 64.0;
                let place = picture.place.as_dvec3();
                (now >= LEARNING).then_some(DrawnSample { now, view, place, yaw: 0.0 })
            });
            let seen: Vec<_> = seen.collect();
            runs.push(measure_errors(&truth, &seen, false));
        }
        Ok(())
    }
}

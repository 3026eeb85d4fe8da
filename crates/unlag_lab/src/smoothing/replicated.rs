//! Remote pawn on other clients, through server and links, against the owner's own screen.

mod habit_script;
mod owner;
mod race;
mod recorders;
mod uplink;

use bevy_unlag::net::UpdateInterval;
use bevy_unlag_testkit::SteppedApps;
use habit_script::{Habit, HabitScript};
use owner::OwnPath;
use recorders::{DrawnFrames, PublishedMoves};

use super::{
    Plan,
    error_metrics::{DrawnSample, Runs, measure_errors},
    truth::Truth,
};
use crate::prelude::*;

/// Learning time of the clocks in seconds.
const LEARNING: f64 = 8.0;
/// Link of every client without Wi-Fi jitter on its uplink.
const USUAL: &str = "Good broadband";
/// Presets that the shooter offers as buttons, except the usual one.
const PRESETS: [&str; 8] =
    ["Perfect", "LAN", "Average (UE)", "Bad (UE)", "WiFi congested", "Bursty", "GNS terrible", "Torture A"];

/// Watched player.
#[derive(Clone, Copy)]
enum Player {
    /// Soldier with a habit.
    Soldier(Habit),
    /// Scripted driver of a kart: bends, a ramp, reversing.
    Kart,
}

/// Measured combination of player and links.
#[derive(Clone, Copy)]
struct Case {
    player: Player,
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
    hermite: Runs,
    /// Watcher with linear interpolation.
    linear: Runs,
}

/// Adds the errors of a remote pawn through the whole pipeline.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let strafing = Player::Soldier(Habit::Strafing);
    let usual = Case { player: strafing, link: preset(USUAL)?, home: true, interval: None };
    for (habit, name) in Habit::ALL {
        add_case(figures, plan, Case { player: Player::Soldier(habit), ..usual }, name)?;
    }
    add_case(figures, plan, Case { player: Player::Kart, ..usual }, "kart")?;
    add_case(figures, plan, Case { interval: Some(6), ..usual }, "strafing_6ticks")?;
    for name in PRESETS {
        let case = Case { link: preset(name)?, home: false, ..usual };
        add_case(figures, plan, case, &format!("strafing_{}", super::playout::slug(name)))?;
    }
    Ok(())
}

fn add_case(figures: &mut Figures, plan: &Plan, case: Case, key: &str) -> Result<(), String> {
    let mut watched = Watched::default();
    // A match is expensive: one run per three seeds.
    for seed in plan.seeds.iter().take(plan.seeds.len().div_ceil(3)) {
        case.play(plan.seconds, *seed, &mut watched)?;
    }
    let Watched { hermite, linear } = watched;
    let rms = hermite.mean(|v| v.rms);
    let [frames, control_frames] = [&hermite, &linear].map(|runs| runs.sum(|v| v.samples) as u64);
    let note = format!("frames, the largest {:.3}", hermite.worst(|v| v.max));
    figures.add_counted(format!("replicated_rms_cm_{key}"), rms, frames, note)?;
    let control = linear.mean(|v| v.rms);
    let note = format!("frames, the largest {:.3}", linear.worst(|v| v.max));
    figures.add_counted(format!("control_replicated_rms_cm_linear_{key}"), control, control_frames, note)?;
    let note = format!("frames, and {control_frames} with straight lines");
    figures.add_counted(format!("replicated_rms_ratio_{key}"), rms / control, frames, note)?;
    figures.add(format!("replicated_max_cm_{key}"), hermite.worst(|v| v.max))?;
    figures.add(format!("replicated_delay_ms_{key}"), hermite.mean(|v| v.delay * 1_000.0))
}

impl Case {
    fn play(self, seconds: f64, seed: u64, watched: &mut Watched) -> Result<(), String> {
        match self.player {
            Player::Soldier(habit) => {
                let mut game = Match::start(&MatchOptions { players: 3, seed, ..default() })?;
                let [owner, watchers @ ..] = &mut game.clients[..] else {
                    return Err("no client joined".to_owned());
                };
                watchers.iter_mut().for_each(|watcher| {
                    watcher.insert_resource(ScriptedPlayer::idle());
                });
                HabitScript::new(habit, seed).take_over(owner);
                self.watch::<Soldier>(&mut game, seconds, watched)
            }
            Player::Kart => self.watch::<KartModel>(&mut race::start(seed)?, seconds, watched),
        }
    }

    fn watch<M: MoveModel>(
        self,
        game: &mut SteppedApps,
        seconds: f64,
        watched: &mut Watched,
    ) -> Result<(), String> {
        let [owner, watchers @ ..] = &mut game.clients[..] else { return Err("no client joined".to_owned()) };
        let (_, id) = own_pawn(owner)?;
        for (watcher, mode) in watchers.iter_mut().zip([ProxySmoothing::Hermite, ProxySmoothing::Linear]) {
            let proxy = named_pawn(watcher, id)?;
            watcher.world_mut().entity_mut(proxy).insert(mode);
            DrawnFrames::watch(watcher, id);
        }
        if let Some(interval) = self.interval {
            let pawn = named_pawn(&mut game.server, id)?;
            game.server.world_mut().entity_mut(pawn).insert(UpdateInterval(interval));
        }
        PublishedMoves::watch::<M>(&mut game.server, id);
        for client in &mut game.clients {
            let world = client.world_mut();
            world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.apply(self.link));
        }
        let owner = &mut game.clients[0];
        OwnPath::watch::<M>(owner);
        if self.home {
            uplink::jitter(owner);
        }
        game.run(Duration::from_secs_f64(LEARNING + seconds));
        Self::evaluate(game, watched)
    }

    fn evaluate(game: &mut SteppedApps, watched: &mut Watched) -> Result<(), String> {
        let clock = |game: &SteppedApps, client: usize| {
            let elapsed = game.clients[client].world().resource::<Time<Real>>().elapsed();
            (elapsed + game.client_age(client)).as_secs_f64()
        };
        let world = game.clients[0].world_mut();
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
            runs.0.push(measure_errors(&truth, &seen, false));
        }
        Ok(())
    }
}

//! Clients' estimate of the server's time in a match, over links and with frames of 15 ms.

use super::{Plan, playout::slug};
use crate::prelude::*;

/// Links and frames per second of the clients.
const LINKS: [&str; 2] = ["Good broadband", "Bad (UE)"];
const FPS: f64 = 1_000.0 / 15.0;
/// Learning time in seconds.
const LEARNING: f64 = 10.0;
/// Seconds between two comparisons with the server's time.
const EVERY: f64 = 0.05;
/// Exchanges of the control's running mean.
const MEAN_OF: usize = 20;

/// Offsets of a client's exchanges (server − client, in seconds): what a running mean knows.
#[derive(Resource, Default)]
struct Offsets(Vec<f64>);

/// Absolute errors of all clients, in milliseconds.
#[derive(Default)]
struct ClockErrors {
    estimate: Vec<f64>,
    running_mean: Vec<f64>,
}

/// Adds the errors of the clients' clocks.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    for name in LINKS {
        let mut runs = Vec::new();
        for seed in &plan.seeds {
            runs.push(play(name, plan.seconds, *seed)?);
        }
        let compared: u64 = runs.iter().map(|run| run.estimate.len() as u64).sum();
        let estimates: Vec<f64> = runs.iter_mut().map(|run| upper_quantile(&mut run.estimate, 950)).collect();
        let means = runs.iter_mut().map(|run| upper_quantile(&mut run.running_mean, 950));
        let (running_mean, key) = (mean(means), slug(name));
        let worst = largest(estimates.iter().copied());
        let note = format!("comparisons in {} matches", estimates.len());
        figures.add_counted(format!("server_clock_worst_p95_ms_{key}"), worst, compared, &note)?;
        figures.add_counted(format!("server_clock_p95_ms_{key}"), mean(estimates), compared, note)?;
        let note = format!("comparisons in {} matches", runs.len());
        let name = format!("control_server_clock_p95_ms_mean_{key}");
        figures.add_counted(name, running_mean, compared, note)?;
    }
    Ok(())
}

fn play(link: &str, seconds: f64, seed: u64) -> Result<ClockErrors, String> {
    let conditions = preset(link)?.conditions();
    let mut game = Match::start(&MatchOptions { players: 3, conditions, seed, fps: FPS, ..default() })?;
    for client in &mut game.clients {
        client.init_resource::<Offsets>().add_systems(Last, record_exchange);
    }
    game.run(Duration::from_secs_f64(LEARNING));
    let mut errors = ClockErrors::default();
    for _ in 0..(seconds / EVERY) as u32 {
        game.run(Duration::from_secs_f64(EVERY));
        compare(&game, &mut errors);
    }
    Ok(errors)
}

fn record_exchange(clock: Res<ServerClock>, mut last: Local<u64>, mut offsets: ResMut<Offsets>) {
    if clock.samples() != *last {
        *last = clock.samples();
        offsets.0.extend(clock.newest_exchange().map(|[t0, t1, t2, t3]| ((t1 - t0) - (t3 - t2)) / 2.0));
    }
}

fn compare(game: &Match, errors: &mut ClockErrors) {
    let world = game.server.world();
    let (fixed, stall) = (world.resource::<Time<Fixed>>(), world.resource::<Stall>().lost_time());
    let tick = fixed.timestep().as_secs_f64();
    let rest = (fixed.overstep() + stall + game.server_age()).as_secs_f64();
    let truth = f64::from(world.resource::<CurrentTick>().0.0) * tick + rest;
    for (i, client) in game.clients.iter().enumerate() {
        let world = client.world();
        let now = world.resource::<GameClock>().unsteered_seconds(world.resource::<Time<Real>>())
            + game.client_age(i).as_secs_f64();
        let off = |seconds: f64| (seconds - truth).abs() * 1_000.0;
        errors.estimate.push(off(world.resource::<ServerClock>().seconds(now).unwrap_or(f64::INFINITY)));
        let known = &world.resource::<Offsets>().0;
        let newest = &known[known.len().saturating_sub(MEAN_OF)..];
        errors.running_mean.push(off(now + mean(newest.iter().copied())));
    }
}

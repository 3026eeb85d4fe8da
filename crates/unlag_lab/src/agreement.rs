//! What the screen showed against what the server confirmed.

use core::time::Duration;
use std::{collections::HashMap, path::Path};

use bevy_unlag::prelude::*;
use plotters::prelude::*;
use unlag_examples::{
    app::ServerOptions,
    lockstep::{self, Match, MatchOptions},
    report::MatchReport,
    script::Script,
};

use crate::{Options, figures::Figures};

/// 150 ms of round trip, some jitter, 2 % loss.
const LINK_150: LinkConditions = LinkConditions {
    latency: Duration::from_millis(75),
    jitter: Duration::from_millis(10),
    loss: 0.02,
    ..LinkConditions::PERFECT
};

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    let (players, seconds) = if options.quick { (6, 12.0) } else { (8, 240.0) };
    let fight = |rewind, conditions, seconds| {
        lockstep::play(&MatchOptions {
            players,
            seconds,
            conditions,
            seed: options.seed,
            server: ServerOptions { rewind, ..ServerOptions::default() },
            ..MatchOptions::default()
        })
    };

    let on = fight(RewindMode::On, LINK_150, seconds)?;
    let total = on.total();
    let both = total.confirmed_of_drawn().zip(total.drawn_of_confirmed());
    let lower = both.map_or(f64::NAN, |(a, b)| a.min(b));
    figures.add("agreement_150ms_2loss", lower, described(&on))?;
    let off = fight(RewindMode::Off, LINK_150, if options.quick { seconds } else { seconds / 4.0 })?;
    let confirmed = off.total().confirmed_of_drawn().unwrap_or(f64::NAN);
    figures.add(
        "agreement_150ms_2loss_rewind_off",
        confirmed,
        format!("{}; the control", described(&off)),
    )?;

    let (error, moves) = owner_error(options.seed, if options.quick { 15.0 } else { 600.0 })?;
    figures.add(
        "owner_error_max_cm_ue_average",
        error * 100.0,
        format!("cm between client and server after the same move, largest of {moves} moves on Average (UE)"),
    )?;

    let (up, down) = bytes(options.seed, if options.quick { 6.0 } else { 30.0 })?;
    figures.add(
        "bytes_per_s_up",
        up,
        "B/s of datagrams from one client, Good broadband, without UDP and IP",
    )?;
    figures.add(
        "bytes_per_s_down_per_proxy",
        down,
        "B/s of datagrams to one client for each further player",
    )?;

    if let Some(folder) = &options.plot {
        plot(options, folder)?;
    }
    Ok(figures)
}

fn described(report: &MatchReport) -> String {
    let total = report.total();
    format!(
        "% of {} drawn hits confirmed {:.3}, of {} confirmed drawn {:.3}",
        total.drawn,
        total.confirmed_of_drawn().unwrap_or(f64::NAN),
        total.confirmed,
        total.drawn_of_confirmed().unwrap_or(f64::NAN),
    )
}

/// The largest distance in metres between where the client and the server were after the same
/// move, and how many moves were compared. Everyone runs and jumps over stairs, ramp and cover;
/// nobody shoots, so nobody is put anywhere.
pub fn owner_error(seed: u64, seconds: f64) -> Result<(f64, usize), String> {
    let conditions = LinkPreset::find("Average (UE)").map_err(|e| e.to_string())?.conditions();
    let server = ServerOptions { trace: true, ..ServerOptions::default() };
    let options = MatchOptions { players: 4, seconds, conditions, seed, server, ..MatchOptions::default() };
    let mut played = Match::start(&options)?;
    for (player, client) in (0..).zip(&mut played.clients) {
        client.world_mut().insert_resource(Script::touring(seed.wrapping_mul(31).wrapping_add(player)));
    }
    played.run(Duration::from_secs_f64(seconds));

    let world = played.server.world_mut();
    let traces = world.query::<(&NetId, &MoveTrace)>();
    let mut traces = traces;
    let run: HashMap<NetId, HashMap<Tick, _>> =
        traces.iter(world).map(|(id, trace)| (*id, trace.0.iter().copied().collect())).collect();
    let (mut largest, mut compared) = (0.0_f64, 0);
    for client in &mut played.clients {
        let world = client.world_mut();
        let mut own = world.query::<(&NetId, &MoveTrace, &LocalControl)>();
        for (id, trace, _) in own.iter(world) {
            let Some(run) = run.get(id) else { continue };
            for (tick, position) in &trace.0 {
                if let Some(other) = run.get(tick) {
                    largest = largest.max(f64::from(position.distance(*other)));
                    compared += 1;
                }
            }
        }
    }
    if compared == 0 { Err("no move was compared".to_owned()) } else { Ok((largest, compared)) }
}

/// Bytes a second from one client, and to one client for each further player.
fn bytes(seed: u64, seconds: f64) -> Result<(f64, f64), String> {
    let conditions = LinkPreset::find("Good broadband").map_err(|e| e.to_string())?.conditions();
    let flow = |players| -> Result<(f64, f64), String> {
        let options = MatchOptions { players, seconds, conditions, seed, ..MatchOptions::default() };
        let mut played = Match::start(&options)?;
        let totals = |played: &mut Match| {
            let sims = played.clients.iter_mut().map(|client| {
                let world = client.world_mut();
                world.query::<&NetSim>().iter(world).map(NetSim::bytes).next().unwrap_or((0, 0))
            });
            sims.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let before = totals(&mut played);
        played.fight(seconds);
        let after = totals(&mut played);
        // A fight ends with three seconds without fire; they count for both.
        let per = (seconds + 3.0) * players as f64;
        Ok(((after.0 - before.0) as f64 / per, (after.1 - before.1) as f64 / per))
    };
    let (few, many) = (flow(2)?, flow(6)?);
    Ok((many.0, (many.1 - few.1) / 4.0))
}

/// Agreement over the round trip, with and without rewind.
fn plot(options: &Options, folder: &Path) -> Result<(), String> {
    let seconds = if options.quick { 4.0 } else { 30.0 };
    let mut curves = Vec::new();
    for rewind in [RewindMode::On, RewindMode::Off] {
        let mut curve = Vec::new();
        for rtt in [0_u32, 50, 100, 150, 200, 300] {
            let latency = Duration::from_millis(u64::from(rtt) / 2);
            let report = lockstep::play(&MatchOptions {
                seconds,
                conditions: LinkConditions { latency, ..LinkConditions::PERFECT },
                seed: options.seed,
                server: ServerOptions { rewind, ..ServerOptions::default() },
                ..MatchOptions::default()
            })?;
            curve.push((f64::from(rtt), report.total().confirmed_of_drawn().unwrap_or(0.0)));
        }
        curves.push((rewind, curve));
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    let path = folder.join("agreement.svg");
    draw(&path, &curves).map_err(|e| format!("cannot draw {}: {e}", path.display()))
}

type Curve = (RewindMode, Vec<(f64, f64)>);

fn draw(path: &Path, curves: &[Curve]) -> Result<(), Box<dyn core::error::Error>> {
    let root = SVGBackend::new(path, (720, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("P(confirmed | drawn) over the round trip", ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..300.0, 0.0..105.0)?;
    chart.configure_mesh().x_desc("round trip, ms").y_desc("%").draw()?;
    for (rewind, curve) in curves {
        let (colour, name) = match rewind {
            RewindMode::On => (&BLUE, "rewind on"),
            RewindMode::Off => (&RED, "rewind off"),
        };
        chart
            .draw_series(LineSeries::new(curve.iter().copied(), colour.stroke_width(2)))?
            .label(name)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}

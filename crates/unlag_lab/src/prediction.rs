//! Cost, bandwidth and tolerance of prediction.

mod bytes;
mod clocks;
mod empty_model;
mod jitter;
mod late_inputs;
mod replay;
mod server_cost;
mod session;
mod tick_script;

use bytes::Players;

use crate::agreement::owner_error;
use crate::prelude::*;

pub use bytes::measure_rounds;

/// Numbers of characters in the scene of the correction.
const CHARACTERS: [usize; 4] = [1, 16, 64, 256];
const REPLAY_KEYS: [&str; 4] = ["replay_us_1", "replay_us_16", "replay_us_64", "replay_us_256"];

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    // Timings first, before the other measurements heat up the machine.
    add_times(&mut figures, options)?;
    add_bytes(&mut figures, options)?;
    add_errors(&mut figures, options)?;
    add_clocks(&mut figures, options)?;
    add_late(&mut figures, options)?;
    Ok(figures)
}

fn add_times(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let replays = replay::measure(CHARACTERS, options.extent(60, 600));
    for (key, replay) in REPLAY_KEYS.iter().zip(&replays) {
        let replay::Replay { frame, corrections, length, .. } = replay;
        figures.add(*key, replay.replay, format!(
            "µs to replay 10 moves, median of {corrections} corrections {length:.1} moves back, scaled to \
             10; a frame with one took {frame:.0} µs longer than other frames"
        ))?;
    }
    if let Some(folder) = &options.plot {
        let points = CHARACTERS.iter().zip(&replays).map(|(n, replay)| (*n as f64, replay.replay));
        Chart {
            file: "prediction_replay.svg",
            caption: "Correction of one character 10 moves back",
            x: "characters in the scene",
            y: "µs",
            curves: &[("", points.collect())],
            ..Chart::default()
        }
        .draw(folder)?;
    }
    let server = server_cost::measure(options.extent(512, 4_096), options.seed)?;
    figures.add("server_move_us", server.median, format!(
        "µs of the server's whole update per move, {} moves with an empty step, median of ticks; {:.2} on \
         average, 99th percentile {:.2}; {:.1} B per packet",
        server.moves, server.mean, server.p99, server.bytes
    ))
}

fn add_bytes(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let seconds = options.extent(8.0, 60.0);
    let moves =
        |link, players| bytes::measure_moves(preset(link)?.conditions(), players, seconds, options.seed);
    let good = moves("Good broadband", Players::Turning)?;
    let fighters = moves("Good broadband", Players::Unarmed)?;
    figures.add(
        "bytes_per_move",
        good.mean(),
        format!(
            "B of payload per move packet on Good broadband with a turn in every tick, {} packets; {:.1} for \
         fighters that do not fire",
            good.packets,
            fighters.mean()
        ),
    )?;
    let bad = moves("GNS terrible", Players::Turning)?;
    figures.add(
        "bytes_per_move_20_loss",
        bad.mean(),
        format!("the same on GNS terrible, {} packets", bad.packets),
    )?;
    let rounds = measure_rounds(preset("Good broadband")?.conditions(), seconds, options.seed)?;
    figures.add("bytes_per_firing_move", rounds.extra / rounds.rounds as f64, format!(
        "B that each of {} rounds adds to all packets that carry it; a packet whose newest move fires has \
         {:.1} B, the other packets of the fight {:.1} B",
        rounds.rounds,
        rounds.firing.mean(),
        rounds.others.mean()
    ))
}

fn add_errors(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let seconds = options.extent(10.0, 600.0);
    let (error, moves) = owner_error(SimulationRate::default(), options.seed, seconds)?;
    figures.add(
        "owner_error_max_cm_10min_ue_average",
        error * 100.0,
        format!(
            "cm between client and server after the same move, largest of {moves} moves of four players in \
         {seconds:.0} s on Average (UE) with turns, jumps and stairs"
        ),
    )?;
    let apart = jitter::measure(Duration::from_millis(30), options.extent(10.0, 60.0), options.seed)?;
    figures.add("uplink_jitter_error_cm", apart.drawn.0, format!(
        "cm between a remote pawn drawn with ± 30 ms of uplink jitter and without, same inputs, largest of \
         {} frames after 5 s; {:.3} on average; {:.3} at equal times of the owner; its timeline is {} ticks \
         later and shifted {} times; the inputs differ by {:.3} cm",
        apart.frames, apart.drawn.1, apart.path, apart.added_ticks, apart.changes, apart.inputs
    ))?;
    if let Some(folder) = &options.plot {
        Chart {
            file: "prediction_uplink_jitter.svg",
            caption: "Remote pawn with ± 30 ms of uplink jitter against the same inputs without",
            x: "s",
            y: "cm",
            curves: &[("", apart.curve)],
            goal: Some(1.0),
            ..Chart::default()
        }
        .draw(folder)?;
    }
    Ok(())
}

fn add_clocks(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let double = clocks::fast_clock(2.0, options.extent(20.0, 60.0), options.seed)?;
    figures.add(
        "speedhack_2x_gain_s",
        double.gained,
        format!(
            "s that simulated moves were ahead of real time at most, with a client clock at twice the speed; \
         detected {} times",
            double.flags
        ),
    )?;
    let little = clocks::fast_clock(1.04, 60.0, options.seed)?;
    let found = if little.flagged.is_some() { "is detected" } else { "would be detected; it has not been" };
    figures.add(
        "speedhack_104_flagged_s",
        little.flagged.unwrap_or(60.0),
        format!("s until a clock at 1.04 times the speed {found}; it gained {:.3} s", little.gained),
    )?;
    let honest = clocks::measure_honest_clocks(options.extent(1.0 / 6.0, 10.0), options.seed)?;
    figures.add("honest_flags_10h", honest.flags as f64, format!(
        "detections in {:.2} h of honest players on five bad links, clocks off by 200 ppm and 0.5 %; {} of \
         {} moves withheld; after silences, no clock was off by more than {:.3} s at the end{}{}",
        honest.hours,
        honest.withheld,
        honest.moves,
        honest.drifted,
        if honest.flags > 0 { ": " } else { "" },
        honest.where_flagged.join(", ")
    ))
}

fn add_late(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let seconds = options.extent(60.0, 1_200.0);
    for (key, link, name) in [
        ("inputs_late_percent_20_loss", late_inputs::on("GNS terrible")?, "GNS terrible"),
        (
            "inputs_late_percent_burst8",
            late_inputs::bursts_of_eight()?,
            "Good broadband with bursts of 8 lost packets",
        ),
    ] {
        let late = late_inputs::measure(link, seconds, options.seed)?;
        figures.add(key, late.percent(), format!(
            "% of {} inputs executed more than 250 ms after the fastest, or never ({} late, {} never), on \
             {name} with a new input every tick; {:.1} B per packet",
            late.made, late.late, late.never, late.bytes
        ))?;
    }
    Ok(())
}

//! Growth with the number of players: the server's tick, the bytes to each player, and a shot.

use crate::{
    chart::{Chart, Curve},
    load,
    prelude::*,
    rewind,
};

/// Measures matches and shots of growing size.
///
/// # Errors
/// Returns a message if a match cannot be played or a plot cannot be written.
pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    let players = options.extent(&[8, 32, 128][..], &[8, 16, 32, 64, 128, 256]);
    let targets = options.extent(&[8, 128, 1_024][..], &[8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096]);
    rewind::add_shots(targets, options, &mut figures)?;
    load::add_matches(players, options, &mut figures)?;
    let Some(folder) = &options.plot else { return Ok(figures) };
    let line = |name, counts: &[usize], key: fn(usize) -> String| -> Curve {
        let value = |count: &usize| {
            let key = key(*count);
            let found = figures.0.iter().find(|figure| figure.key == key);
            found.map(|figure| (*count as f64, figure.value))
        };
        (name, counts.iter().filter_map(value).collect())
    };
    let ticks = [
        line("median", players, |count| format!("tick_p50_ms_{count}")),
        line("99th percentile", players, |count| format!("tick_p99_ms_{count}")),
    ];
    let bytes = [
        line("down", players, |count| format!("bytes_per_s_down_{count}")),
        line("up", players, |count| format!("bytes_per_s_up_{count}")),
    ];
    let shots = [line("", targets, |count| format!("shot_{count}_us"))];
    for (file, caption, y, curves) in [
        ("growth_tick.svg", "Processor time of a tick of 1/64 s", "ms", &ticks[..]),
        ("growth_bytes.svg", "Bytes per second of each player, with headers", "B/s", &bytes),
        ("growth_shot.svg", "Median time of a shot, 19 hit boxes a player", "us", &shots),
    ] {
        Chart { file, caption, x: "players", y, curves, log: true, ..default() }.draw(folder)?;
    }
    Ok(figures)
}

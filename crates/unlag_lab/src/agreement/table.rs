//! Markdown tables of the agreement matrix.

use core::fmt::Write;

use unlag_examples::shot_stats::{HitCounts, ShotStats, TargetMotion};

use super::{
    cell::{Cell, CellResult},
    matrix::{JITTERS, LOSSES, RTTS},
};

/// Returns three tables: the agreement of each cell, the counters of each cell, and the targets' actions.
pub fn text(cells: &[CellResult]) -> String {
    let mut text = String::from("Agreement in percent (lower of both ratios)\n\n");
    let columns: Vec<_> = RTTS.iter().map(|rtt| format!("RTT {rtt} ms")).collect();
    row(&mut text, ["Jitter, loss"].into_iter().chain(columns.iter().map(String::as_str)));
    row(&mut text, core::iter::once("---").chain(RTTS.iter().map(|_| "---:")));
    for (jitter, loss) in JITTERS.into_iter().flat_map(|jitter| LOSSES.map(|loss| (jitter, loss))) {
        let of = |rtt| cells.iter().find(|played| played.cell == Cell { rtt, jitter, loss });
        let line =
            RTTS.map(|rtt| of(rtt).map_or_else(String::new, |p| percent(p.shot_stats.tally().agreement())));
        if line.iter().any(|value| !value.is_empty()) {
            let name = format!("± {jitter} ms, {loss} %");
            row(&mut text, core::iter::once(&*name).chain(line.iter().map(String::as_str)));
        }
    }
    counts(&mut text, cells);
    action_table(&mut text, cells);
    text
}

fn row<'a>(text: &mut String, cells: impl Iterator<Item = &'a str>) {
    for cell in cells {
        let _ = write!(text, "| {cell} ");
    }
    text.push_str("|\n");
}

fn counts(text: &mut String, cells: &[CellResult]) {
    const COLUMNS: [&str; 15] = [
        "RTT, jitter, loss",
        "Playout ms",
        "Rounds",
        "Drawn",
        "Confirmed",
        "Agreed",
        "Conf. of drawn",
        "Drawn of conf.",
        "Missed",
        "Elsewhere",
        "Refused, drawn",
        "Lost",
        "Clamped, drawn",
        "Conf. of drawn, unclamped",
        "Drawn of conf., unclamped",
    ];
    text.push_str("\nCounters\n\n");
    row(text, COLUMNS.into_iter());
    row(text, COLUMNS.iter().map(|_| "---:"));
    for played in cells {
        let (Cell { rtt, jitter, loss }, l) = (played.cell, &played.shot_stats);
        let unclamped = l.unclamped();
        let line = [
            format!("{rtt}, {jitter}, {loss}"),
            format!("{:.0}", played.playout_ms),
            l.shots.to_string(),
            l.drawn.to_string(),
            l.confirmed.to_string(),
            l.agreed.to_string(),
            percent(l.confirmed_of_drawn()),
            percent(l.drawn_of_confirmed()),
            l.missed.to_string(),
            l.elsewhere.to_string(),
            format!("{}, {}", l.refused, l.refused_drawn),
            l.lost.to_string(),
            format!("{}, {}", l.clamped.rounds, l.clamped.drawn),
            percent(unclamped.confirmed_of_drawn()),
            percent(unclamped.drawn_of_confirmed()),
        ];
        row(text, line.iter().map(String::as_str));
    }
}

/// Adds a table of the targets' actions, for the cells with a target agreement and for the others.
fn action_table(text: &mut String, cells: &[CellResult]) {
    text.push_str("\nActions of the targets of drawn hits\n\n");
    row(text, ["Cells", "Target", "Drawn", "Agreed", "Agreed of drawn"].into_iter());
    row(text, ["---", "---", "---:", "---:", "---:"].into_iter());
    for (name, decide) in [("up to 200 ms and 5 %", true), ("beyond", false)] {
        let mut all = ShotStats::default();
        for played in cells.iter().filter(|played| super::matrix::has_target(played.cell) == decide) {
            all.merge(&played.shot_stats);
        }
        for (by_motion, tally) in TargetMotion::ALL.into_iter().zip(all.by_motion) {
            let HitCounts { drawn, agreed, .. } = tally;
            if drawn > 0 {
                let line = [drawn.to_string(), agreed.to_string(), percent(tally.confirmed_of_drawn())];
                row(text, [name, by_motion.name()].into_iter().chain(line.iter().map(String::as_str)));
            }
        }
    }
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

//! Timeline of a client as rows of a trace.

use std::io::{self, Write};

use bevy_unlag::weapons::ShotResult;
use serde_json::json;

use super::{Timeline, TraceWriter};

/// Rows of a client, after those of the recording.
pub(super) const ROWS: [&str; 5] = [
    "client: predicted",
    "client: sent, until answered",
    "client: lost",
    "client: corrected",
    "client: judged",
];

/// Conversion of the times of an app to those of the trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimelineClock {
    /// Seconds to add.
    pub offset: f64,
    /// Seconds of a tick.
    pub tick_seconds: f64,
}

/// Writes the timeline of a client into a process of the trace, beside what
/// [`write_recording`](super::write_recording) has written about its pawn.
///
/// # Errors
/// Those of the output.
pub fn write_client<W: Write>(
    timeline: &Timeline,
    process: u32,
    clock: TimelineClock,
    trace: &mut TraceWriter<W>,
) -> io::Result<()> {
    let first = super::recorded::ROWS.len() as u32 + 1;
    let row = |row: u32| (process, first + row);
    for tick in timeline.ticks() {
        let own = json!({ "tick": tick.tick.0, "drawn": tick.drawn.map(|view| view.tick.0) });
        let at = |seconds: f64| seconds + clock.offset;
        trace.span(row(0), "predicted", (at(tick.predicted), clock.tick_seconds), &own)?;
        if let Some(sent) = tick.sent {
            // An answer that never came shows as a tick.
            let until = tick.answered.unwrap_or(sent + clock.tick_seconds);
            let name = if tick.answered.is_some() { "answered" } else { "unanswered" };
            trace.span(row(1), name, (at(sent), until - sent), &own)?;
        }
        if tick.is_lost {
            trace.instant(row(2), "lost", at(tick.predicted), &own)?;
        }
        if let Some(found) = &tick.correction {
            let args = json!({
                "tick": tick.tick.0, "cause": found.cause, "metres": found.error,
                "replayed": found.replayed, "field": found.field,
            });
            trace.instant(row(3), &found.cause, at(found.at), &args)?;
        }
        if let Some((judged, result)) = tick.judged {
            let name = match result {
                ShotResult::Hit(_) => "hit",
                ShotResult::Miss => "miss",
                ShotResult::Refused(_) => "refused",
                ShotResult::Launched => "launched",
            };
            trace.instant(
                row(4),
                name,
                at(judged),
                &json!({ "shot": tick.tick.0, "result": format!("{result:?}") }),
            )?;
        }
    }
    Ok(())
}

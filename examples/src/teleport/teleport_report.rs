//! Report of one key press, and a table of several reports.

use core::fmt::Write;

use bevy_unlag::prediction::CorrectionCause;

use super::{DISTANCE, Variant};

/// A jump of the pawn on the owner's screen from one frame to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jump {
    /// Milliseconds after the key press.
    pub ms: f64,
    /// Distance ahead, in metres; negative is back.
    pub metres: f32,
}

/// A slide of the pawn on the owner's screen, which hides a jump.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slide {
    /// Start, in milliseconds after the key press.
    pub from_ms: f64,
    /// Duration, in milliseconds.
    pub ms: f64,
}

/// A correction that counts as an error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CorrectionEntry {
    /// Milliseconds after the key press.
    pub ms: f64,
    /// Cause, as far as it is known.
    pub cause: CorrectionCause,
    /// Distance between the two sides, in metres.
    pub metres: f32,
    /// Whether it concerns a move from before the key press, and so is unrelated to the teleport.
    pub is_from_earlier_move: bool,
}

/// Report of one key press.
#[derive(Clone, PartialEq, Debug)]
pub struct TeleportReport {
    /// Implementation of the teleport.
    pub variant: Variant,
    /// Whether a wall blocked the destination, at least on the server.
    pub refused: bool,
    /// Times of the effect on the owner's machine, in milliseconds after the key press.
    pub effects: Vec<f64>,
    /// Times of the effect on the server, which other clients would get.
    pub effects_on_server: Vec<f64>,
    /// Jumps on the owner's screen.
    pub jumps: Vec<Jump>,
    /// Slide that hid a jump, if there was one.
    pub slide: Option<Slide>,
    /// Corrections that count as errors.
    pub corrections: Vec<CorrectionEntry>,
    /// Notifications of the owner: the time, and whether the teleport succeeded.
    pub outcomes: Vec<(f64, bool)>,
    /// Final distance of the pawn ahead of its start, in metres: for the owner and on the server.
    pub ahead: [f32; 2],
    /// Number of moves that the owner replayed.
    pub replayed: u64,
}

impl TeleportReport {
    /// Returns the corrections that the teleport caused.
    pub fn teleport_corrections(&self) -> impl Iterator<Item = &CorrectionEntry> {
        self.corrections.iter().filter(|correction| !correction.is_from_earlier_move)
    }

    /// Returns whether the pawn is at the expected position on both sides.
    #[must_use]
    pub fn arrived(&self) -> bool {
        let wanted = if self.refused { 0.0 } else { DISTANCE };
        self.ahead.iter().all(|ahead| (ahead - wanted).abs() < 0.02)
    }

    /// Returns the failed expectations of a player or a developer; none when the teleport was faultless.
    #[must_use]
    pub fn failed_expectations(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !self.arrived() {
            all.push("at the wrong position".to_owned());
        }
        let blind = self.refused && self.effects.len() <= 1;
        match self.effects[..] {
            _ if blind => {}
            [ms] if ms < 1.0 => {}
            [ms] => all.push(format!("effect {ms:.0} ms late")),
            [] => all.push("no effect".to_owned()),
            _ => all.push(format!("effect played {} times", self.effects.len())),
        }
        let moved = self.jumps.iter().find(|jump| jump.metres > 0.0);
        match moved {
            Some(jump) if jump.ms > 1.0 => all.push(format!("moves {:.0} ms late", jump.ms)),
            Some(_) => {}
            None => {
                let late = |slide: Slide| format!("slides there, {:.0} ms late", slide.from_ms);
                all.extend(self.slide.filter(|_| !self.refused).map(late));
            }
        }
        if !self.refused && self.jumps.iter().any(|jump| jump.metres < 0.0) {
            all.push("moved back".to_owned());
        }
        let counted = self.teleport_corrections().count();
        if counted > 0 && !self.refused {
            all.push(format!("{counted} corrections counted as errors"));
        }
        if !self.outcomes.iter().any(|(_, succeeded)| *succeeded != self.refused) {
            all.push("the owner is not notified".to_owned());
        }
        all
    }

    fn cells(&self) -> Vec<String> {
        let times = |times: &[f64]| match times {
            [] => "never".to_owned(),
            times => times.iter().map(|ms| format!("{ms:.0} ms")).collect::<Vec<_>>().join(", "),
        };
        let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
        let jump = |jump: &Jump| format!("{:+.1} m at {:.0} ms", jump.metres, jump.ms);
        let outcome = |(ms, succeeded): &(f64, bool)| {
            format!("{} at {ms:.0} ms", if *succeeded { "succeeded" } else { "refused" })
        };
        let adjusted =
            |correction: &CorrectionEntry| format!("{:.1} m {}", correction.metres, correction.cause);
        let earlier = self.corrections.iter().filter(|correction| correction.is_from_earlier_move);
        let outcomes: Vec<String> = self.outcomes.iter().map(outcome).collect();
        vec![
            times(&self.effects),
            times(&self.effects_on_server),
            list(self.jumps.iter().map(jump).collect()),
            self.slide.map_or("no".to_owned(), |slide| {
                format!("for {:.0} ms from {:.0} ms on", slide.ms, slide.from_ms)
            }),
            list(self.teleport_corrections().map(adjusted).collect()),
            list(earlier.map(adjusted).collect()),
            format!("{:.2} m / {:.2} m", self.ahead[0], self.ahead[1]),
            if outcomes.is_empty() { "never".to_owned() } else { outcomes.join(", ") },
        ]
    }
}

const ROWS: [&str; 8] = [
    "effect on the owner",
    "effect on the server",
    "jumps on the screen",
    "hidden by a slide",
    "counted as errors",
    "earlier corrections",
    "ahead: owner / server",
    "owner is notified",
];

/// Formats a block for each report: the events, and the verdict.
#[must_use]
pub fn table(reports: &[TeleportReport]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for report in reports {
        let _ = writeln!(text, "{}", report.variant.name());
        for (row, cell) in ROWS.iter().zip(report.cells()) {
            let _ = writeln!(text, "  {row:<22} {cell}");
        }
        let failed_expectations = report.failed_expectations();
        let verdict = if failed_expectations.is_empty() {
            "as expected".to_owned()
        } else {
            failed_expectations.join("; ")
        };
        let _ = writeln!(text, "  {:<22} {verdict}\n", "=> verdict");
    }
    text
}

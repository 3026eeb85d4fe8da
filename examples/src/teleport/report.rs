//! What one press of the key came to, and a table of several.

use core::fmt::Write;

use bevy_unlag::prediction::CorrectionCause;

use super::{DISTANCE, Variant};

/// The pawn on the owner's screen was somewhere else from one frame to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jump {
    /// Milliseconds after the key.
    pub ms: f64,
    /// Ahead; back when negative.
    pub metres: f32,
}

/// The pawn on the owner's screen slid, so that a jump would not show.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slide {
    /// Milliseconds after the key.
    pub from_ms: f64,
    /// For how long.
    pub ms: f64,
}

/// A correction that counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adjusted {
    /// Milliseconds after the key.
    pub ms: f64,
    /// Why, as far as anybody knows.
    pub cause: CorrectionCause,
    /// How far apart the two sides were.
    pub metres: f32,
    /// Whether it is about a move from before the key, and so has nothing to do with the teleport.
    pub of_an_earlier_move: bool,
}

/// What one press of the key came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// How the teleport was done.
    pub variant: Variant,
    /// Whether a wall was in the way, at least for the server.
    pub refused: bool,
    /// When the effect was played on the owner's machine, in milliseconds after the key.
    pub effects: Vec<f64>,
    /// When it was on the server: what everybody else is told.
    pub effects_on_server: Vec<f64>,
    /// Jumps on the owner's screen.
    pub jumps: Vec<Jump>,
    /// Whether a jump was hidden by a slide.
    pub slide: Option<Slide>,
    /// Corrections that count.
    pub corrections: Vec<Adjusted>,
    /// When the owner was told what became of it, and whether it succeeded.
    pub outcomes: Vec<(f64, bool)>,
    /// How far ahead the pawn ended, in metres: for the owner and for the server.
    pub ahead: [f32; 2],
    /// Moves that the owner made again.
    pub replayed: u64,
}

impl Report {
    /// The corrections that the teleport is to blame for.
    pub fn of_the_teleport(&self) -> impl Iterator<Item = &Adjusted> {
        self.corrections.iter().filter(|correction| !correction.of_an_earlier_move)
    }

    /// Whether the pawn is where it should be, for both.
    #[must_use]
    pub fn arrived(&self) -> bool {
        let wanted = if self.refused { 0.0 } else { DISTANCE };
        self.ahead.iter().all(|ahead| (ahead - wanted).abs() < 0.02)
    }

    /// Everything that a player or a developer would complain of.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !self.arrived() {
            all.push("not where it should be".to_owned());
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
            all.push("thrown back".to_owned());
        }
        let counted = self.of_the_teleport().count();
        if counted > 0 && !self.refused {
            all.push(format!("{counted} counted as error"));
        }
        if !self.outcomes.iter().any(|(_, succeeded)| *succeeded != self.refused) {
            all.push("nobody tells the owner".to_owned());
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
        let adjusted = |correction: &Adjusted| format!("{:.1} m {}", correction.metres, correction.cause);
        let earlier = self.corrections.iter().filter(|correction| correction.of_an_earlier_move);
        let outcomes: Vec<String> = self.outcomes.iter().map(outcome).collect();
        vec![
            times(&self.effects),
            times(&self.effects_on_server),
            list(self.jumps.iter().map(jump).collect()),
            self.slide.map_or("no".to_owned(), |slide| {
                format!("for {:.0} ms from {:.0} ms on", slide.ms, slide.from_ms)
            }),
            list(self.of_the_teleport().map(adjusted).collect()),
            list(earlier.map(adjusted).collect()),
            format!("{:.2} m / {:.2} m", self.ahead[0], self.ahead[1]),
            if outcomes.is_empty() { "never".to_owned() } else { outcomes.join(", ") },
        ]
    }
}

const ROWS: [&str; 8] = [
    "effect for the owner",
    "effect on the server",
    "jumps on the screen",
    "hidden by a slide",
    "counted as errors",
    "earlier corrections",
    "ahead: owner / server",
    "owner is told",
];

/// A block for each report: what happened, and what there is to complain of.
#[must_use]
pub fn table(reports: &[Report]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for report in reports {
        let _ = writeln!(text, "{}", report.variant.name());
        for (row, cell) in ROWS.iter().zip(report.cells()) {
            let _ = writeln!(text, "  {row:<22} {cell}");
        }
        let complaints = report.complaints();
        let verdict =
            if complaints.is_empty() { "as it should be".to_owned() } else { complaints.join("; ") };
        let _ = writeln!(text, "  {:<22} {verdict}\n", "=> verdict");
    }
    text
}

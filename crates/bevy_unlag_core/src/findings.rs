//! Diagnostics of the app's setup: each mistake is detected at run time and logged once, with its fix.

use bevy::prelude::*;

/// Kind of mistake in the setup of an app.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// `Time<Fixed>`, lightyear and the suite use different tick durations.
    TickRate,
    /// Server and client use different tick durations.
    ServerTickRate,
    /// Another plugin changes the speed of `Time<Virtual>`.
    TimeSteered,
    /// Another system moves the visuals of a pawn.
    SharedLooks,
    /// Another system moves a pawn.
    SharedPawn,
    /// Shots are possible but no pawn has hit boxes.
    NoHitBoxes,
    /// No transport sends the moves of the own pawn or receives their acknowledgements.
    UnsentMoves,
    /// The physics of the level do not step with the ticks.
    Physics,
    /// The server's key is all zeros.
    ZeroKey,
}

/// A detected mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Kind of mistake.
    pub fault: Fault,
    /// Log line: the problem and its fix.
    pub line: String,
}

/// Mistakes detected so far. Each [`Fault`] is logged once and remains here, for tests and for games that
/// display it. The suite's plugins detect the common mistakes themselves, at the cost of a few comparisons
/// per frame.
#[derive(Resource, Clone, Debug)]
pub struct Findings {
    /// Whether detection is enabled. Default: `true`.
    pub enabled: bool,
    found: Vec<Finding>,
}

impl Default for Findings {
    fn default() -> Self {
        Self { enabled: true, found: Vec::new() }
    }
}

impl Findings {
    /// Logs and stores a mistake, unless it was reported before or detection is disabled.
    pub fn report(&mut self, fault: Fault, line: impl FnOnce() -> String) {
        if self.enabled && !self.has(fault) {
            let line = line();
            warn!("bevy_unlag: {line}");
            self.found.push(Finding { fault, line });
        }
    }

    /// Returns whether this mistake was detected.
    #[must_use]
    pub fn has(&self, fault: Fault) -> bool {
        self.found.iter().any(|finding| finding.fault == fault)
    }

    /// Returns all detected mistakes, oldest first.
    #[must_use]
    pub fn all(&self) -> &[Finding] {
        &self.found
    }
}

/// Last pose that the suite wrote to a [`Transform`] which no other system should move.
#[derive(Component, Clone, Copy, Default, Debug)]
pub struct LeftAt {
    place: Option<(Vec3, Quat)>,
    /// Consecutive checks that found another pose.
    elsewhere: u8,
}

impl LeftAt {
    /// Consecutive changes that cannot be a game that sets the transform now and then.
    const OFTEN: u8 = 30;

    /// Stores the pose that the suite has just written.
    pub fn leave(&mut self, transform: &Transform) {
        self.place = Some((transform.translation, transform.rotation));
    }

    /// Returns whether another system has moved the transform (or rotated it, if `turns`) in 30 consecutive
    /// checks.
    pub fn is_contested(&mut self, now: &Transform, turns: bool) -> bool {
        let moved = self.place.is_some_and(|(translation, rotation)| {
            // Above any rounding error. A NaN is not reported here.
            translation.distance_squared(now.translation) > 1e-6
                || (turns && rotation.dot(now.rotation).abs() < 1.0 - 1e-6)
        });
        self.elsewhere = if moved { self.elsewhere.saturating_add(1) } else { 0 };
        self.elsewhere >= Self::OFTEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_reported_once_and_none_while_disabled() {
        let mut findings = Findings::default();
        for line in ["first", "second"] {
            findings.report(Fault::Physics, || line.to_owned());
        }
        findings.report(Fault::TickRate, || "third".to_owned());
        let lines: Vec<&str> = findings.all().iter().map(|finding| finding.line.as_str()).collect();
        assert_eq!(lines, ["first", "third"]);
        let mut findings = Findings { enabled: false, ..default() };
        findings.report(Fault::Physics, || unreachable!());
        assert!(!findings.has(Fault::Physics));
    }

    #[test]
    fn transform_is_contested_only_after_thirty_consecutive_changes() {
        let (mut left, here) = (LeftAt::default(), Transform::from_xyz(1.0, 2.0, 3.0));
        let there = Transform::from_xyz(1.0, 2.0, 3.1);
        assert!(!left.is_contested(&there, true), "no pose was stored");
        left.leave(&here);
        for round in 0..100 {
            assert!(!left.is_contested(if round % 20 == 0 { &here } else { &there }, true), "{round}");
        }
        assert!(!left.is_contested(&here, true));
        let contested = (0..40).filter(|_| left.is_contested(&there, true)).count();
        assert_eq!(contested, 11);
        let turned = here.with_rotation(Quat::from_rotation_y(0.1));
        assert!((0..40).all(|_| !left.is_contested(&turned, false)));
        assert!((0..40).any(|_| left.is_contested(&turned, true)));
    }
}

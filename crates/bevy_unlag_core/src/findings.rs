//! What is wrong with how an app is put together: found while it runs, said once, in one line with the fix.

use bevy::prelude::*;

/// A mistake in how an app is put together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// `Time<Fixed>`, lightyear and the suite do not step by the same time.
    TickRate,
    /// The server's tick is another than this client's.
    ServerTickRate,
    /// Something else sets how fast `Time<Virtual>` runs.
    TimeSteered,
    /// Something else moves the looks of a pawn.
    SharedLooks,
    /// Something else moves a pawn.
    SharedPawn,
    /// Pawns can be shot at and none has hit boxes.
    NoHitBoxes,
    /// Nobody carries the moves of the own pawn, or its answers.
    UnsentMoves,
    /// The physics of the level do not step with the ticks.
    Physics,
    /// The server's key is all zeros.
    ZeroKey,
}

/// Something that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is.
    pub fault: Fault,
    /// The line in the log: what is wrong, and what to do.
    pub line: String,
}

/// What was found so far. Each [`Fault`] is logged once and stays here, for tests and for games that show it. The
/// suite's plugins look for the common mistakes by themselves; that costs some compared numbers a frame.
#[derive(Resource, Clone, Debug)]
pub struct Findings {
    /// Whether anything is looked for. Default `true`.
    pub enabled: bool,
    found: Vec<Finding>,
}

impl Default for Findings {
    fn default() -> Self {
        Self { enabled: true, found: Vec::new() }
    }
}

impl Findings {
    /// Says that something is wrong, unless that was said before.
    pub fn report(&mut self, fault: Fault, line: impl FnOnce() -> String) {
        if self.enabled && !self.has(fault) {
            let line = line();
            warn!("bevy_unlag: {line}");
            self.found.push(Finding { fault, line });
        }
    }

    /// Whether this was found.
    #[must_use]
    pub fn has(&self, fault: Fault) -> bool {
        self.found.iter().any(|finding| finding.fault == fault)
    }

    /// Everything that was found, the oldest first.
    #[must_use]
    pub fn all(&self) -> &[Finding] {
        &self.found
    }
}

/// Where the suite has left a [`Transform`] that nobody else should move.
#[derive(Component, Clone, Copy, Default, Debug)]
pub struct LeftAt {
    place: Option<(Vec3, Quat)>,
    /// How often in a row it was somewhere else afterwards.
    elsewhere: u8,
}

impl LeftAt {
    /// Times in a row that are no accident, and no game that has set something anew.
    const OFTEN: u8 = 30;

    /// The suite leaves it here.
    pub fn leave(&mut self, transform: &Transform) {
        self.place = Some((transform.translation, transform.rotation));
    }

    /// Whether somebody else has moved it, or turned it when `turns` count, many times in a row by now.
    pub fn is_contested(&mut self, now: &Transform, turns: bool) -> bool {
        let moved = self.place.is_some_and(|(translation, rotation)| {
            // As large as no rounding is. NaN is somebody else's complaint.
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
    fn each_fault_is_said_once_and_none_when_switched_off() {
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
    fn only_many_times_in_a_row_are_a_contest() {
        let (mut left, here) = (LeftAt::default(), Transform::from_xyz(1.0, 2.0, 3.0));
        let there = Transform::from_xyz(1.0, 2.0, 3.1);
        assert!(!left.is_contested(&there, true), "never left anywhere");
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

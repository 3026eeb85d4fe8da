//! Diagnostics of the app's setup: each mistake is detected at run time and logged once, with its fix.

use bevy::prelude::*;

/// Target of the log lines.
const LOG_TARGET: &str = "bevy_unlag::setup";

/// Kind of mistake in the setup of an app.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub enum SetupIssue {
    /// `Time<Fixed>`, lightyear and the suite use different tick durations.
    TickRate,
    /// Another plugin changes the speed of `Time<Virtual>`, or pauses it during a connection.
    GameSpeedOverridden,
    /// Another system moves the visuals of a pawn.
    ContestedVisual,
    /// Another system moves a pawn.
    ContestedPawn,
    /// Pawns of a model are recorded for rewind, but none of them has hit boxes.
    NoHitBoxes,
    /// The resource with the configuration of a movement model is missing.
    MissingConfig,
    /// The plugins know no movement model.
    NoCharacters,
    /// A pawn is of a movement model that the app does not know, or events of such a model are shared.
    UnlistedCharacter,
    /// A pawn is of a class that its movement model does not have.
    UnknownClass,
    /// A pawn on the server waits for the moves of a player, and has none.
    UncontrolledPawn,
    /// A client has spawned a pawn itself.
    ClientSpawnedPawn,
    /// A mesh is on a pawn or on a child of it, and not on a visual.
    MeshOnPawn,
    /// Nothing gives the own pawn its input, and the plugin that would is missing or does not read keys.
    NoControlsPlugin,
    /// The plugin reads the keys of the player, and no entity says so.
    NoPlayerControls,
    /// The keys of the player are bound to nothing.
    NoInputMap,
    /// The player presses keys, and nothing turns them into the input of the own pawn.
    UnusedControls,
    /// A pawn with weapons aims, and the look of its moves stays straight ahead.
    LookNotImplemented,
    /// Pawns with health take damage, and nothing applies it.
    UnusedHealth,
    /// No transport sends the moves of the own pawn or receives their acknowledgements.
    MovesNotTransported,
    /// The physics of the level do not step with the ticks.
    Physics,
    /// The app of a client or server has no error handler, so that Bevy's default panics.
    NoErrorHandler,
    /// lightyear's inputs are in the app, and the pings that they wait for are off.
    LightyearPings,
    /// Client and server have registered different components, messages or channels, or in another order.
    Registrations,
}

impl SetupIssue {
    /// Returns whether the game does not work with this mistake: something does not move, cannot be hit or is
    /// never sent. Such a mistake is logged as an error, any other one as a warning.
    #[must_use]
    pub fn breaks_game(self) -> bool {
        match self {
            Self::GameSpeedOverridden
            | Self::ContestedVisual
            | Self::ContestedPawn
            | Self::UncontrolledPawn
            | Self::MeshOnPawn
            | Self::Physics
            | Self::NoErrorHandler => false,
            Self::TickRate
            | Self::NoHitBoxes
            | Self::MissingConfig
            | Self::NoCharacters
            | Self::UnlistedCharacter
            | Self::UnknownClass
            | Self::ClientSpawnedPawn
            | Self::NoControlsPlugin
            | Self::NoPlayerControls
            | Self::NoInputMap
            | Self::UnusedControls
            | Self::LookNotImplemented
            | Self::UnusedHealth
            | Self::MovesNotTransported
            | Self::LightyearPings
            | Self::Registrations => true,
        }
    }
}

/// Mistakes detected so far. Each [`SetupIssue`] is logged once and remains here with its log line, for tests
/// and for games that display it; some are logged once for each thing that they concern, such as a model. The suite's
/// plugins detect the common mistakes themselves, at the cost of a few comparisons per frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::SetupDiagnostics;
///
/// /// In a test of a game: the setup has no mistake.
/// fn check_setup(diagnostics: Res<SetupDiagnostics>) {
///     assert!(diagnostics.all().is_empty(), "{:?}", diagnostics.all());
/// }
/// ```
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct SetupDiagnostics {
    /// Whether detection is enabled. Default: `true`.
    pub enabled: bool,
    issues: Vec<(SetupIssue, String)>,
}

impl Default for SetupDiagnostics {
    fn default() -> Self {
        Self { enabled: true, issues: Vec::new() }
    }
}

impl SetupDiagnostics {
    /// Logs and stores a mistake, unless it was reported before or detection is disabled. It is logged as an
    /// error if it [breaks the game](SetupIssue::breaks_game).
    pub fn report(&mut self, issue: SetupIssue, message: impl FnOnce() -> String) {
        if !self.has(issue) {
            self.report_each(issue, message);
        }
    }

    /// Like [`report`](Self::report), for a mistake that several things can have: it is reported once with each
    /// message.
    pub fn report_each(&mut self, issue: SetupIssue, message: impl FnOnce() -> String) {
        if !self.enabled {
            return;
        }
        let entry = (issue, message());
        if self.issues.contains(&entry) {
            return;
        }
        if issue.breaks_game() {
            error!(target: LOG_TARGET, issue = ?entry.0, "bevy_unlag: {}", entry.1);
        } else {
            warn!(target: LOG_TARGET, issue = ?entry.0, "bevy_unlag: {}", entry.1);
        }
        self.issues.push(entry);
    }

    /// Returns whether this mistake was detected.
    #[must_use]
    pub fn has(&self, issue: SetupIssue) -> bool {
        self.issues.iter().any(|(reported, _)| *reported == issue)
    }

    /// Returns all detected mistakes, oldest first, each with its log line: the problem and its fix.
    #[must_use]
    pub fn all(&self) -> &[(SetupIssue, String)] {
        &self.issues
    }
}

/// Last pose that the suite wrote to a [`Transform`] which no other system should move.
#[derive(Component, Clone, Copy, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct TransformWatch {
    pose: Option<(Vec3, Quat)>,
    /// Consecutive checks that found another pose.
    consecutive_changes: u8,
}

impl TransformWatch {
    /// Consecutive changes that cannot be a game that sets the transform now and then.
    const CONTESTED_AFTER: u8 = 30;

    /// Stores the pose that the suite has just written.
    pub fn remember(&mut self, transform: &Transform) {
        self.pose = Some((transform.translation, transform.rotation));
    }

    /// Returns whether another system has moved the transform (or rotated it, if `turns`) in 30 consecutive
    /// checks.
    pub fn is_contested(&mut self, now: &Transform, turns: bool) -> bool {
        let moved = self.pose.is_some_and(|(translation, rotation)| {
            // Above any rounding error. A NaN is not reported here.
            translation.distance_squared(now.translation) > 1e-6
                || (turns && rotation.dot(now.rotation).abs() < 1.0 - 1e-6)
        });
        self.consecutive_changes = if moved { self.consecutive_changes.saturating_add(1) } else { 0 };
        self.consecutive_changes >= Self::CONTESTED_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_issue_is_reported_once_and_none_while_disabled() {
        let mut diagnostics = SetupDiagnostics::default();
        for message in ["first", "second"] {
            diagnostics.report(SetupIssue::Physics, || message.to_owned());
        }
        diagnostics.report(SetupIssue::TickRate, || "third".to_owned());
        let lines: Vec<&str> = diagnostics.all().iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(lines, ["first", "third"]);
        let mut diagnostics = SetupDiagnostics { enabled: false, ..default() };
        diagnostics.report(SetupIssue::Physics, || unreachable!());
        assert!(!diagnostics.has(SetupIssue::Physics));
    }

    #[test]
    fn mistake_of_several_things_is_reported_once_for_each() {
        let mut diagnostics = SetupDiagnostics::default();
        for message in ["first", "second", "first"] {
            diagnostics.report_each(SetupIssue::MissingConfig, || message.to_owned());
        }
        let lines: Vec<&str> = diagnostics.all().iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(lines, ["first", "second"]);
    }

    #[test]
    fn transform_is_contested_only_after_thirty_consecutive_changes() {
        let (mut left, here) = (TransformWatch::default(), Transform::from_xyz(1.0, 2.0, 3.0));
        let there = Transform::from_xyz(1.0, 2.0, 3.1);
        assert!(!left.is_contested(&there, true), "no pose was stored");
        left.remember(&here);
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

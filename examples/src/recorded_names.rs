//! Names of what recordings hold as numbers: causes of corrections, reasons of refusals, outcomes of shots.

use bevy_unlag::{prediction::CorrectionCause, record::ShotOutcome, weapons::ShotRefusal};

/// Text that a reader is shown for a number without a name.
pub const UNKNOWN: &str = "unknown";

/// Returns the name of the cause of a correction, if this build knows it.
#[must_use]
pub fn cause_name(cause: u8) -> Option<&'static str> {
    CorrectionCause::ALL.get(usize::from(cause)).map(|cause| cause.name())
}

/// Returns the name of the reason of a refusal, if this build knows it.
#[must_use]
pub fn refusal_name(reason: u8) -> Option<String> {
    ShotRefusal::ALL.get(usize::from(reason)).map(|reason| format!("{reason:?}"))
}

/// Returns the name of the outcome of a shot.
#[must_use]
pub const fn outcome_name(outcome: &ShotOutcome) -> &'static str {
    match outcome {
        ShotOutcome::Miss => "miss",
        ShotOutcome::Hit { .. } => "hit",
        ShotOutcome::Refused(_) => "refused",
        ShotOutcome::Launched => "launched",
    }
}

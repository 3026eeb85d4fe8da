//! Events of a capsule step that other players see and hear.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedEvent, Wire};

use crate::event::MoveEvent;

/// Event of a capsule pawn for the screens and speakers of all players: the part of [`MoveEvent`] that is worth its
/// bytes. One byte on the wire, two for a landing.
#[doc(alias = "GameplayCue")]
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub enum MoveCue {
    /// The pawn jumped.
    Jumped,
    /// The pawn jumped again in the air.
    JumpedAgain,
    /// The pawn landed.
    Landed {
        /// Impact speed relative to the floor, in steps of 0.25 m/s; at most 63.75 m/s.
        speed: u8,
    },
    /// A volume or an ability launched the pawn.
    Launched,
}

impl MoveCue {
    /// Steps of the impact speed per m/s.
    const SPEED_UNITS: f32 = 4.0;

    /// Returns the event for others; `None` for one that they need not know.
    #[must_use]
    pub fn of(event: &MoveEvent) -> Option<Self> {
        match event {
            MoveEvent::Jumped { count: 0 | 1 } => Some(Self::Jumped),
            MoveEvent::Jumped { .. } => Some(Self::JumpedAgain),
            // A NaN casts to 0.
            MoveEvent::Landed { speed } => {
                Some(Self::Landed { speed: (speed * Self::SPEED_UNITS).round().clamp(0.0, 255.0) as u8 })
            }
            MoveEvent::Launched { .. } => Some(Self::Launched),
            _ => None,
        }
    }

    /// Returns the impact speed of a landing, in metres per second.
    #[must_use]
    pub fn impact_speed(self) -> Option<f32> {
        match self {
            Self::Landed { speed } => Some(f32::from(speed) / Self::SPEED_UNITS),
            _ => None,
        }
    }
}

/// Event that may be one of a capsule.
pub trait HasMoveEvent {
    /// Returns the capsule's event, if it is one.
    fn move_event(&self) -> Option<&MoveEvent>;
}

impl HasMoveEvent for MoveEvent {
    fn move_event(&self) -> Option<&MoveEvent> {
        Some(self)
    }
}

impl<B: HasMoveEvent, X> HasMoveEvent for ExtendedEvent<B, X> {
    fn move_event(&self) -> Option<&MoveEvent> {
        match self {
            Self::Body(event) => event.move_event(),
            Self::Extension(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter};

    use super::*;

    #[test]
    fn cues_survive_a_round_trip_and_odd_speeds_are_clamped() {
        let landed = |speed| MoveCue::of(&MoveEvent::Landed { speed });
        assert_eq!(landed(5.1).and_then(MoveCue::impact_speed), Some(5.0));
        assert_eq!(landed(1e9).and_then(MoveCue::impact_speed), Some(63.75));
        assert_eq!(landed(f32::NAN), Some(MoveCue::Landed { speed: 0 }));
        assert_eq!(MoveCue::of(&MoveEvent::Crouched), None);
        for cue in [MoveCue::Jumped, MoveCue::JumpedAgain, MoveCue::Landed { speed: 200 }, MoveCue::Launched]
        {
            let mut w = BitWriter::default();
            cue.write(&mut w);
            assert_eq!(MoveCue::read(&mut BitReader::new(&w.finish())), Ok(cue));
        }
    }
}

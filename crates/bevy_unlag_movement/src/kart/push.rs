//! Pushes that the server applies to a kart.

use bevy::prelude::*;
use bevy_unlag_core::Wire;

use super::KartState;
use crate::state::MAX_POSITION;

/// Push that the server applies to a kart at a tick that the owner knows, too. See `ScheduledPushes` in
/// `bevy_unlag_prediction`.
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub enum KartPush {
    /// Adds to the velocity, in metres per second: an explosion, a boost.
    #[doc(alias = "AddImpulse")]
    Shove(Vec3),
    /// Moves the kart to another place, at rest and in the air. It is neither smoothed nor counted as a
    /// prediction error.
    Teleport(Vec3),
}

impl KartPush {
    pub(super) fn apply_to(self, state: &KartState) -> KartState {
        let mut pushed = *state;
        match self {
            Self::Shove(velocity) => pushed.shove(velocity),
            Self::Teleport(position) if position.is_finite() => {
                pushed.teleport_to(position.clamp(Vec3::splat(-MAX_POSITION), Vec3::splat(MAX_POSITION)));
            }
            Self::Teleport(_) => {}
        }
        pushed
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::{BitReader, BitWriter};

    use super::*;

    #[test]
    fn push_survives_a_wire_round_trip_and_non_finite_pushes_are_ignored() {
        let kart = KartState::at(Vec3::ONE, 0);
        for push in [KartPush::Shove(Vec3::X), KartPush::Teleport(Vec3::Z)] {
            let mut w = BitWriter::default();
            push.write(&mut w);
            assert_eq!(KartPush::read(&mut BitReader::new(&w.finish())), Ok(push));
            assert_ne!(push.apply_to(&kart), kart);
        }
        for push in [KartPush::Shove(Vec3::NAN), KartPush::Teleport(Vec3::INFINITY)] {
            assert_eq!(push.apply_to(&kart), kart);
        }
        assert!(KartPush::Teleport(Vec3::splat(1e30)).apply_to(&kart).is_valid());
    }
}

//! Verdict filter for beams: a beam is a shot in every tick, but only changed results are sent.

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use crate::verdict::ShotVerdict;

/// Last verdict on every shooter's beam.
#[derive(Default)]
pub(super) struct BeamVerdicts(pub EntityHashMap<ShotVerdict>);

impl BeamVerdicts {
    /// Whether a verdict differs from that on the shot of the previous tick, or there was none.
    pub fn is_change(&mut self, shooter: Entity, verdict: &ShotVerdict) -> bool {
        let before = ShotVerdict { shot: verdict.shot.offset(-1), ..*verdict };
        self.0.insert(shooter, *verdict) != Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::ShotResult;
    use bevy_unlag_core::Tick;

    #[test]
    fn continuous_beam_reports_only_changed_results() {
        let mut beams = BeamVerdicts::default();
        let (one, other) = (Entity::from_bits(1), Entity::from_bits(2));
        let mut news = |shooter, tick, clamped| {
            beams.is_change(shooter, &ShotVerdict { shot: Tick(tick), result: ShotResult::Miss, clamped })
        };
        assert_eq!([1, 2, 3].map(|tick| news(one, tick, false)), [true, false, false]);
        assert!(news(one, 4, true) && !news(one, 5, true));
        assert!(news(other, 6, true), "another shooter's beam is independent");
        assert!(news(one, 9, true), "the beam was interrupted");
        beams.0.retain(|shooter, _| *shooter == other);
        assert_eq!(beams.0.len(), 1);
    }
}

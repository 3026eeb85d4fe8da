//! What is said of beams: a shot in every tick, and an answer when it is another one.

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use crate::ShotVerdict;

/// What was last said of every shooter's beam.
#[derive(Default)]
pub(super) struct Beams(EntityHashMap<ShotVerdict>);

impl Beams {
    /// Forgets shooters that are gone.
    pub fn keep(&mut self, there: impl Fn(Entity) -> bool) {
        self.0.retain(|shooter, _| there(*shooter));
    }

    /// Whether a verdict is another one than that on the shot of the tick before, if there was any.
    pub fn is_news(&mut self, shooter: Entity, verdict: &ShotVerdict) -> bool {
        let before = ShotVerdict { shot: verdict.shot.offset(-1), ..*verdict };
        self.0.insert(shooter, *verdict) != Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShotResult;
    use bevy_unlag_core::Tick;

    #[test]
    fn what_goes_on_is_said_once() {
        let mut beams = Beams::default();
        let (one, other) = (Entity::from_bits(1), Entity::from_bits(2));
        let mut news = |shooter, tick, clamped| {
            beams.is_news(shooter, &ShotVerdict { shot: Tick(tick), result: ShotResult::Miss, clamped })
        };
        assert_eq!([1, 2, 3].map(|tick| news(one, tick, false)), [true, false, false]);
        assert!(news(one, 4, true) && !news(one, 5, true));
        assert!(news(other, 6, true), "it is another's");
        assert!(news(one, 9, true), "it was let go in between");
        beams.keep(|shooter| shooter == other);
        assert_eq!(beams.0.len(), 1);
    }
}

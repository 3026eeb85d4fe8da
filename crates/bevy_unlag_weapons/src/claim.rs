//! What a shooter's word about whom it hit is worth.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::NetId;
use bevy_unlag_rewind::ClaimedTarget;

use crate::FireInput;

/// What a shooter's word about whom it hit is worth: nothing, unless a game wants Unreal Tournament's rule. Then
/// a round names whom its screen showed it hitting, and the ray may pass a little beside that one. It is
/// never proof: see [`ClaimedTarget`]. An [`EvidenceLog`](bevy_unlag_rewind::EvidenceLog) has the ray without it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct HitClaims {
    /// Metres that a round may pass beside the hit boxes of the target that it names. Default 0, and then rounds
    /// name nobody. Raising it forgives disagreement, and makes the aim of a client that lies as much too good.
    pub padding: f32,
    /// For how many rounds after its own a claim counts, where those name nobody. Default 0: a claim rides in
    /// its round, so it cannot be late. Unreal Tournament's come by themselves and count for one more. Raising it
    /// forgives misses right after a hit.
    pub rounds: u8,
}

impl HitClaims {
    /// Unreal Tournament's numbers: 40 cm, and one round more.
    pub const UNREAL_TOURNAMENT: Self = Self { padding: 0.4, rounds: 1 };

    /// Whether a round is to name whom it hit.
    #[must_use]
    pub fn wanted(&self) -> bool {
        self.padding > 0.0
    }
}

/// The last round of every shooter that named somebody, and whom.
#[derive(Default)]
pub(crate) struct LastClaims(EntityHashMap<(u32, NetId)>);

impl LastClaims {
    /// Forgets shooters that are gone.
    pub fn keep(&mut self, there: impl Fn(Entity) -> bool) {
        self.0.retain(|shooter, _| there(*shooter));
    }

    /// Whom a round claims to hit, by its own word or by that of one before.
    pub fn of(
        &mut self,
        rule: &HitClaims,
        (shooter, shot): (Entity, u32),
        fire: &FireInput,
    ) -> Option<ClaimedTarget> {
        if !rule.wanted() {
            return None;
        }
        let target = match fire.claim {
            Some(target) => {
                self.0.insert(shooter, (shot, target));
                target
            }
            None => {
                let (named, target) = *self.0.get(&shooter)?;
                (shot.wrapping_sub(named) <= u32::from(rule.rounds)).then_some(target)?
            }
        };
        Some(ClaimedTarget { target, padding: rule.padding })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(claim: Option<NetId>) -> FireInput {
        let mut fire = FireInput::default();
        fire.claim = claim;
        fire
    }

    #[test]
    fn a_claim_counts_for_its_round_and_as_many_more() {
        let (one, other) = (Entity::from_bits(1), Entity::from_bits(2));
        let (named, silent) = (round(Some(NetId(9))), round(None));
        for rounds in [0, 1, 3] {
            let rule = HitClaims { padding: 0.4, rounds };
            let mut claims = LastClaims::default();
            let mut whom = |shooter, shot, fire: &FireInput| {
                claims.of(&rule, (shooter, shot), fire).map(|claimed| claimed.target)
            };
            assert_eq!(whom(one, 6, &silent), None);
            assert_eq!(whom(one, 7, &named), Some(NetId(9)));
            let later: Vec<_> = (8..13).map(|shot| whom(one, shot, &silent).is_some()).collect();
            assert_eq!(later, (1..6).map(|after| after <= rounds).collect::<Vec<_>>(), "{rounds}");
            assert_eq!(whom(one, 1, &silent), None, "its rounds are counted anew");
            assert_eq!(whom(other, 8, &silent), None, "it is another's");
            claims.keep(|shooter| shooter != one);
            assert!(claims.0.is_empty());
        }
    }

    #[test]
    fn without_padding_nobody_is_claimed_or_remembered() {
        let named = round(Some(NetId(9)));
        for padding in [0.0, -1.0, f32::NAN] {
            let mut claims = LastClaims::default();
            let claimed = claims.of(&HitClaims { padding, rounds: 1 }, (Entity::from_bits(1), 7), &named);
            assert!(claimed.is_none() && claims.0.is_empty(), "{padding}");
        }
    }
}

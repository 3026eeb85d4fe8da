//! Client hit claims.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{NetId, Wire};
use bevy_unlag_rewind::ClaimedTarget;

use crate::fire_input::FireInput;

/// Tolerance for client hit claims. By default claims are ignored; a game can opt into the rule of Unreal
/// Tournament: the shot names the target that its screen showed it hitting, and the ray may miss that target
/// by a small padding. A claim is never proof: see [`ClaimedTarget`]. An
/// [`EvidenceLog`](bevy_unlag_rewind::EvidenceLog) also records the ray without the claim.
#[derive(Wire, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[doc(alias = "HitScanPadding")]
pub struct HitClaims {
    /// Distance by which a shot may miss the hit boxes of the claimed target, in metres. Default: 0, and then
    /// shots carry no claims. Raising it forgives disagreement between client and server, but widens the aim
    /// of a lying client as well.
    pub padding: f32,
    /// Number of further shots for which a claim counts if they carry none themselves. Default: 0, because a
    /// claim is part of its shot and cannot be late. Unreal Tournament sends claims separately and lets them
    /// count for one more shot. Raising it forgives misses right after a hit.
    pub rounds: u8,
}

impl HitClaims {
    /// The values of Unreal Tournament: 40 cm, and one further shot.
    pub const UNREAL_TOURNAMENT: Self = Self { padding: 0.4, rounds: 1 };

    /// Whether shots should carry claims.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.padding > 0.0
    }
}

/// Last claim of every shooter: shot number and target.
#[derive(Default)]
pub(crate) struct LastClaims(pub EntityHashMap<(u32, NetId)>);

impl LastClaims {
    /// Returns the target that a shot claims, by its own claim or by a previous one that still counts.
    pub fn of(
        &mut self,
        rule: &HitClaims,
        (shooter, shot): (Entity, u32),
        fire: &FireInput,
    ) -> Option<ClaimedTarget> {
        if !rule.enabled() {
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
    fn claim_counts_for_its_shot_and_the_configured_number_of_further_ones() {
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
            assert_eq!(whom(one, 1, &silent), None, "the shot count restarted");
            assert_eq!(whom(other, 8, &silent), None, "claims of other shooters do not count");
            claims.0.retain(|shooter, _| *shooter != one);
            assert!(claims.0.is_empty());
        }
    }

    #[test]
    fn claims_are_ignored_and_not_stored_without_positive_padding() {
        let named = round(Some(NetId(9)));
        for padding in [0.0, -1.0, f32::NAN] {
            let mut claims = LastClaims::default();
            let claimed = claims.of(&HitClaims { padding, rounds: 1 }, (Entity::from_bits(1), 7), &named);
            assert!(claimed.is_none() && claims.0.is_empty(), "{padding}");
        }
    }
}

//! Effect of shots on the shooter's teammates.

use bevy::prelude::*;
use bevy_unlag_core::Wire;
use bevy_unlag_rewind::Team;

/// Effect of shots on the shooter's teammates: other pawns with the same [`Team`].
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[doc(alias = "mp_friendlyfire")]
pub enum FriendlyFire {
    /// Teammates are hit and damaged like everyone else.
    #[default]
    Damage,
    /// Shots pass through teammates.
    PassThrough,
    /// Teammates stop shots without being damaged: rays and projectiles end at them as at a wall. Splash damage
    /// and melee swings leave them out.
    Block,
}

/// The team that a shot does not damage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SparedTeam {
    team: Option<Team>,
    blocks: bool,
}

impl SparedTeam {
    /// Creates the value for a shooter's team; without a team, or with friendly fire, nobody is spared.
    pub fn new(rule: FriendlyFire, shooter: Option<Team>) -> Self {
        Self { team: shooter.filter(|_| rule != FriendlyFire::Damage), blocks: rule == FriendlyFire::Block }
    }

    /// Returns the team that takes no damage.
    pub fn team(&self) -> Option<Team> {
        self.team
    }

    /// Returns the team that the shot passes through.
    pub fn passed(&self) -> Option<Team> {
        self.team.filter(|_| !self.blocks)
    }

    /// Whether a pawn of `team` stops the shot without being damaged.
    pub fn is_blocked_by(&self, team: Option<Team>) -> bool {
        self.blocks && self.team.is_some() && self.team == team
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shooters_own_team_is_spared_and_it_blocks_or_is_passed_through() {
        let (own, other) = (Some(Team(1)), Some(Team(2)));
        let spared = |rule| SparedTeam::new(rule, own);
        let [damage, pass, block] =
            [FriendlyFire::Damage, FriendlyFire::PassThrough, FriendlyFire::Block].map(spared);
        assert_eq!([damage, pass, block].map(|spared| spared.team()), [None, own, own]);
        assert_eq!([damage, pass, block].map(|spared| spared.passed()), [None, own, None]);
        assert_eq!([damage, pass, block].map(|spared| spared.is_blocked_by(own)), [false, false, true]);
        assert!(!block.is_blocked_by(other) && !block.is_blocked_by(None));
        let alone = SparedTeam::new(FriendlyFire::Block, None);
        assert_eq!((alone.team(), alone.is_blocked_by(None)), (None, false));
    }
}

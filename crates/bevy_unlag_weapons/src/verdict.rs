//! What the server says of a shot.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, Wire, WireError};
use bevy_unlag_rewind::HitGroup;

use crate::{NotFired, WeaponId};

/// Why a shot was not judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ShotRefusal {
    /// The shooter was dead.
    Dead,
    /// A wall stood between the eye and where the server has it.
    Eye,
    /// It looked elsewhere than its move did, or the view turned faster than any hand.
    Aim,
    /// The view lies further back than is honoured.
    TooOld,
    /// The view lies ahead of the server.
    FromTheFuture,
    /// The screen cannot have shown that view, and [`ViewTrust`](bevy_unlag_rewind::ViewTrust) says that such
    /// shots do not count.
    View,
    /// The last one's time was not over, or the weapon had just been taken in hand.
    TooSoon,
    /// The magazine was empty.
    Empty,
    /// The weapon was being loaded.
    Reloading,
    /// The weapon was not charged.
    NotCharged,
    /// Nothing was in hand.
    Unarmed,
    /// It said where pellets went that cannot have gone there, or that it has no word in.
    Pellets,
    /// As many projectiles flew as may at once; see [`ProjectileRules`](crate::ProjectileRules).
    TooMany,
}

impl ShotRefusal {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Dead,
        Self::Eye,
        Self::Aim,
        Self::TooOld,
        Self::FromTheFuture,
        Self::View,
        Self::TooSoon,
        Self::Empty,
        Self::Reloading,
        Self::NotCharged,
        Self::Unarmed,
        Self::Pellets,
        Self::TooMany,
    ];
}

impl From<NotFired> for ShotRefusal {
    fn from(why: NotFired) -> Self {
        match why {
            NotFired::TooSoon => Self::TooSoon,
            NotFired::Empty => Self::Empty,
            NotFired::Reloading => Self::Reloading,
            NotFired::NotCharged => Self::NotCharged,
            NotFired::Unarmed => Self::Unarmed,
        }
    }
}

/// How many shots of a pawn were refused, and why; on the server. The counters only grow.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RefusedShots([u64; ShotRefusal::ALL.len()]);

impl RefusedShots {
    /// Those that were refused for this reason.
    #[must_use]
    pub fn of(&self, why: ShotRefusal) -> u64 {
        self.0[why as usize]
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn count(&mut self, why: ShotRefusal) {
        self.0[why as usize] += 1;
    }
}

/// How often a shot hit one target, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TargetCount {
    /// Whom.
    pub target: NetId,
    /// Rounds in the head.
    pub head: u8,
    /// Rounds in the body.
    pub body: u8,
    /// Rounds in the limbs.
    pub limb: u8,
}

impl TargetCount {
    /// The part that counts most of those that were hit.
    #[must_use]
    pub fn group(&self) -> HitGroup {
        match (self.head, self.body) {
            (1.., _) => HitGroup::Head,
            (0, 1..) => HitGroup::Body,
            (0, 0) => HitGroup::Limb,
        }
    }

    pub(crate) fn count(&mut self, group: HitGroup) {
        let count = match group {
            HitGroup::Head => &mut self.head,
            HitGroup::Body => &mut self.body,
            HitGroup::Limb => &mut self.limb,
        };
        *count = count.saturating_add(1);
    }
}

/// Whom a shot hit: at most [`HitList::MOST`].
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct HitList {
    list: [TargetCount; Self::MOST],
    count: u8,
}

impl core::fmt::Debug for HitList {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl HitList {
    /// A shot's answer names no more: of an explosion among more people, the nearest.
    pub const MOST: usize = 7;

    /// Those who were hit, first hit first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TargetCount> {
        self.list[..usize::from(self.count).min(Self::MOST)].iter()
    }

    /// The first one.
    #[must_use]
    pub fn first(&self) -> Option<&TargetCount> {
        self.iter().next()
    }

    /// Counts a hit. What does not fit is left out.
    pub fn add(&mut self, target: NetId, group: HitGroup) {
        let at = self.iter().position(|known| known.target == target).unwrap_or(usize::from(self.count));
        let Some(known) = self.list.get_mut(at) else { return };
        known.target = target;
        known.count(group);
        self.count = self.count.max(at as u8 + 1);
    }
}

impl FromIterator<(NetId, HitGroup)> for HitList {
    fn from_iter<I: IntoIterator<Item = (NetId, HitGroup)>>(hits: I) -> Self {
        let mut list = Self::default();
        hits.into_iter().for_each(|(target, group)| list.add(target, group));
        list
    }
}

/// What became of a shot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShotResult {
    /// It hit nobody.
    Miss,
    /// It hit.
    Hit(HitList),
    /// It flies; another verdict comes when it ends.
    Launched,
    /// It was not judged.
    Refused(ShotRefusal),
}

/// What the server says of a shot of the own pawn. Written on the shooter's client when it
/// arrives, and on a listen server for its host. A beam is a shot in every tick: of those that follow each other only
/// the first one with another result has a verdict.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShotVerdict {
    /// The shot's name; see [`Round::shot`](crate::Round::shot).
    pub shot: Tick,
    /// What became of it.
    pub result: ShotResult,
    /// Whether it was judged at another moment than its screen showed, or from another place, because limits did
    /// not allow that one; see [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age) and
    /// [`FireRules::eye_tolerance`](crate::FireRules::eye_tolerance).
    pub clamped: bool,
}

/// Somebody was hit; written on the server, once for each target of a shot, for the game to act on.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct Damage {
    /// Who fired.
    pub shooter: Entity,
    /// Who was hit.
    pub target: Entity,
    /// With what.
    pub weapon: WeaponId,
    /// In which shot.
    pub shot: Tick,
    /// How much in all, as the [`Arsenal`](crate::Arsenal) says.
    pub amount: f32,
    /// Where, and how often.
    pub hits: TargetCount,
    /// The first place that was hit, in metres.
    pub point: Vec3,
    /// From where it came, with a length of 1.
    pub direction: Vec3,
    /// How fast it throws the target, in metres per second.
    pub throw: Vec3,
}

impl Wire for ShotVerdict {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.shot.0, 32);
        w.bool(self.clamped);
        match self.result {
            ShotResult::Miss => w.bits(0, 2),
            ShotResult::Hit(list) => {
                w.bits(1, 2);
                w.bits(list.iter().len() as u32, 3);
                for TargetCount { target, head, body, limb } in list.iter() {
                    w.bits(u32::from(target.0), 16);
                    for count in [head, body, limb] {
                        w.bits(u32::from((*count).min(31)), 5);
                    }
                }
            }
            ShotResult::Refused(refusal) => {
                w.bits(2, 2);
                w.bits(refusal as u32, 4);
            }
            ShotResult::Launched => w.bits(3, 2),
        }
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let shot = Tick(r.bits(32)?);
        let clamped = r.bool()?;
        let result = match r.bits(2)? {
            0 => ShotResult::Miss,
            1 => {
                let mut list = HitList { count: r.bits(3)? as u8, ..HitList::default() };
                for slot in list.list.iter_mut().take(usize::from(list.count)) {
                    slot.target = NetId(r.bits(16)? as u16);
                    for count in [&mut slot.head, &mut slot.body, &mut slot.limb] {
                        *count = r.bits(5)? as u8;
                    }
                }
                ShotResult::Hit(list)
            }
            2 => {
                let refusal = ShotRefusal::ALL.get(r.bits(4)? as usize).ok_or(WireError::Invalid)?;
                ShotResult::Refused(*refusal)
            }
            _ => ShotResult::Launched,
        };
        Ok(Self { shot, result, clamped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_survive_the_wire() {
        let many = (0..20).map(|k| (NetId(k % 9), HitGroup::Limb)).collect();
        let mut results =
            vec![ShotResult::Miss, ShotResult::Launched, ShotResult::Hit(many), ShotResult::Hit(default())];
        results.extend(ShotRefusal::ALL.map(ShotResult::Refused));
        for result in results {
            let verdict = ShotVerdict { shot: Tick(77), result, clamped: result == ShotResult::Miss };
            let mut w = BitWriter::default();
            verdict.write(&mut w);
            assert_eq!(ShotVerdict::read(&mut BitReader::new(&w.finish())), Ok(verdict));
        }
    }

    #[test]
    fn refusals_are_in_their_order() {
        for (index, why) in ShotRefusal::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, index);
        }
    }

    #[test]
    fn a_list_counts_by_target() {
        let hits = [(4, HitGroup::Limb), (9, HitGroup::Head), (4, HitGroup::Body)];
        let list: HitList = hits.into_iter().map(|(id, group)| (NetId(id), group)).collect();
        let first = TargetCount { target: NetId(4), body: 1, limb: 1, ..default() };
        assert_eq!(list.first(), Some(&first));
        assert_eq!((list.iter().len(), first.group()), (2, HitGroup::Body));
    }
}

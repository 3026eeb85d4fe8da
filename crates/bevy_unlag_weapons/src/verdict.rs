//! Verdicts of the server on shots, and the damage that they cause.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, Wire, WireError};
use bevy_unlag_rewind::{HitGroup, RewindRefusal};

use crate::{weapon::WeaponId, weapon_extension::NotFired};

/// Reason why the server refused a shot.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Hash, Reflect)]
pub enum ShotRefusal {
    /// The shooter was dead.
    Dead,
    /// A wall is between the drawn eye and the server's eye position.
    Eye,
    /// The aim deviates from the look direction of the move, or the view turned faster than a player can.
    Aim,
    /// The view time lies before the rewind limit.
    TooOld,
    /// The view time lies ahead of the server.
    FromTheFuture,
    /// The screen cannot have shown that view, and
    /// [`ViewValidationConfig`](bevy_unlag_rewind::ViewValidationConfig) is set to refuse such shots.
    View,
    /// The cooldown was not over, or the weapon had just been equipped.
    TooSoon,
    /// The magazine was empty.
    Empty,
    /// The weapon was reloading.
    Reloading,
    /// The weapon was not charged.
    NotCharged,
    /// No weapon was held.
    Unarmed,
    /// The pellet offsets are invalid, or the weapon does not accept any from the client.
    Pellets,
    /// The maximum number of projectiles was in flight; see [`ProjectileRules`](crate::ProjectileRules).
    TooMany,
    /// The server never ran the move of the shot: it was lost, or arrived after the server had stopped waiting for it.
    /// The shooter's client finds out from acknowledgements; the server does not know that there was a shot.
    MissingMove,
}

impl ShotRefusal {
    /// All reasons, in the order of their discriminants.
    pub const ALL: [Self; 14] = [
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
        Self::MissingMove,
    ];
}

impl From<RewindRefusal> for ShotRefusal {
    fn from(why: RewindRefusal) -> Self {
        match why {
            RewindRefusal::TooOld => Self::TooOld,
            RewindRefusal::FromTheFuture => Self::FromTheFuture,
        }
    }
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

/// Counters of a pawn's refused shots per reason; on the server. They never decrease.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct RefusedShots([u64; ShotRefusal::ALL.len()]);

impl RefusedShots {
    /// Returns the number of shots refused for a reason.
    #[must_use]
    pub fn of(&self, why: ShotRefusal) -> u64 {
        self.0[why as usize]
    }

    /// Returns the number of refused shots.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn count(&mut self, why: ShotRefusal) {
        self.0[why as usize] += 1;
    }
}

/// Number of hits of one shot on one target, by hit group; at most 31 of each are sent.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct TargetCount {
    /// The target.
    pub target: NetId,
    /// Hits in the head.
    #[wire(bits = 5)]
    pub head: u8,
    /// Hits in the body.
    #[wire(bits = 5)]
    pub body: u8,
    /// Hits in the limbs.
    #[wire(bits = 5)]
    pub limb: u8,
}

impl TargetCount {
    /// Returns the most valuable hit group that was hit.
    #[must_use]
    pub fn group(&self) -> HitGroup {
        match (self.head, self.body) {
            (1.., _) => HitGroup::Head,
            (0, 1..) => HitGroup::Body,
            (0, 0) => HitGroup::Limb,
        }
    }

    /// Returns each hit, of which a [`HitList`] can be collected.
    pub fn hits(self) -> impl Iterator<Item = (NetId, HitGroup)> {
        let counts = [(HitGroup::Head, self.head), (HitGroup::Body, self.body), (HitGroup::Limb, self.limb)];
        counts.into_iter().flat_map(move |(group, count)| (0..count).map(move |_| (self.target, group)))
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

/// Targets that a shot hit: at most [`HitList::MAX_TARGETS`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Reflect)]
pub struct HitList {
    list: [TargetCount; Self::MAX_TARGETS],
    count: u8,
}

impl core::fmt::Debug for HitList {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl HitList {
    /// Maximum number of targets in a verdict; of an explosion among more pawns, the nearest are listed.
    pub const MAX_TARGETS: usize = 7;

    /// Returns the targets, in the order in which they were hit.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TargetCount> {
        self.list[..usize::from(self.count).min(Self::MAX_TARGETS)].iter()
    }

    /// Returns the target that was hit first.
    #[must_use]
    pub fn first(&self) -> Option<&TargetCount> {
        self.iter().next()
    }

    /// Counts a hit. Targets that do not fit are dropped.
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

impl Wire for HitList {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.iter().len() as u32, 3);
        self.iter().for_each(|count| count.write(w));
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let mut list = Self { count: r.bits(3)? as u8, ..Self::default() };
        for slot in list.list.iter_mut().take(usize::from(list.count)) {
            *slot = TargetCount::read(r)?;
        }
        Ok(list)
    }
}

/// Result of a shot.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub enum ShotResult {
    /// It hit no pawn.
    Miss,
    /// It hit at least one pawn.
    Hit(HitList),
    /// The server refused it.
    Refused(ShotRefusal),
    /// It launched a projectile; another verdict follows when that ends.
    Launched,
}

/// A hit, or a miss if the list is empty.
impl From<HitList> for ShotResult {
    fn from(hits: HitList) -> Self {
        if hits.first().is_some() { Self::Hit(hits) } else { Self::Miss }
    }
}

/// The server's verdict on a shot of the local player. Written on the shooter's client when it arrives, and
/// on a listen server for its host. A beam is a shot in every tick: of consecutive shots only the first one
/// with a different result gets a verdict.
#[doc(alias = "ClientConfirmTargetData")]
#[derive(Message, Wire, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ShotVerdict {
    /// Identifier of the shot; see [`PredictedShot::shot`](crate::PredictedShot::shot).
    pub shot: Tick,
    /// Whether the server evaluated the shot at another time or from another eye position than its screen
    /// showed, because of limits; see [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age) and
    /// [`FireRules::eye_tolerance`](crate::FireRules::eye_tolerance).
    pub clamped: bool,
    /// Result of the shot.
    pub result: ShotResult,
}

/// The server has resolved a shot, for statistics and the rules of a game. Written on the server: once for each shot,
/// of beams in every tick, and once more when a projectile ends.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ShotResolved {
    /// The shooter.
    pub shooter: Entity,
    /// The verdict.
    pub verdict: ShotVerdict,
    /// Whether this is the end of a projectile, whose launch was reported before.
    pub is_impact: bool,
    /// Age of the poses against which the shot was tested, or its projectile launched: the time from there to the
    /// server's tick. `None` if it was tested against the present, refused, or is an impact.
    pub rewind: Option<Duration>,
}

/// Damage of a shot to one target, for the game to apply; written on the server, once per target of a shot.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_weapons::Damage;
///
/// /// Armour in points, of a game without `HealthPlugin`.
/// #[derive(Component)]
/// struct Armour(f32);
///
/// /// On the server, in any schedule.
/// fn wear_down(mut hits: MessageReader<Damage>, mut pawns: Query<&mut Armour>) {
///     for hit in hits.read() {
///         if let Ok(mut armour) = pawns.get_mut(hit.target) {
///             armour.0 -= hit.amount;
///         }
///     }
/// }
/// ```
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
#[doc(alias = "FDamageEvent")]
#[doc(alias = "CTakeDamageInfo")]
pub struct Damage {
    /// The shooter.
    pub shooter: Entity,
    /// The pawn that was hit.
    pub target: Entity,
    /// Weapon that was fired.
    pub weapon: WeaponId,
    /// Identifier of the shot; see [`PredictedShot::shot`](crate::PredictedShot::shot).
    pub shot: Tick,
    /// Total damage according to the [`Arsenal`](crate::Arsenal).
    pub amount: f32,
    /// Number of hits by hit group.
    pub hits: TargetCount,
    /// Position of the first hit, in metres.
    pub point: Vec3,
    /// Unit direction of the shot.
    pub direction: Vec3,
    /// Knockback velocity, in metres per second.
    pub throw: Vec3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_survives_the_wire() {
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
    fn refusal_constants_match_their_discriminants() {
        for (index, why) in ShotRefusal::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, index);
        }
    }

    #[test]
    fn refused_shots_are_counted_by_reason_and_in_all() {
        let mut refused = RefusedShots::default();
        for why in [ShotRefusal::Empty, ShotRefusal::Eye, ShotRefusal::Eye] {
            refused.count(why);
        }
        assert_eq!(
            [ShotRefusal::Eye, ShotRefusal::Empty, ShotRefusal::Dead].map(|why| refused.of(why)),
            [2, 1, 0]
        );
        assert_eq!(refused.total(), 3);
    }

    #[test]
    fn hit_list_counts_hits_per_target_and_group() {
        let hits = [(4, HitGroup::Limb), (9, HitGroup::Head), (4, HitGroup::Body)];
        let list: HitList = hits.into_iter().map(|(id, group)| (NetId(id), group)).collect();
        let first = TargetCount { target: NetId(4), body: 1, limb: 1, ..default() };
        assert_eq!(list.first(), Some(&first));
        assert_eq!((list.iter().len(), first.group()), (2, HitGroup::Body));
    }
}

//! Splash of the local player's projectiles on its own screen.

use bevy_unlag_rewind::RewindFilter;

use super::DisplayContext;
use crate::{
    friendly_fire::SparedTeam,
    projectile::{
        ProjectileEndKind,
        display::{DisplayedEnd, DisplayedProjectile},
        impact::OFF_WALLS,
    },
    verdict::HitList,
};

impl DisplayContext<'_, '_> {
    /// Returns the targets that this screen showed the end of the local player's projectile hitting, in the order of a
    /// verdict: the direct hit, then those that the splash reaches.
    pub(super) fn hits(&self, shown: &DisplayedProjectile, end: &DisplayedEnd) -> HitList {
        let mut hits: HitList = end.drawn.iter().map(|hit| (hit.target, hit.group)).collect();
        let splash = self.projectile(shown.launch.weapon).and_then(|projectile| projectile.splash);
        let Some((splash, own)) = splash.zip(shown.own).filter(|_| end.kind != ProjectileEndKind::Gone)
        else {
            return hits;
        };
        let off = if end.kind == ProjectileEndKind::Fuse { 0.0 } else { OFF_WALLS };
        let centre = end.point + end.normal * off;
        let spared = SparedTeam::new(self.rules.friendly_fire, self.teams.get(own).ok().copied());
        let filter = RewindFilter { exclude_team: spared.team(), ..RewindFilter::exclude(own) };
        let mut reached = Vec::new();
        self.query.blast((centre, splash.radius), end.ago, &filter, &mut reached);
        let direct = end.drawn.map(|hit| hit.entity);
        for blast in reached.iter().filter(|blast| blast.visible > 0.0 && Some(blast.hit.entity) != direct) {
            hits.add(blast.hit.target, blast.hit.group);
        }
        hits
    }
}

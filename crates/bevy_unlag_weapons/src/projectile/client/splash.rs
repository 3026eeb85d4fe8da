//! Splash of the local player's projectiles on its own screen.

use bevy_unlag_rewind::RewindFilter;

use super::DisplayContext;
use crate::{
    projectile::{
        ProjectileEndKind,
        display::{DisplayedEnd, DisplayedProjectile},
        impact::splash_centre,
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
        let centre = splash_centre(end.point, (end.kind != ProjectileEndKind::Fuse).then_some(end.normal));
        let exclude_team = self.spared_by(Some(own)).team();
        let filter = RewindFilter { exclude_team, ..RewindFilter::exclude(own) };
        let mut reached = Vec::new();
        self.query.blast((centre, splash.radius), end.ago, &filter, &mut reached);
        let direct = end.drawn.map(|hit| hit.entity);
        for blast in reached.iter().filter(|blast| blast.visible > 0.0 && Some(blast.hit.entity) != direct) {
            hits.add(blast.hit.target, blast.hit.group);
        }
        hits
    }
}

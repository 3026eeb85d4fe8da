//! Time at which a screen draws the projectiles of others.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, ViewTime};

use super::{client::DisplayContext, display::DisplayedProjectile};
use crate::weapon::Shot;

/// Share of the remaining time until a projectile is nearest to the own pawn in which it would catch up with the server
/// at its present speed. What is missing shrinks with the fourth power of that time.
const CATCH_UP_SHARE: f64 = 0.25;
/// Least speed at which it catches up, in ticks per tick.
const LEAST_CATCH_UP: f64 = 1.0;
/// Largest share of its speed that a projectile loses while the delay of the own moves or of playout changes.
const LARGEST_SLOWDOWN: f64 = 0.25;
/// Seconds ahead for which the path of a projectile is compared with the own pawn's place.
const LOOK_AHEAD: f32 = 3.0;

/// Time at which a client draws the projectiles of other players. Verdicts do not depend on it.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ProjectileDisplay {
    /// Time of projectiles that pass near the own pawn. Default: [`ProjectileTime::Screen`].
    pub others: ProjectileTime,
    /// Distance in metres, beyond the radius of a splash, within which a projectile passes near. Default: 8. A larger
    /// value draws more projectiles ahead of the pawns around them.
    pub near: f32,
}

impl Default for ProjectileDisplay {
    fn default() -> Self {
        Self { others: ProjectileTime::default(), near: 8.0 }
    }
}

/// Time line of a drawn projectile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum ProjectileTime {
    /// That of the remote pawns on the screen: it meets them where they are drawn, and is drawn behind where the
    /// server has it, by round trip and playout delay.
    #[default]
    Screen,
    /// The server's, as of the move that the screen shows of the own pawn: what is dodged on the screen is dodged on
    /// the server. It leaves its shooter on the screen's time and catches up before it arrives.
    #[doc(alias = "CatchupTick")]
    ServerPresent,
}

impl DisplayContext<'_, '_> {
    /// Updates by how many ticks a projectile is drawn ahead of the screen's time, in a frame of `frame` ticks.
    pub(super) fn update_lead(&self, shown: &mut DisplayedProjectile, view: Option<ViewTime>, frame: f64) {
        let Some(view) = view.filter(|_| shown.own.is_none() && shown.on_screen_time) else { return };
        if self.display.others == ProjectileTime::Screen {
            shown.lead = 0.0;
            return;
        }
        let present = self.delay.server_time(self.tick.frame_time(&self.fixed));
        let ahead = present.since(view) as f64 / SUB_TICKS as f64;
        let passes = self.passes_near(shown);
        shown.is_dodged |= passes.is_some();
        if !shown.is_dodged {
            return;
        }
        let missing = ahead - shown.lead;
        let left = passes.map_or(0.0, |seconds| f64::from(seconds / self.sampler.tick_seconds)) - missing;
        let rate = (missing / (left * CATCH_UP_SHARE).max(1.0)).max(LEAST_CATCH_UP);
        shown.lead += missing.clamp(-LARGEST_SLOWDOWN * frame, rate * frame);
    }

    /// Returns the seconds until a projectile is nearest to the own pawn, if it passes near.
    fn passes_near(&self, shown: &DisplayedProjectile) -> Option<f32> {
        let own = self.pawns.iter().find(|(.., local)| *local).and_then(|(_, _, _, drawn, _)| drawn)?;
        let splash = match self.arsenal.get(shown.launch.weapon)?.shot {
            Shot::Projectile(projectile) => projectile.splash.map_or(0.0, |splash| splash.radius),
            _ => 0.0,
        };
        let (position, velocity) = shown.path.at(shown.age);
        let way = own.pose.position - position;
        let seconds = (way.dot(velocity) / velocity.length_squared().max(1e-6)).clamp(0.0, LOOK_AHEAD);
        let distance = (way - velocity * seconds).length();
        (distance < self.display.near + splash).then_some(seconds)
    }
}

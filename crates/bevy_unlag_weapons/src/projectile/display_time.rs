//! Time at which a screen draws the projectiles of others.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, ViewTime};

use super::{client::DisplayContext, display::DisplayedProjectile};
use crate::weapon::Shot;

/// Distance in metres, beyond the radius of a splash, from which on a projectile is drawn where the server has it: what
/// it can hit is nearer.
const REACH: f32 = 3.5;
/// The ticks that a projectile is behind the server shrink with this power of the time that is left until it is within
/// reach. With 1 it would fly at one speed and slow down at once, with more it is faster at first.
const CATCH_UP_POWER: f64 = 1.5;
/// Least remaining time that this assumes, in ticks. A projectile that is within reach when it appears is drawn at the
/// server's time some frames later.
const LEAST_TIME_LEFT: f64 = 1.5;
/// Least speed at which it catches up, in ticks per tick.
const LEAST_CATCH_UP: f64 = 0.25;
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
    /// The server's, as of the move that the screen shows of the own pawn: a projectile that misses on the screen
    /// also misses on the server. It leaves its shooter on the screen's time and catches up before it arrives.
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
        let within_reach = self.within_reach_after(shown);
        shown.is_dodged |= within_reach.is_some();
        if !shown.is_dodged {
            return;
        }
        let missing = ahead - shown.lead;
        // The server's projectile is ahead of the drawn one.
        let left = within_reach.map_or(0.0, |ticks| ticks - missing);
        let rate = (missing * CATCH_UP_POWER / left.max(LEAST_TIME_LEFT)).max(LEAST_CATCH_UP);
        shown.lead += missing.clamp(-LARGEST_SLOWDOWN * frame, rate * frame);
    }

    /// Draws a new projectile of another player at its start, and not where it is at the screen's time, if it is to
    /// catch up with the server's. Returns whether it does.
    pub(super) fn start_behind(&self, shown: &mut DisplayedProjectile, age: f64) -> bool {
        let at_present = self.display.others == ProjectileTime::ServerPresent && shown.own.is_none();
        if at_present && self.within_reach_after(shown).is_some() {
            (shown.lead, shown.is_dodged) = (-age, true);
        }
        shown.is_dodged
    }

    /// Returns the ticks until a projectile is within reach of the own pawn, or nearest to it without ever being within
    /// reach. `None` if it does not pass near.
    fn within_reach_after(&self, shown: &DisplayedProjectile) -> Option<f64> {
        let own = self.pawns.iter().find(|(.., local)| *local).and_then(|(_, _, _, drawn, _)| drawn)?;
        let splash = match self.arsenal.get(shown.launch.weapon)?.shot {
            Shot::Projectile(projectile) => projectile.splash.map_or(0.0, |splash| splash.radius),
            _ => 0.0,
        };
        let (position, velocity) = shown.path.at(shown.age);
        let way = own.pose.position - position;
        let speed = velocity.length().max(1e-3);
        let seconds = (way.dot(velocity) / (speed * speed)).clamp(0.0, LOOK_AHEAD);
        let distance = (way - velocity * seconds).length();
        let reach = REACH + splash;
        let inside = (reach * reach - distance * distance).max(0.0).sqrt() / speed;
        let ticks = f64::from((seconds - inside).max(0.0) / self.sampler.tick_seconds);
        (distance < self.display.near + splash).then_some(ticks)
    }
}

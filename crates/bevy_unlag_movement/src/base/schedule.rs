//! Schedule of a movement base that moves on command, such as a lift that is called by a button.

mod announcement;
mod path;
mod planner;
#[cfg(test)]
mod tests;

pub use announcement::BaseAnnouncement;
pub use planner::BaseScheduleConfig;
pub(crate) use planner::add_systems;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use self::path::{SchedulePath, is_plausible};
use super::track::sanitised;

/// Seconds between the starts of two motions; a command that comes sooner waits.
const MIN_GAP_SECONDS: f64 = 0.25;
/// Seconds for which the past of a base is kept: longer than any move of a client may be late.
const KEPT_SECONDS: f64 = 4.0;

/// Poses of a base that moves on command: [`BaseTrack::Scheduled`](super::BaseTrack::Scheduled). A command counts
/// on the server, or in an app without one. It takes effect a moment later, at a tick that clients learn in time:
/// see [`BaseScheduleConfig`]. From then on the pose is a function of time on all machines.
///
/// A new command interrupts the motion under way: the base stops, and starts from wherever it is then. It starts at
/// most four times a second; of several commands in between the last one counts.
#[doc(alias = "UInterpToMovementComponent")]
#[doc(alias = "func_door")]
#[doc(alias = "elevator")]
#[derive(Clone, Debug, Default, Reflect)]
pub struct BaseSchedule {
    home: Isometry3d,
    path: SchedulePath,
    /// Seconds per tick; 0 while the base has never moved.
    tick_seconds: f64,
    command: Option<Command>,
    /// Number of the newest announcement, and its tick. `None`: the base is not announced yet.
    number: u32,
    announced: Option<Tick>,
}

/// Motion that is not planned yet.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
struct Command {
    to: Isometry3d,
    pace: Pace,
}

#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
enum Pace {
    /// Mean speed in metres per second, positive.
    Speed(f32),
    Time(Duration),
}

impl Pace {
    /// Returns the ticks that a motion over `distance` metres takes.
    fn ticks(self, distance: f32, tick_seconds: f64) -> u16 {
        let ticks = match self {
            Self::Speed(speed) => (f64::from(distance) / f64::from(speed) / tick_seconds).ceil().max(1.0),
            Self::Time(time) => (time.as_secs_f64() / tick_seconds).round(),
        };
        ticks.min(f64::from(u16::MAX)) as u16
    }
}

impl BaseSchedule {
    /// Creates a schedule of a base that stays at `home` until the first command. The same on all machines.
    #[must_use]
    pub fn at(home: Isometry3d) -> Self {
        let home = sanitised(home);
        Self { home, path: SchedulePath::at(home), ..Self::default() }
    }

    /// Commands a motion to a pose at a mean speed in metres per second, with a soft start and a soft stop: the top
    /// speed is 1.5 times as high. A motion takes at most 65,535 ticks, 17 minutes at 64 ticks per second.
    ///
    /// Where the base is on its way there already, nothing changes. For a turn on the spot, such as that of a door, use
    /// [`move_within`](Self::move_within).
    pub fn move_to(&mut self, to: Isometry3d, speed: f32) {
        if speed > 0.0 && speed.is_finite() {
            self.command(to, Pace::Speed(speed));
        } else {
            warn_once!("a movement base cannot move at {speed} m/s: its speed must be positive");
        }
    }

    /// Commands a motion to a pose that takes this time; see [`move_to`](Self::move_to). A rotation takes the shorter
    /// way.
    pub fn move_within(&mut self, to: Isometry3d, time: Duration) {
        self.command(to, Pace::Time(time));
    }

    /// Commands a jump to a pose, which takes riders along.
    pub fn jump_to(&mut self, to: Isometry3d) {
        self.command(to, Pace::Time(Duration::ZERO));
    }

    /// Returns the pose to which the base moves, by the last command, or where it rests.
    #[must_use]
    pub fn destination(&self) -> Isometry3d {
        self.command.map_or_else(|| self.path.destination(), |command| command.to)
    }

    /// Returns whether the base rests at its [`destination`](Self::destination) at `seconds`.
    #[must_use]
    pub fn is_at_rest(&self, seconds: f64) -> bool {
        self.command.is_none() && self.path.is_over(seconds / self.tick_seconds)
    }

    /// Returns the pose at `seconds`, on the time line of [`BaseTrack::pose`](super::BaseTrack::pose).
    #[must_use]
    pub fn pose(&self, seconds: f64) -> Isometry3d {
        // Without a leg the pose does not depend on the time, which is no number then.
        self.path.pose(seconds / self.tick_seconds)
    }

    /// Returns positions around all poses of the base.
    pub(super) fn positions(&self) -> impl Iterator<Item = Vec3> {
        self.path.stops()
    }

    fn command(&mut self, to: Isometry3d, pace: Pace) {
        if !is_plausible(&to) {
            warn_once!("a movement base cannot move to {to:?}: the pose is not finite, or too far away");
            return;
        }
        let to = sanitised(to);
        if to != self.destination() {
            self.command = Some(Command { to, pace });
        }
    }

    /// Returns whether the base must be planned for a start at `start`: it has a command, or is new.
    fn needs_planning(&self, start: Tick, tick_seconds: f64) -> bool {
        let gap = (MIN_GAP_SECONDS / tick_seconds).ceil() as i32;
        let is_free = || self.path.last_start().is_none_or(|last| start.since(last) >= gap);
        self.announced.is_none() || self.command.is_some() && is_free()
    }

    /// Plans the command, if there is one. `number` is that of the announcement that follows.
    fn plan(&mut self, number: u32, (now, start): (Tick, Tick), tick_seconds: f64) {
        (self.number, self.announced, self.tick_seconds) = (number, Some(now), tick_seconds);
        let kept = (KEPT_SECONDS / tick_seconds).ceil() as i32;
        self.path.remove_before(now.offset(-kept));
        let Some(Command { to, pace }) = self.command.take() else { return };
        if to == self.path.destination() {
            return;
        }
        let from = self.path.pose(f64::from(start.0));
        let distance = Vec3::from(to.translation).distance(from.translation.into());
        self.path.push(start, pace.ticks(distance, tick_seconds), to);
    }

    /// Takes over the server's path.
    fn follow(&mut self, path: &SchedulePath, tick_seconds: f64) {
        (self.path, self.tick_seconds, self.command) = (path.clone(), tick_seconds, None);
    }

    /// Returns to the pose before the first command, as if there had been none.
    fn reset(&mut self) {
        *self = Self::at(self.home);
    }

    /// Returns whether there was a command since the last reset.
    fn was_commanded(&self) -> bool {
        self.command.is_some() || self.path.last_start().is_some()
    }
}

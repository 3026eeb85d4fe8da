//! Display state of projectiles on one screen.

use std::collections::{HashSet, VecDeque};

use bevy::prelude::*;
use bevy_unlag_core::{NetId, SUB_TICKS, Tick, ViewTime};
use bevy_unlag_rewind::TargetHit;

use super::{ProjectileEnd, ProjectileEndKind, ProjectileLaunch, Trajectory};

/// Identifier of a projectile: its shooter and shot.
pub(super) type Key = (NetId, Tick);

/// Default duration of easing a displayed offset to zero, in seconds.
pub(super) const EASE_TIME: f32 = 0.12;
/// Average speed at which a displayed projectile of the local player is moved onto the server's path, in
/// metres per second: at most 5 cm per frame at 64 frames per second.
const MERGE_SPEED: f32 = 2.0;
/// Maximum duration of that, in seconds.
const LONGEST_MERGE: f32 = 0.5;
/// Seconds after which the local player's projectile disappears if the server has not confirmed it.
const CONFIRMATION_TIMEOUT: f32 = 2.0;
/// Seconds for which an end is kept whose launch has not arrived yet.
const EARLY_END_TIMEOUT: f32 = 2.0;
/// Maximum number of kept ends, and of finished projectiles that are remembered; more than the server lets
/// fly by default.
const REMEMBERED: usize = 4_096;

/// All projectiles displayed on this screen, and the recently finished ones.
#[derive(Resource, Default)]
pub(crate) struct DisplayedProjectiles {
    pub flying: Vec<DisplayedProjectile>,
    over: HashSet<Key>,
    over_order: VecDeque<Key>,
    early: VecDeque<(f32, ProjectileEnd)>,
}

impl DisplayedProjectiles {
    /// Returns the displayed projectile with an identifier.
    pub fn find(&mut self, key: Key) -> Option<&mut DisplayedProjectile> {
        self.flying.iter_mut().find(|shown| shown.launch.key() == key)
    }

    /// Whether the end of a projectile has been displayed.
    pub fn is_over(&self, key: Key) -> bool {
        self.over.contains(&key)
    }

    /// Marks a projectile as finished: all later messages about it are ignored.
    pub fn close(&mut self, key: Key) {
        if self.over.insert(key) {
            self.over_order.push_back(key);
        }
        if self.over_order.len() > REMEMBERED
            && let Some(oldest) = self.over_order.pop_front()
        {
            self.over.remove(&oldest);
        }
    }

    /// Keeps an end whose launch has not arrived yet.
    pub fn keep_early_end(&mut self, end: ProjectileEnd) {
        if self.early.len() < REMEMBERED && self.early.iter().all(|(_, known)| key_of(known) != key_of(&end))
        {
            self.early.push_back((0.0, end));
        }
    }

    /// Returns and removes the end that arrived before its launch.
    pub fn take_early_end(&mut self, key: Key) -> Option<ProjectileEnd> {
        let index = self.early.iter().position(|(_, end)| key_of(end) == key)?;
        self.early.remove(index).map(|(_, end)| end)
    }

    /// Advances all timers.
    pub fn advance_timers(&mut self, seconds: f32) {
        self.early.iter_mut().for_each(|(age, _)| *age += seconds);
        self.early.retain(|(age, _)| *age < EARLY_END_TIMEOUT);
        self.flying.iter_mut().for_each(|shown| shown.advance_timers(seconds));
    }
}

pub(super) fn key_of(end: &ProjectileEnd) -> Key {
    (end.shooter, end.shot)
}

/// A displayed projectile.
pub(crate) struct DisplayedProjectile {
    pub launch: ProjectileLaunch,
    pub path: Trajectory,
    /// The displaying entity; `None` before the projectile has appeared.
    pub entity: Option<Entity>,
    /// Age when it was last drawn, in ticks.
    pub age: f64,
    /// Whether its age follows the view time of the screen, or real time where the screen shows no remote
    /// pawns.
    pub on_screen_time: bool,
    /// Ticks by which it is drawn ahead of the screen's time.
    pub lead: f64,
    /// Whether it has passed near the own pawn, so that it is drawn at the server's time.
    pub is_dodged: bool,
    /// Displayed offset from the path, its remaining duration and its total duration in seconds.
    offset: (Vec3, f32, f32),
    /// The shooter, if it is the local player.
    pub own: Option<Entity>,
    /// Whether the server has confirmed the launch.
    pub confirmed: bool,
    /// Seconds since it became known.
    pub known_for: f32,
    pub end: Option<ProjectileEnd>,
    /// Whether the server refused the shot.
    pub refused: bool,
    /// The pawn that it bounced off last on this screen.
    pub off: Option<Entity>,
}

/// End of a projectile as displayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct DisplayedEnd {
    pub point: Vec3,
    pub normal: Vec3,
    pub kind: ProjectileEndKind,
    /// The direct hit that this screen displayed.
    pub drawn: Option<TargetHit>,
    /// Time of the end before this frame, in ticks.
    pub ago: f64,
}

impl DisplayedProjectile {
    pub fn new(launch: ProjectileLaunch, path: Trajectory, own: Option<Entity>) -> Self {
        Self {
            launch,
            path,
            entity: None,
            age: 0.0,
            on_screen_time: true,
            lead: 0.0,
            is_dodged: false,
            offset: (Vec3::ZERO, 0.0, 1.0),
            own,
            confirmed: false,
            known_for: 0.0,
            end: None,
            refused: false,
            off: None,
        }
    }

    /// Returns the age in ticks at a view time of the screen, or `frame` ticks after the last one without a
    /// view time; negative before the shot.
    pub fn age_at(&self, screen: Option<ViewTime>, frame: f64) -> f64 {
        match screen.filter(|_| self.on_screen_time) {
            Some(time) => time.since(self.launch.time) as f64 / SUB_TICKS as f64 + self.lead,
            None => self.age + frame,
        }
    }

    /// Displays it at an offset, starting at `from` and eased to zero over some seconds.
    pub fn ease_from(&mut self, from: Vec3, seconds: f32) {
        let offset = from - self.path.at(self.age).0;
        self.offset = if offset.is_finite() { (offset, seconds, seconds) } else { (Vec3::ZERO, 0.0, 1.0) };
    }

    /// Eases from `from` to a changed path, slowly enough to be unnoticeable.
    pub fn ease_onto_path_from(&mut self, from: Vec3) {
        let far = from.distance(self.path.at(self.age).0);
        self.ease_from(from, (far / MERGE_SPEED).clamp(EASE_TIME, LONGEST_MERGE));
    }

    fn advance_timers(&mut self, seconds: f32) {
        self.known_for += seconds;
        self.offset.1 = (self.offset.1 - seconds).max(0.0);
    }

    /// Returns displayed position and velocity.
    pub fn drawn(&self) -> (Vec3, Vec3) {
        let (position, velocity) = self.path.at(self.age);
        let left = (self.offset.1 / self.offset.2).clamp(0.0, 1.0);
        // Smoothstep.
        (position + self.offset.0 * (left * left * (3.0 - 2.0 * left)), velocity)
    }

    /// Whether the server's confirmation is overdue.
    pub fn is_confirmation_overdue(&self) -> bool {
        self.own.is_some() && !self.confirmed && self.end.is_none() && self.known_for > CONFIRMATION_TIMEOUT
    }

    /// Returns the end sent by the server, and its age in ticks.
    pub fn server_end(&self) -> Option<(f64, ProjectileEnd)> {
        let end = self.end?;
        let age = (f64::from(end.flown) - f64::from(self.launch.flown)) / SUB_TICKS as f64;
        Some((age, end))
    }
}

//! One projectile on a screen.

use std::collections::{HashSet, VecDeque};

use bevy::prelude::*;
use bevy_unlag_core::{NetId, SUB_TICKS, Tick, ViewTime};
use bevy_unlag_rewind::TargetHit;

use super::{ProjectileEnd, ProjectileEndKind, ProjectileLaunch, Trajectory};

/// By what a projectile is known.
pub(super) type Key = (NetId, Tick);

/// Seconds in which what was shown elsewhere comes to where it is.
pub(super) const EASE: f32 = 0.12;
/// Metres per second at which the server's word moves what its shooter sees fly, on the average: 5 cm a frame at 64
/// frames a second where it moves fastest.
const MERGE_SPEED: f32 = 2.0;
/// Seconds that it takes at most.
const LONGEST_MERGE: f32 = 0.5;
/// Seconds for which a shooter's own flies without the server's word.
const UNANSWERED: f32 = 2.0;
/// Seconds for which an end is kept of something that is not known yet.
const KEPT: f32 = 2.0;
/// As many ends as are kept, and as many projectiles as are remembered to have been shown: the server lets fewer fly.
const REMEMBERED: usize = 4_096;

/// All that this screen shows, and what it remembers of those it has shown.
#[derive(Resource, Default)]
pub(crate) struct Screen {
    pub flying: Vec<Shown>,
    over: HashSet<Key>,
    over_order: VecDeque<Key>,
    early: VecDeque<(f32, ProjectileEnd)>,
}

impl Screen {
    /// The one that is shown under a name.
    pub fn find(&mut self, key: Key) -> Option<&mut Shown> {
        self.flying.iter_mut().find(|shown| shown.launch.key() == key)
    }

    /// Whether its end was shown.
    pub fn is_over(&self, key: Key) -> bool {
        self.over.contains(&key)
    }

    /// Its end was shown: nothing about it is news any more.
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

    /// Keeps the end of something whose start is still on its way.
    pub fn keep(&mut self, end: ProjectileEnd) {
        if self.early.len() < REMEMBERED && self.early.iter().all(|(_, known)| key_of(known) != key_of(&end))
        {
            self.early.push_back((0.0, end));
        }
    }

    /// The end that came before the start.
    pub fn kept(&mut self, key: Key) -> Option<ProjectileEnd> {
        let index = self.early.iter().position(|(_, end)| key_of(end) == key)?;
        self.early.remove(index).map(|(_, end)| end)
    }

    /// Lets time pass.
    pub fn pass(&mut self, seconds: f32) {
        self.early.iter_mut().for_each(|(age, _)| *age += seconds);
        self.early.retain(|(age, _)| *age < KEPT);
        self.flying.iter_mut().for_each(|shown| shown.pass(seconds));
    }
}

pub(super) fn key_of(end: &ProjectileEnd) -> Key {
    (end.shooter, end.shot)
}

/// One projectile on a screen.
pub(crate) struct Shown {
    pub launch: ProjectileLaunch,
    pub path: Trajectory,
    /// What shows it; `None` before it is shown.
    pub entity: Option<Entity>,
    /// Its age when it was drawn last, in ticks.
    pub age: f64,
    /// Whether its age follows what the screen shows of others, or time itself, where it shows nobody.
    pub on_screen_time: bool,
    /// How far beside its path it is shown, for how many seconds more, and for how many in all.
    offset: (Vec3, f32, f32),
    /// Who fired it, when that is this app's own player.
    pub own: Option<Entity>,
    /// Whether the server has said that it flies.
    pub confirmed: bool,
    /// Seconds since it is known.
    pub known_for: f32,
    pub end: Option<ProjectileEnd>,
    /// Whether the server refused the shot.
    pub refused: bool,
    /// Off whom it bounced last on this screen.
    pub off: Option<Entity>,
}

/// How a projectile ends on a screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub point: Vec3,
    pub normal: Vec3,
    pub kind: ProjectileEndKind,
    /// Whom this screen showed it hitting.
    pub drawn: Option<TargetHit>,
}

impl Shown {
    pub fn new(launch: ProjectileLaunch, path: Trajectory, own: Option<Entity>) -> Self {
        Self {
            launch,
            path,
            entity: None,
            age: 0.0,
            on_screen_time: true,
            offset: (Vec3::ZERO, 0.0, 1.0),
            own,
            confirmed: false,
            known_for: 0.0,
            end: None,
            refused: false,
            off: None,
        }
    }

    /// Its age in ticks on a screen that shows a moment, after a frame of so many ticks; less than 0 before it
    /// was fired.
    pub fn age_at(&self, screen: Option<ViewTime>, frame: f64) -> f64 {
        match screen.filter(|_| self.on_screen_time) {
            Some(time) => time.since(self.launch.time) as f64 / SUB_TICKS as f64,
            None => self.age + frame,
        }
    }

    /// Shows it as far beside its path as `from` is, less and less for some seconds.
    pub fn ease_from(&mut self, from: Vec3, seconds: f32) {
        let offset = from - self.path.at(self.age).0;
        self.offset = if offset.is_finite() { (offset, seconds, seconds) } else { (Vec3::ZERO, 0.0, 1.0) };
    }

    /// The same for what flew elsewhere until now: slowly enough that nobody sees it.
    pub fn merge_from(&mut self, from: Vec3) {
        let far = from.distance(self.path.at(self.age).0);
        self.ease_from(from, (far / MERGE_SPEED).clamp(EASE, LONGEST_MERGE));
    }

    fn pass(&mut self, seconds: f32) {
        self.known_for += seconds;
        self.offset.1 = (self.offset.1 - seconds).max(0.0);
    }

    /// Where it is shown, and how fast it goes.
    pub fn drawn(&self) -> (Vec3, Vec3) {
        let (position, velocity) = self.path.at(self.age);
        let left = (self.offset.1 / self.offset.2).clamp(0.0, 1.0);
        // Soft at both ends.
        (position + self.offset.0 * (left * left * (3.0 - 2.0 * left)), velocity)
    }

    /// Whether the server should have spoken by now.
    pub fn is_unanswered(&self) -> bool {
        self.own.is_some() && !self.confirmed && self.end.is_none() && self.known_for > UNANSWERED
    }

    /// The server's end of it, at an age in ticks.
    pub fn told_end(&self) -> Option<(f64, ProjectileEnd)> {
        let end = self.end?;
        let age = (f64::from(end.flown) - f64::from(self.launch.flown)) / SUB_TICKS as f64;
        Some((age, end))
    }
}

//! What the server and the own trigger say of projectiles.

use bevy_unlag_core::{NetRole, SUB_TICKS, ViewTime};

use super::Around;
use crate::{
    Piece, Projectile, ProjectileLaunch, ShotFired, Trajectory, WeaponId,
    projectile::{
        flying,
        shown::{EASE, Screen, Shown},
    },
};

/// Metres from where it was launched within which its shooter's looks are.
const NEAR: f32 = 3.0;
/// Seconds for which a launch is news: what has flown for longer does not leave its shooter in sight of this screen.
const NEWS: f32 = 0.5;

impl Around<'_, '_> {
    /// The moment that the screen shows; on a machine that decides and shows nobody else, the present.
    pub(super) fn view(&self) -> Option<ViewTime> {
        let hosts = |(_, _, role, _, local): (_, _, &NetRole, _, bool)| local && *role == NetRole::Authority;
        let present = || self.pawns.iter().any(hosts).then(|| self.tick.in_frame(&self.fixed));
        self.view.0.or_else(present)
    }

    /// How long this frame is, in 1/256 of a tick.
    pub(super) fn frame_units(&self) -> i64 {
        let ticks = self.time.delta_secs() / self.sampler.tick_seconds.max(1e-6);
        (ticks * SUB_TICKS as f32).round() as i64
    }

    /// Whether this is a machine that decides, and nobody plays on it. A client that has just joined also shows
    /// nobody, and waits for what it is told of.
    pub(super) fn is_unwatched(&self) -> bool {
        let decides = |(_, _, role, ..): (_, _, &NetRole, _, _)| *role == NetRole::Authority;
        self.pawns.iter().all(|(.., local)| !local) && self.pawns.iter().any(decides)
    }

    pub(super) fn projectile(&self, weapon: WeaponId) -> Option<&Projectile> {
        self.arsenal.get(weapon).and_then(flying)
    }

    pub(super) fn path(&self, launch: &ProjectileLaunch) -> Option<Trajectory> {
        Some(Trajectory::new(launch, self.projectile(launch.weapon)?, self.sampler.tick_seconds))
    }

    /// The own player's flies at once; a host's when it has judged it itself, in the same frame.
    pub(super) fn take_fired(&self, fired: &ShotFired, view: Option<ViewTime>, screen: &mut Screen) {
        let Some(projectile) = self.projectile(fired.round.weapon) else { return };
        let Ok((entity, id, role, ..)) = self.pawns.get(fired.shooter) else { return };
        let known = |screen: &mut Screen, key| screen.is_over(key) || screen.find(key).is_some();
        if *role == NetRole::Authority || known(screen, (*id, fired.round.shot)) {
            return;
        }
        let time = fired.time.or(view);
        let launch =
            ProjectileLaunch::of(&fired.round, projectile, *id, fired.from, time.unwrap_or_default());
        let Some(path) = self.path(&launch) else { return };
        let on_screen_time = fired.time.is_some() && view.is_some();
        let mut shown = Shown::new(launch, path, Some(entity));
        (shown.end, shown.on_screen_time) = (screen.kept(launch.key()), on_screen_time);
        screen.flying.push(shown);
    }

    pub(super) fn take_launch(&self, launch: &ProjectileLaunch, view: Option<ViewTime>, screen: &mut Screen) {
        let key = launch.key();
        if screen.is_over(key) {
            return;
        }
        let Some(path) = self.path(launch) else { return };
        if let Some(shown) = screen.find(key) {
            shown.confirmed = true;
            let same = ProjectileLaunch { time: shown.launch.time, ..*launch } == shown.launch;
            let timed = view.is_some() && shown.on_screen_time;
            // What it was before it bounced off somebody comes late.
            let older = launch.flown < shown.launch.flown;
            if older || (same && (launch.time == shown.launch.time || !timed)) {
                return;
            }
            // Where it would be in this frame.
            let frame = f64::from(self.time.delta_secs() / self.sampler.tick_seconds.max(1e-6));
            let (last, here) = (shown.age, shown.age_at(view, frame).max(shown.age));
            self.walk(shown, last, here, |_| true);
            shown.age = here;
            let before = shown.drawn().0;
            (shown.launch, shown.path, shown.off) = (*launch, path, None);
            shown.age = if timed { shown.age_at(view, 0.0).max(0.0) } else { 0.0 };
            let age = shown.age;
            self.walk(shown, 0.0, age, |_| true);
            if shown.entity.is_some() {
                shown.merge_from(before);
            }
            return;
        }
        let pawn = self.pawns.iter().find(|(_, id, ..)| **id == launch.shooter);
        let own = pawn.filter(|(.., local)| *local).map(|(entity, ..)| entity);
        let mut shown = Shown::new(*launch, path, own);
        (shown.end, shown.confirmed) = (screen.kept(key), true);
        let age = shown.age_at(view, 0.0).max(0.0);
        self.walk(&mut shown, 0.0, age, |_| true);
        shown.age = age;
        // It has flown for a while already: it leaves from where its shooter is drawn all the same.
        let drawn = pawn.and_then(|(_, _, _, drawn, _)| drawn).filter(|drawn| drawn.pose.alive);
        let muzzle = drawn.map_or(launch.from, |drawn| drawn.pose.position.with_y(launch.from.y));
        let near = muzzle.distance(launch.from) < NEAR;
        if launch.flown == 0 && age as f32 * self.sampler.tick_seconds < NEWS {
            shown.ease_from(if near { muzzle } else { launch.from }, EASE);
        }
        screen.flying.push(shown);
    }

    pub(super) fn walk(&self, shown: &mut Shown, from: f64, to: f64, each: impl FnMut(&Piece) -> bool) {
        let world = self.query.world();
        shown.path.walk(from, to, |a, way, max, radius| world.touch(a, way, max, radius), each);
    }
}

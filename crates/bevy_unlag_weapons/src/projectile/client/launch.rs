//! Projectile launches from the server and from the local player.

use bevy::prelude::*;
use bevy_unlag_core::{NetRole, PoseSample, SUB_TICKS, ViewTime, split_height};

use super::DisplayContext;
use crate::{
    firing::ShotFired,
    projectile::{
        PathSegment, ProjectileLaunch, Trajectory,
        display::{DisplayedProjectile, DisplayedProjectiles, EASE_TIME},
        flying,
    },
    weapon::{Projectile, WeaponId},
};

/// Maximum distance between the launch position and the shooter's drawn pose at which the projectile starts
/// from that pose, in metres.
const MUZZLE_SNAP_DISTANCE: f32 = 3.0;
/// Maximum flight time at which a new projectile is eased out of its shooter, in seconds. With a longer one
/// it no longer starts at its shooter on this screen.
const RECENT_LAUNCH: f32 = 0.5;

impl DisplayContext<'_, '_> {
    /// Returns the view time of the screen; on a listen server without drawn remote pawns, the present.
    pub(super) fn view(&self) -> Option<ViewTime> {
        let hosts = |(_, _, role, _, local): (_, _, &NetRole, _, bool)| local && *role == NetRole::Authority;
        let present = || self.pawns.iter().any(hosts).then(|| self.tick.frame_time(&self.fixed));
        self.view.0.or_else(present)
    }

    /// Returns the length of this frame, in 1/256 of a tick.
    pub(super) fn frame_units(&self) -> i64 {
        let ticks = self.time.delta_secs() / self.sampler.tick_seconds.max(1e-6);
        (ticks * SUB_TICKS as f32).round() as i64
    }

    /// Whether this is a dedicated server. A client that has just joined has no drawn pawns either, but it
    /// waits for messages.
    pub(super) fn is_dedicated_server(&self) -> bool {
        let decides = |(_, _, role, ..): (_, _, &NetRole, _, _)| *role == NetRole::Authority;
        self.pawns.iter().all(|(.., local)| !local) && self.pawns.iter().any(decides)
    }

    pub(super) fn projectile(&self, weapon: WeaponId) -> Option<&Projectile> {
        self.arsenal.get(weapon).and_then(flying)
    }

    pub(super) fn path(&self, launch: &ProjectileLaunch) -> Option<Trajectory> {
        let path = Trajectory::new(launch, self.projectile(launch.weapon)?, self.sampler.tick_seconds);
        Some(path.in_gravity(&self.gravity))
    }

    /// Shows the local player's projectile immediately; a listen server host's appears in the same frame, on
    /// its own launch message.
    pub(super) fn show_fired(
        &self,
        fired: &ShotFired,
        view: Option<ViewTime>,
        screen: &mut DisplayedProjectiles,
    ) {
        let Some(projectile) = self.projectile(fired.round.weapon) else { return };
        let Ok((entity, id, role, ..)) = self.pawns.get(fired.shooter) else { return };
        let known =
            |screen: &mut DisplayedProjectiles, key| screen.is_over(key) || screen.find(key).is_some();
        if *role == NetRole::Authority || known(screen, (*id, fired.round.shot)) {
            return;
        }
        let time = fired.time.or(view);
        let launch =
            ProjectileLaunch::of(&fired.round, projectile, *id, fired.from, time.unwrap_or_default());
        let Some(path) = self.path(&launch) else { return };
        let on_screen_time = fired.time.is_some() && view.is_some();
        let mut shown = DisplayedProjectile::new(launch, path, Some(entity));
        (shown.end, shown.on_screen_time) = (screen.take_early_end(launch.key()), on_screen_time);
        screen.flying.push(shown);
    }

    pub(super) fn show_launch(
        &self,
        launch: &ProjectileLaunch,
        view: Option<ViewTime>,
        screen: &mut DisplayedProjectiles,
    ) {
        let key = launch.key();
        if screen.is_over(key) {
            return;
        }
        let Some(path) = self.path(launch) else { return };
        if let Some(shown) = screen.find(key) {
            shown.confirmed = true;
            let same = ProjectileLaunch { time: shown.launch.time, ..*launch } == shown.launch;
            let timed = view.is_some() && shown.on_screen_time;
            // A delayed launch from before a bounce off a pawn.
            let older = launch.flown < shown.launch.flown;
            if older || (same && (launch.time == shown.launch.time || !timed)) {
                return;
            }
            // Its displayed position in this frame.
            let frame = f64::from(self.time.delta_secs() / self.sampler.tick_seconds.max(1e-6));
            let (last, here) = (shown.age, shown.age_at(view, frame).max(shown.age));
            self.for_each_segment(shown, last, here, |_| true);
            shown.age = here;
            let before = shown.drawn().0;
            (shown.launch, shown.path, shown.off) = (*launch, path, None);
            shown.age = if timed { shown.age_at(view, 0.0).max(0.0) } else { 0.0 };
            let age = shown.age;
            self.for_each_segment(shown, 0.0, age, |_| true);
            if shown.entity.is_some() {
                shown.ease_onto_path_from(before);
            }
            return;
        }
        let pawn = self.pawns.iter().find(|(_, id, ..)| **id == launch.shooter);
        let own = pawn.filter(|(.., local)| *local).map(|(entity, ..)| entity);
        let mut shown = DisplayedProjectile::new(*launch, path, own);
        (shown.end, shown.confirmed) = (screen.take_early_end(key), true);
        let age = shown.age_at(view, 0.0).max(0.0);
        // It has flown for a while already, but is displayed as leaving its shooter's drawn pose.
        let recent = launch.flown == 0 && age as f32 * self.sampler.tick_seconds < RECENT_LAUNCH;
        let age = if recent && self.start_behind(&mut shown, age) { 0.0 } else { age };
        self.for_each_segment(&mut shown, 0.0, age, |_| true);
        shown.age = age;
        let drawn = pawn.and_then(|(_, _, _, drawn, _)| drawn).filter(|drawn| drawn.pose.alive);
        let muzzle = drawn.map_or(launch.from, |drawn| at_height_of(launch.from, &drawn.pose));
        let near = muzzle.distance(launch.from) < MUZZLE_SNAP_DISTANCE;
        if recent {
            shown.ease_from(if near { muzzle } else { launch.from }, EASE_TIME);
        }
        screen.flying.push(shown);
    }

    pub(super) fn for_each_segment(
        &self,
        shown: &mut DisplayedProjectile,
        from: f64,
        to: f64,
        each: impl FnMut(&PathSegment) -> bool,
    ) {
        let world = self.query.world();
        shown.path.for_each_segment(
            from,
            to,
            |a, way, max, radius| world.cast_contact(a, way, max, radius),
            each,
        );
    }
}

/// Returns the point on the axis of a drawn pawn at the height of another point.
fn at_height_of(point: Vec3, pose: &PoseSample) -> Vec3 {
    let (middle, up) = (pose.position, pose.up());
    if up == Vec3::Y {
        return middle.with_y(point.y);
    }
    middle + up * split_height(point - middle, up).1
}

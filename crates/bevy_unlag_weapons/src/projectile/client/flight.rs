//! Advancing a displayed projectile to the current frame.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{PoseSample, SUB_TICKS, ViewTime};
use bevy_unlag_rewind::{FlightStepHit, RewindFilter, TargetHit};

use super::{
    DisplayContext, DisplayOutput, DisplayedProjectileHit, DrawnProjectile, LastFrame, ProjectileAppeared,
    ProjectileDisappeared,
};
use crate::{
    friendly_fire::SparedTeam,
    projectile::{
        PathSegment, ProjectileEnd, ProjectileEndKind, ProjectileLaunch,
        display::{DisplayedEnd, DisplayedProjectile},
        server::bounce_off_pawn,
        trajectory::direction_or_down,
    },
    weapon::Projectile,
};

/// Distance from the server's end point within which the local path is taken as correct, in metres.
const SAME_POINT_DISTANCE: f32 = 0.25;
/// Ticks for which the local player's projectile flies on past the age of the server's hit.
const HIT_AGE_SLACK: f64 = 0.5;
/// Seconds after which a projectile is dropped whose view time this screen never reaches.
const APPEARANCE_TIMEOUT: f32 = 10.0;

impl DisplayContext<'_, '_> {
    /// Advances a projectile to this frame. Returns whether it continues.
    pub(super) fn advance(
        &self,
        shown: &mut DisplayedProjectile,
        view: Option<ViewTime>,
        last: &LastFrame,
        shows: &mut DisplayOutput,
    ) -> bool {
        if shown.refused || shown.is_confirmation_overdue() {
            self.remove_silently(shown, shows);
            return false;
        }
        if view.is_none() && shown.on_screen_time && shown.entity.is_none() {
            // This screen has no view time yet.
            return shown.known_for < APPEARANCE_TIMEOUT;
        }
        let frame = f64::from(self.time.delta_secs() / self.sampler.tick_seconds.max(1e-6));
        self.update_lead(shown, view, frame);
        let now = shown.age_at(view, frame);
        if now < 0.0 && shown.entity.is_none() {
            // The view time of this screen is still before the shot.
            return shown.known_for < APPEARANCE_TIMEOUT;
        }
        let now = now.max(shown.age);
        let passed = match (view, last.view) {
            (Some(view), Some(last)) if shown.on_screen_time => view.since(last) as f64 / SUB_TICKS as f64,
            _ => frame,
        };
        let ends = self.fly(shown, now, (&last.poses, passed));
        if shown.entity.is_none() {
            self.show(shown, shows);
        }
        if let Some(ends) = ends {
            self.finish(shown, &ends, shows);
            return false;
        }
        let (position, velocity) = shown.drawn();
        if let Some(Ok(mut drawn)) = shown.entity.map(|entity| shows.drawn.get_mut(entity)) {
            (drawn.position, drawn.velocity) = (position, velocity);
        }
        true
    }

    /// Removes a projectile without any visible effect.
    pub(super) fn remove_silently(&self, shown: &mut DisplayedProjectile, shows: &mut DisplayOutput) {
        let (point, velocity) = shown.drawn();
        let normal = -direction_or_down(velocity, shown.path.up());
        self.finish(
            shown,
            &DisplayedEnd { point, normal, kind: ProjectileEndKind::Gone, drawn: None, ago: 0.0 },
            shows,
        );
    }

    /// Flies to age `now`; returns how it ends before that.
    fn fly(
        &self,
        shown: &mut DisplayedProjectile,
        now: f64,
        (before, frame): (&EntityHashMap<PoseSample>, f64),
    ) -> Option<DisplayedEnd> {
        // If the server reports a hit by the local player's projectile, this screen shows it slightly
        // earlier or later.
        let hit = |end: &ProjectileEnd| matches!(end.kind, ProjectileEndKind::Hit { .. });
        let slack = |end: &ProjectileEnd| if shown.own.is_some() && hit(end) { HIT_AGE_SLACK } else { 0.0 };
        let reported = shown.server_end();
        let latest = reported.map_or(f64::INFINITY, |(age, end)| age + slack(&end));
        let until = now.min(latest);
        let from = shown.age;
        let own = shown.own.filter(|_| until > from);
        let mut met: Option<(FlightStepHit, PathSegment)> = None;
        let projectile = self.projectile(shown.launch.weapon).copied();
        let (radius, off) = (projectile.map_or(0.0, |projectile| projectile.radius), shown.off);
        let allowed = |entity| Some(entity) != off;
        let spared = self.spared_by(own);
        let filter = own.map(|own| RewindFilter {
            exclude_team: spared.passed(),
            predicate: Some(&allowed),
            ..RewindFilter::exclude(own)
        });
        let part = |age: f64| (1.0 - (now - age) / frame.max(1e-6)) as f32;
        self.for_each_segment(shown, from, until, |piece| {
            if let Some(filter) = &filter {
                let (way, parts) = ((piece.a, piece.b), (part(piece.from), part(piece.to)));
                let last = |entity| before.get(&entity).copied();
                met =
                    self.query.cast_step(way, parts, radius, (filter, last, frame)).map(|met| (met, *piece));
            }
            met.is_none()
        });
        let against =
            |shown: &DisplayedProjectile, age| -direction_or_down(shown.path.at(age).1, shown.path.up());
        if let Some((met, piece)) = met {
            let (part, hit) = (met.part, met.what.ok());
            let (age, point) = (piece.age(part), piece.a.lerp(piece.b, part));
            if let Some(hit) = hit
                && self.try_bounce_off_pawn(shown, (hit, age, point), projectile)
            {
                return None;
            }
            // It ends at a teammate that blocks it as at a wall.
            let hit = hit.filter(|hit| !spared.is_blocked_by(self.query.team_of(hit)));
            let kind = hit.map_or(ProjectileEndKind::Wall, |hit| ProjectileEndKind::Hit {
                target: hit.target,
                group: hit.group,
            });
            return Some(DisplayedEnd {
                point,
                normal: against(shown, age),
                kind,
                drawn: hit,
                ago: now - age,
            });
        }
        let path = shown.path.end().filter(|end| end.age <= until);
        if let Some((age, end)) = reported.filter(|_| latest <= now)
            && path.is_none_or(|path| age <= path.age + 1e-3 || end.kind == ProjectileEndKind::Gone)
        {
            let here = shown.path.at(age).0;
            let point = if here.distance(end.point) < SAME_POINT_DISTANCE { here } else { end.point };
            let wall = shown.path.end().filter(|path| path.point.distance(point) < SAME_POINT_DISTANCE);
            let normal = wall.and_then(|path| path.normal).unwrap_or(against(shown, age));
            return Some(DisplayedEnd {
                point,
                normal,
                kind: end.kind,
                drawn: None,
                ago: (now - age).max(0.0),
            });
        }
        shown.age = until.max(shown.age);
        path.map(|path| DisplayedEnd {
            point: path.point,
            normal: path.normal.unwrap_or(against(shown, path.age)),
            kind: if path.normal.is_some() { ProjectileEndKind::Wall } else { ProjectileEndKind::Fuse },
            drawn: None,
            ago: (now - path.age).max(0.0),
        })
    }

    /// Returns the team that a shot of the local player does not damage; without a shooter, nobody is spared.
    pub(super) fn spared_by(&self, own: Option<Entity>) -> SparedTeam {
        let team = own.and_then(|own| self.teams.get(own).ok()).copied();
        SparedTeam::new(self.rules.friendly_fire, team)
    }

    /// Relaunches the local player's projectile off a pawn that the screen showed it meeting.
    fn try_bounce_off_pawn(
        &self,
        shown: &mut DisplayedProjectile,
        (hit, age, point): (TargetHit, f64, Vec3),
        projectile: Option<Projectile>,
    ) -> bool {
        let drawn = self.pawns.get(hit.entity).ok().and_then(|(_, _, _, drawn, _)| drawn);
        let pillar = drawn.map_or((point, shown.path.up()), |drawn| (drawn.pose.position, drawn.pose.up()));
        let (velocity, bounces) = (shown.path.at(age).1, shown.path.bounces());
        let Some((from, velocity)) = projectile
            .and_then(|projectile| bounce_off_pawn((point, pillar), velocity, &projectile, bounces))
        else {
            return false;
        };
        let launch = shown.launch.off(age, from, velocity, bounces + 1);
        let Some(path) = self.path(&launch) else { return false };
        (shown.launch, shown.path) = (launch, path);
        (shown.age, shown.off) = (0.0, Some(hit.entity));
        true
    }

    fn show(&self, shown: &mut DisplayedProjectile, shows: &mut DisplayOutput) {
        let (position, velocity) = shown.drawn();
        let ProjectileLaunch { shooter, shot, weapon, .. } = shown.launch;
        let drawn = DrawnProjectile { position, velocity, weapon, shooter, shot, own: shown.own.is_some() };
        let entity = shows.commands.spawn(drawn).id();
        shown.entity = Some(entity);
        let ticks = shown.age + f64::from(shown.launch.flown) / SUB_TICKS as f64;
        let flown = ticks as f32 * self.sampler.tick_seconds;
        shows.shown.write(ProjectileAppeared { entity, drawn, flown });
    }

    fn finish(&self, shown: &mut DisplayedProjectile, ends: &DisplayedEnd, shows: &mut DisplayOutput) {
        let ProjectileLaunch { shooter, shot, weapon, .. } = shown.launch;
        let own = shown.own.is_some();
        if own {
            shows.hits.write(DisplayedProjectileHit { shot, hit: ends.drawn, hits: self.hits(shown, ends) });
        }
        let Some(entity) = shown.entity else { return };
        let DisplayedEnd { point, normal, kind, .. } = *ends;
        shows.ended.write(ProjectileDisappeared { entity, weapon, shooter, shot, own, point, normal, kind });
        // The game may have despawned it already.
        shows.commands.entity(entity).try_despawn();
    }
}

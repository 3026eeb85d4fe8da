//! Projectiles on a screen: the shooter's own at once, everybody's when the server says so.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, DrawnPose, DrawnViewTime, LocalControl, NetId, NetRole, Sampler, Tick, ViewTime};
use bevy_unlag_rewind::{DrawnQuery, Meeting, RewindFilter, TargetHit, Team};

use super::{
    ProjectileEnd, ProjectileEndKind, ProjectileLaunch, Trajectory, flying,
    server::off_somebody,
    shown::{EASE, Ends, Screen, Shown, key_of},
};
use crate::{Arsenal, FireRules, Projectile, ShotFired, ShotResult, ShotVerdict, WeaponId};

/// When projectiles are drawn.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProjectileSystems {
    /// In [`PostUpdate`] after everyone else was drawn: every [`DrawnProjectile`] is brought up to this frame.
    Draw,
}

/// A projectile as this screen shows it. Entities with it come and go by themselves; a game gives them their looks,
/// and moves those.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct DrawnProjectile {
    /// Where it is, in metres.
    pub position: Vec3,
    /// How fast it goes, in metres per second.
    pub velocity: Vec3,
    /// Out of what it came.
    pub weapon: WeaponId,
    /// Who fired it.
    pub shooter: NetId,
    /// In which shot.
    pub shot: Tick,
    /// Whether it is this app's own player's.
    pub own: bool,
}

/// A projectile is shown from here on: once for each. Flash and bang of a remote shooter's belong here.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct ProjectileShown {
    /// What shows it.
    pub entity: Entity,
    /// The first that is shown of it.
    pub drawn: DrawnProjectile,
}

/// A projectile is shown no more: once for each that was shown. What bursts, sparks and sounds belongs here.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct ProjectileEnded {
    /// What showed it; it is despawned in this frame.
    pub entity: Entity,
    /// Out of what it came.
    pub weapon: WeaponId,
    /// Who fired it.
    pub shooter: NetId,
    /// In which shot.
    pub shot: Tick,
    /// Whether it is this app's own player's.
    pub own: bool,
    /// Where its middle was, in metres.
    pub point: Vec3,
    /// The unit vector out of what it met, or against its way.
    pub normal: Vec3,
    /// Why, as this screen showed it: on the shooter's before the server knows. Nothing bursts when it is
    /// [`Gone`](ProjectileEndKind::Gone).
    pub kind: ProjectileEndKind,
}

/// What this app's screen showed the own player's projectile hitting: the other half of the shot's last
/// [`ShotVerdict`].
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct ProjectileDrawn {
    /// The shot's name.
    pub shot: Tick,
    /// Whom; `None` for nobody.
    pub hit: Option<TargetHit>,
}

/// What was said of projectiles since the last frame.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Said<'w, 's> {
    fired: MessageReader<'w, 's, ShotFired>,
    launches: MessageReader<'w, 's, ProjectileLaunch>,
    ends: MessageReader<'w, 's, ProjectileEnd>,
    verdicts: MessageReader<'w, 's, ShotVerdict>,
}

type Pawn = (Entity, &'static NetId, &'static NetRole, Option<&'static DrawnPose>, Has<LocalControl>);

/// What of the rest of the app matters.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Around<'w, 's> {
    view: Res<'w, DrawnViewTime>,
    tick: Res<'w, CurrentTick>,
    fixed: Res<'w, Time<Fixed>>,
    time: Res<'w, Time>,
    sampler: Res<'w, Sampler>,
    arsenal: Res<'w, Arsenal>,
    rules: Res<'w, FireRules>,
    pawns: Query<'w, 's, Pawn>,
    teams: Query<'w, 's, &'static Team>,
    query: DrawnQuery<'w, 's>,
}

/// What is shown of it.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Shows<'w, 's> {
    drawn: Query<'w, 's, &'static mut DrawnProjectile>,
    shown: MessageWriter<'w, ProjectileShown>,
    ended: MessageWriter<'w, ProjectileEnded>,
    hits: MessageWriter<'w, ProjectileDrawn>,
    commands: Commands<'w, 's>,
}

pub(crate) fn draw(mut screen: ResMut<Screen>, mut said: Said, around: Around, mut shows: Shows) {
    let view = around.view();
    if around.pawns.iter().all(|(.., local)| !local) && view.is_none() {
        // Nobody looks.
        said.fired.clear();
        said.launches.clear();
        said.ends.clear();
        said.verdicts.clear();
        return;
    }
    let seconds = around.time.delta_secs();
    screen.pass(seconds);
    for fired in said.fired.read() {
        around.take_fired(fired, view, &mut screen);
    }
    for launch in said.launches.read() {
        around.take_launch(launch, view, &mut screen);
    }
    for end in said.ends.read().filter(|end| end.point.is_finite()) {
        let key = key_of(end);
        if let Some(shown) = screen.find(key) {
            shown.end = shown.end.or(Some(*end));
        } else if !screen.is_over(key) {
            screen.keep(*end);
        }
    }
    for verdict in said.verdicts.read() {
        if matches!(verdict.result, ShotResult::Refused(_))
            && let Some(shown) =
                screen.flying.iter_mut().find(|shown| shown.own.is_some() && shown.launch.shot == verdict.shot)
        {
            shown.refused = true;
        }
    }
    let mut flying = core::mem::take(&mut screen.flying);
    flying.retain_mut(|shown| {
        let kept = around.go_on(shown, view, &mut shows);
        if !kept {
            screen.close(shown.launch.key());
        }
        kept
    });
    screen.flying = flying;
}

impl Around<'_, '_> {
    /// The moment that the screen shows; on a machine that decides and shows nobody else, the present.
    fn view(&self) -> Option<ViewTime> {
        let hosts = |(_, _, role, _, local): (_, _, &NetRole, _, bool)| local && *role == NetRole::Authority;
        let present = || self.pawns.iter().any(hosts).then(|| self.tick.in_frame(&self.fixed));
        self.view.0.or_else(present)
    }

    fn projectile(&self, weapon: WeaponId) -> Option<&Projectile> {
        self.arsenal.get(weapon).and_then(flying)
    }

    fn path(&self, launch: &ProjectileLaunch) -> Option<Trajectory> {
        Some(Trajectory::new(launch, self.projectile(launch.weapon)?, self.sampler.tick_seconds))
    }

    /// The own player's flies at once; a host's when it has judged it itself, in the same frame.
    fn take_fired(&self, fired: &ShotFired, view: Option<ViewTime>, screen: &mut Screen) {
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

    fn take_launch(&self, launch: &ProjectileLaunch, view: Option<ViewTime>, screen: &mut Screen) {
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
        if view.is_none() {
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
        if launch.flown == 0 {
            shown.ease_from(if near { muzzle } else { launch.from }, EASE);
        }
        screen.flying.push(shown);
    }

    fn walk(&self, shown: &mut Shown, from: f64, to: f64, each: impl FnMut(&super::Piece) -> bool) {
        let world = self.query.world();
        shown.path.walk(from, to, |a, way, max, radius| world.touch(a, way, max, radius), each);
    }

    /// Brings one up to this frame. Returns whether it goes on.
    fn go_on(&self, shown: &mut Shown, view: Option<ViewTime>, shows: &mut Shows) -> bool {
        if shown.refused || shown.is_unanswered() {
            let (point, velocity) = shown.drawn();
            let normal = -velocity.try_normalize().unwrap_or(Vec3::NEG_Y);
            let kind = ProjectileEndKind::Gone;
            self.finish(shown, &Ends { point, normal, kind, drawn: None }, shows);
            return false;
        }
        let frame = f64::from(self.time.delta_secs() / self.sampler.tick_seconds.max(1e-6));
        let now = shown.age_at(view, frame);
        if now < 0.0 && shown.entity.is_none() {
            // This screen is not there yet.
            return shown.known_for < WAITING;
        }
        let now = now.max(shown.age);
        let ends = self.fly(shown, now);
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

    /// Flies to an age, and says how it ends before that.
    fn fly(&self, shown: &mut Shown, now: f64) -> Option<Ends> {
        let told = shown.told_end();
        let until = told.map_or(now, |(age, _)| now.min(age));
        let from = shown.age;
        let own = shown.own.filter(|_| until > from);
        let mut met: Option<(Meeting, super::Piece)> = None;
        let projectile = self.projectile(shown.launch.weapon).copied();
        let (radius, off) = (projectile.map_or(0.0, |projectile| projectile.radius), shown.off);
        let allowed = |entity| Some(entity) != off;
        let filter = own.map(|own| {
            let not_of = self.teams.get(own).ok().filter(|_| !self.rules.friendly_fire).copied();
            RewindFilter { not_of, only: Some(&allowed), ..RewindFilter::without(own) }
        });
        let ago = |age: f64| (now - age) as f32 * self.sampler.tick_seconds;
        self.walk(shown, from, until, |piece| {
            if let Some(filter) = &filter {
                let ways = ((piece.a, piece.b), (ago(piece.from), ago(piece.to)));
                met = self.query.fly(ways.0, ways.1, radius, filter).map(|met| (met, *piece));
            }
            met.is_none()
        });
        let against = |shown: &Shown, age| -shown.path.at(age).1.try_normalize().unwrap_or(Vec3::NEG_Y);
        if let Some((met, piece)) = met {
            let (part, hit) = match met {
                Meeting::Target { hit, part } => (part, Some(hit)),
                Meeting::Mover { part, .. } => (part, None),
            };
            let (age, point) = (piece.age(part), piece.a.lerp(piece.b, part));
            if let Some(hit) = hit
                && self.bounces_off(shown, (hit, age, point), projectile)
            {
                return None;
            }
            let kind = hit.map_or(ProjectileEndKind::Wall, |hit| ProjectileEndKind::Hit {
                target: hit.target,
                group: hit.group,
            });
            return Some(Ends { point, normal: against(shown, age), kind, drawn: hit });
        }
        let path = shown.path.end().filter(|end| end.age <= until);
        if let Some((age, end)) = told.filter(|(age, _)| *age <= now)
            && path.is_none_or(|path| age <= path.age + 1e-3 || end.kind == ProjectileEndKind::Gone)
        {
            let here = shown.path.at(age).0;
            let point = if here.distance(end.point) < SAME { here } else { end.point };
            let wall = shown.path.end().filter(|path| path.point.distance(point) < SAME);
            let normal = wall.and_then(|path| path.normal).unwrap_or(against(shown, age));
            return Some(Ends { point, normal, kind: end.kind, drawn: None });
        }
        shown.age = until.max(shown.age);
        path.map(|path| Ends {
            point: path.point,
            normal: path.normal.unwrap_or(against(shown, path.age)),
            kind: if path.normal.is_some() { ProjectileEndKind::Wall } else { ProjectileEndKind::Fuse },
            drawn: None,
        })
    }

    /// Launches the own player's anew off somebody whom the screen showed it meeting.
    fn bounces_off(
        &self,
        shown: &mut Shown,
        (hit, age, point): (TargetHit, f64, Vec3),
        projectile: Option<Projectile>,
    ) -> bool {
        let middle = self.pawns.get(hit.entity).ok().and_then(|(_, _, _, drawn, _)| drawn);
        let middle = middle.map_or(point, |drawn| drawn.pose.position);
        let (velocity, bounces) = (shown.path.at(age).1, shown.path.bounces());
        let Some((from, velocity)) =
            projectile.and_then(|projectile| off_somebody((point, middle), velocity, &projectile, bounces))
        else {
            return false;
        };
        let launch = shown.launch.off(age, from, velocity, bounces + 1);
        let Some(path) = self.path(&launch) else { return false };
        (shown.launch, shown.path) = (launch, path);
        (shown.age, shown.off) = (0.0, Some(hit.entity));
        true
    }

    fn show(&self, shown: &mut Shown, shows: &mut Shows) {
        let (position, velocity) = shown.drawn();
        let ProjectileLaunch { shooter, shot, weapon, .. } = shown.launch;
        let drawn =
            DrawnProjectile { position, velocity, weapon, shooter, shot, own: shown.own.is_some() };
        let entity = shows.commands.spawn(drawn).id();
        shown.entity = Some(entity);
        shows.shown.write(ProjectileShown { entity, drawn });
    }

    fn finish(&self, shown: &mut Shown, ends: &Ends, shows: &mut Shows) {
        let ProjectileLaunch { shooter, shot, weapon, .. } = shown.launch;
        let own = shown.own.is_some();
        if own {
            shows.hits.write(ProjectileDrawn { shot, hit: ends.drawn });
        }
        let Some(entity) = shown.entity else { return };
        let Ends { point, normal, kind, .. } = *ends;
        shows.ended.write(ProjectileEnded { entity, weapon, shooter, shot, own, point, normal, kind });
        // A game may have done so itself.
        shows.commands.entity(entity).try_despawn();
    }
}

/// Metres from where it was launched within which its shooter's looks are.
const NEAR: f32 = 3.0;
/// Metres from where the server says that it ended within which the path is right.
const SAME: f32 = 0.25;
/// Seconds after which something is given up that this screen never comes to.
const WAITING: f32 = 10.0;

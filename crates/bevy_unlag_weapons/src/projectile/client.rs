//! Projectiles on a screen: the shooter's own at once, everybody's when the server says so.

mod advance;
mod hear;

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{
    CurrentTick, DrawnPose, DrawnViewTime, LocalControl, NetId, NetRole, PoseSample, Sampler, Tick, ViewTime,
};
use bevy_unlag_rewind::{DrawnQuery, TargetHit, Team};

use super::{
    ProjectileEnd, ProjectileEndKind, ProjectileLaunch,
    shown::{Screen, key_of},
};
use crate::{Arsenal, FireRules, ShotFired, ShotResult, ShotVerdict, WeaponId};

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

/// A projectile is shown from here on: once for each. Flash and bang of a remote shooter's belong here, unless it has
/// flown for long.
#[derive(Message, Clone, Copy, PartialEq, Debug)]
pub struct ProjectileShown {
    /// What shows it.
    pub entity: Entity,
    /// The first that is shown of it.
    pub drawn: DrawnProjectile,
    /// Seconds that it has flown when that is shown: a remote shooter's for about as long as its shot was on the way.
    /// What has flown for longer was in the air when this client joined.
    pub flown: f32,
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

/// Write it when the connection to a server ends: all that is shown disappears, as
/// [`Gone`](ProjectileEndKind::Gone), and nothing of it is remembered. Another server, and the same one after a
/// restart, counts its ticks anew, so its projectiles may have the names of those. A transport writes it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ForgetProjectiles;

/// What was said of projectiles since the last frame.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Said<'w, 's> {
    forget: MessageReader<'w, 's, ForgetProjectiles>,
    fired: MessageReader<'w, 's, ShotFired>,
    launches: MessageReader<'w, 's, ProjectileLaunch>,
    ends: MessageReader<'w, 's, ProjectileEnd>,
    verdicts: MessageReader<'w, 's, ShotVerdict>,
}

impl Said<'_, '_> {
    fn clear(&mut self) {
        self.forget.clear();
        self.fired.clear();
        self.launches.clear();
        self.ends.clear();
        self.verdicts.clear();
    }
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

pub(crate) fn draw(
    mut screen: ResMut<Screen>,
    mut said: Said,
    around: Around,
    mut shows: Shows,
    mut last: Local<LastFrame>,
) {
    // A screen that shows nobody any more goes on from the moment that it showed last: not everything that flies has
    // somebody beside it.
    let view = around.view().or_else(|| last.view.map(|view| view.later(around.frame_units())));
    if !said.forget.is_empty() {
        for mut shown in core::mem::take(&mut *screen).flying {
            around.vanish(&mut shown, &mut shows);
        }
        *last = default();
        said.clear();
        return;
    }
    if view.is_none() && around.is_unwatched() {
        said.clear();
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
            && let Some(shown) = screen
                .flying
                .iter_mut()
                .find(|shown| shown.own.is_some() && shown.launch.shot == verdict.shot)
        {
            shown.refused = true;
        }
    }
    let mut flying = core::mem::take(&mut screen.flying);
    flying.retain_mut(|shown| {
        let kept = around.go_on(shown, view, &last, &mut shows);
        if !kept {
            screen.close(shown.launch.key());
        }
        kept
    });
    screen.flying = flying;
    last.view = view;
    last.poses.clear();
    let drawn = around.pawns.iter().filter_map(|(entity, _, _, drawn, _)| Some((entity, drawn?.pose)));
    last.poses.extend(drawn);
}

/// What the last frame showed.
#[derive(Default)]
pub(crate) struct LastFrame {
    view: Option<ViewTime>,
    poses: EntityHashMap<PoseSample>,
}

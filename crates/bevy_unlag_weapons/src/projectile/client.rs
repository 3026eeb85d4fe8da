//! Projectiles on screen: the local player's own immediately, all others on the server's launch message.

mod flight;
mod launch;
mod splash;

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{
    CurrentTick, DrawnPose, DrawnViewTime, LocalControl, NetId, NetRole, OwnMoveDelay, PoseSample,
    PoseSampler, Tick, ViewTime, WorldGravity,
};
use bevy_unlag_rewind::{DrawnQuery, TargetHit, Team};

use super::{
    ProjectileDisplay, ProjectileEnd, ProjectileEndKind, ProjectileLaunch,
    display::{DisplayedProjectiles, key_of},
};
use crate::{
    arsenal::Arsenal,
    fire_rules::FireRules,
    firing::ShotFired,
    verdict::{HitList, ShotResult, ShotVerdict},
    weapon::WeaponId,
};

/// A projectile as displayed on this screen. Entities with it are spawned and despawned automatically; the
/// game attaches visuals and moves them.
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug)]
#[doc(alias = "bFakeClientProjectile")]
pub struct DrawnProjectile {
    /// Position, in metres.
    pub position: Vec3,
    /// Velocity, in metres per second.
    pub velocity: Vec3,
    /// Weapon that fired it.
    pub weapon: WeaponId,
    /// The shooter.
    pub shooter: NetId,
    /// The shot that launched it.
    pub shot: Tick,
    /// Whether the local player fired it.
    pub own: bool,
}

/// Reports that a projectile appeared on screen; once per projectile. Play the muzzle flash and sound of a
/// remote shooter here, unless the projectile has been in flight for long.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ProjectileAppeared {
    /// Entity of the [`DrawnProjectile`].
    pub entity: Entity,
    /// Its first displayed state.
    pub drawn: DrawnProjectile,
    /// Flight time at that moment, in seconds. For a remote shooter it is about the latency of the shot; a
    /// longer flight time means that the projectile was already in flight when this client joined.
    pub flown: f32,
}

/// Reports that a displayed projectile ended; once per projectile. Play explosions, sparks and sounds here.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ProjectileDisappeared {
    /// Entity of the [`DrawnProjectile`]; it is despawned in this frame.
    pub entity: Entity,
    /// Weapon that fired it.
    pub weapon: WeaponId,
    /// The shooter.
    pub shooter: NetId,
    /// The shot that launched it.
    pub shot: Tick,
    /// Whether the local player fired it.
    pub own: bool,
    /// Position of its centre, in metres.
    pub point: Vec3,
    /// Outward unit normal of the surface that it hit, or else the direction opposite to its flight.
    pub normal: Vec3,
    /// Reason, as displayed on this screen; the shooter's screen shows it before the server knows. Nothing
    /// explodes if it is [`Gone`](ProjectileEndKind::Gone).
    pub kind: ProjectileEndKind,
}

/// Reports which targets this screen showed the local player's projectile hitting: the client's counterpart of
/// the shot's last [`ShotVerdict`]. Show hit markers here.
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct DisplayedProjectileHit {
    /// Identifier of the shot; see [`PredictedShot::shot`](crate::PredictedShot::shot).
    pub shot: Tick,
    /// The direct hit; `None` if it ended at no pawn.
    pub hit: Option<TargetHit>,
    /// All targets: that of the direct hit, and those that the splash damages.
    pub hits: HitList,
}

/// Requests that all displayed projectiles disappear as [`Gone`](ProjectileEndKind::Gone) and everything
/// known about them is forgotten. A transport writes it when the connection to a server ends: another server,
/// or the same one after a restart, counts its ticks from the beginning, so its projectiles may have the same
/// identifiers.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Message, Debug, Default)]
pub struct ClearProjectiles;

/// Projectile messages since the last frame.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct ProjectileMessages<'w, 's> {
    forget: MessageReader<'w, 's, ClearProjectiles>,
    fired: MessageReader<'w, 's, ShotFired>,
    launches: MessageReader<'w, 's, ProjectileLaunch>,
    ends: MessageReader<'w, 's, ProjectileEnd>,
    verdicts: MessageReader<'w, 's, ShotVerdict>,
}

impl ProjectileMessages<'_, '_> {
    fn clear(&mut self) {
        self.forget.clear();
        self.fired.clear();
        self.launches.clear();
        self.ends.clear();
        self.verdicts.clear();
    }
}

type Pawn = (Entity, &'static NetId, &'static NetRole, Option<&'static DrawnPose>, Has<LocalControl>);

/// World state that the display of projectiles reads.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct DisplayContext<'w, 's> {
    view: Res<'w, DrawnViewTime>,
    pub(super) display: Res<'w, ProjectileDisplay>,
    pub(super) delay: Res<'w, OwnMoveDelay>,
    pub(super) tick: Res<'w, CurrentTick>,
    pub(super) fixed: Res<'w, Time<Fixed>>,
    time: Res<'w, Time>,
    pub(super) sampler: Res<'w, PoseSampler>,
    pub(super) arsenal: Res<'w, Arsenal>,
    rules: Res<'w, FireRules>,
    gravity: Res<'w, WorldGravity>,
    pub(super) pawns: Query<'w, 's, Pawn>,
    teams: Query<'w, 's, &'static Team>,
    query: DrawnQuery<'w, 's>,
}

/// Output of the display of projectiles.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct DisplayOutput<'w, 's> {
    drawn: Query<'w, 's, &'static mut DrawnProjectile>,
    shown: MessageWriter<'w, ProjectileAppeared>,
    ended: MessageWriter<'w, ProjectileDisappeared>,
    hits: MessageWriter<'w, DisplayedProjectileHit>,
    commands: Commands<'w, 's>,
}

pub(crate) fn draw(
    mut screen: ResMut<DisplayedProjectiles>,
    mut messages: ProjectileMessages,
    around: DisplayContext,
    mut shows: DisplayOutput,
    mut last: Local<LastFrame>,
) {
    // A screen that no longer shows any remote pawn continues from the view time that it showed last: a
    // projectile can be in flight without a remote pawn being drawn.
    let view = around.view().or_else(|| last.view.map(|view| view.later(around.frame_units())));
    if !messages.forget.is_empty() {
        for mut shown in core::mem::take(&mut *screen).flying {
            around.remove_silently(&mut shown, &mut shows);
        }
        *last = default();
        messages.clear();
        return;
    }
    if view.is_none() && around.is_dedicated_server() {
        messages.clear();
        return;
    }
    let seconds = around.time.delta_secs();
    screen.advance_timers(seconds);
    for fired in messages.fired.read() {
        around.show_fired(fired, view, &mut screen);
    }
    for launch in messages.launches.read() {
        around.show_launch(launch, view, &mut screen);
    }
    for end in messages.ends.read().filter(|end| end.point.is_finite()) {
        let key = key_of(end);
        if let Some(shown) = screen.find(key) {
            shown.end = shown.end.or(Some(*end));
        } else if !screen.is_over(key) {
            screen.keep_early_end(*end);
        }
    }
    for verdict in messages.verdicts.read() {
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
        let kept = around.advance(shown, view, &last, &mut shows);
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

/// View time and poses displayed in the last frame.
#[derive(Default)]
pub(crate) struct LastFrame {
    view: Option<ViewTime>,
    poses: EntityHashMap<PoseSample>,
}

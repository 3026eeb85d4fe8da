//! End of a projectile on the server: direct hit and splash damage.

use bevy::prelude::*;
use bevy_unlag_rewind::{BlastHit, Miss, RewindFilter, RewindTime, Rewound, TargetHit};

use super::trajectory::direction_or_down;
use crate::{
    projectile::{
        ProjectileEndKind,
        server_projectile::{ProjectileContext, ProjectileOutput, ServerProjectile},
    },
    shot_validation::{ShotHit, write_damage},
    verdict::HitList,
    weapon::{Projectile, Splash, Weapon},
};

/// Distance of the explosion from the surface, in metres: directly on it, nothing would be in line of sight.
const OFF_WALLS: f32 = 0.05;
/// Height above a pawn's feet to which knockback is directed, in metres.
const WAIST: f32 = 0.9;

/// End of a projectile's flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Impact {
    /// Age, in ticks.
    pub age: f64,
    /// Position of the projectile's centre.
    pub point: Vec3,
    /// Outward normal of the surface, if it hit the world.
    pub normal: Option<Vec3>,
    pub velocity: Vec3,
    /// Up direction there.
    pub up: Vec3,
    /// Direct hit, with the distance along the whole flight.
    pub direct: Option<TargetHit>,
}

/// Buffers that are reused for all projectiles.
#[derive(Default)]
pub(crate) struct ImpactBuffers {
    near: Vec<BlastHit>,
    own: Vec<BlastHit>,
    struck: Vec<ShotHit>,
}

impl Impact {
    /// Returns the end reason that is sent to all clients.
    pub fn kind(&self) -> ProjectileEndKind {
        match self.direct {
            Some(hit) => ProjectileEndKind::Hit { target: hit.target, group: hit.group },
            None if self.normal.is_some() => ProjectileEndKind::Wall,
            None => ProjectileEndKind::Fuse,
        }
    }

    /// Applies the damage with targets posed as in `then`. Returns the hits without the shooter itself: a
    /// player gets no hit marker for damaging itself.
    pub fn apply(
        &self,
        flight: &ServerProjectile,
        (weapon, projectile): (&Weapon, &Projectile),
        (air, then): (&ProjectileContext, &Rewound),
        blasts: &mut ImpactBuffers,
        output: &mut ProjectileOutput,
    ) -> HitList {
        let direction = direction_or_down(self.velocity, self.up);
        blasts.struck.clear();
        blasts.struck.extend(self.direct.map(|hit| ShotHit {
            damage: weapon.damage.to(hit.group, hit.distance) * hit.factor * flight.shot.round.power(),
            hit,
            direction,
            throw: Vec3::ZERO,
        }));
        if let Some(splash) = projectile.splash {
            self.splash(&splash, flight, (air, then), blasts);
        }
        let shot = (flight.shot.shooter, flight.launch.weapon, flight.launch.shot);
        write_damage(&blasts.struck, shot, &mut output.shot_output);
        let others = blasts.struck.iter().filter(|struck| struck.hit.entity != flight.shot.shooter);
        others.map(|struck| (struck.hit.target, struck.hit.group)).collect()
    }

    fn splash(
        &self,
        splash: &Splash,
        flight: &ServerProjectile,
        (air, then): (&ProjectileContext, &Rewound),
        blasts: &mut ImpactBuffers,
    ) {
        let back = self.direct.map(|_| -direction_or_down(self.velocity, self.up));
        let centre = splash_centre(self.point, self.normal.or(back));
        let ImpactBuffers { near, own, struck } = blasts;
        near.clear();
        own.clear();
        let shooter = flight.shot.shooter;
        let blast = Explosion { splash, centre, up: self.up, shooter };
        let exclude_team = flight.shot.spared.team();
        let others = then.with_filter(RewindFilter { exclude_team, ..RewindFilter::exclude(shooter) });
        // The reason for an empty result does not matter here.
        let _: Result<(), Miss> = others.blast(centre, splash.radius, near);
        near.iter().for_each(|reached| blast.strike(reached, then, struck));
        // The shooter is never sent to itself: its client predicts it, and the present is nearest to that.
        let itself = |entity| entity == shooter;
        if let Ok(now) = air.query.at(RewindTime::Now) {
            let now = now.with_filter(RewindFilter { predicate: Some(&itself), ..default() });
            let _: Result<(), Miss> = now.blast(centre, splash.radius, own);
            own.iter().for_each(|reached| blast.strike(reached, &now, struck));
        }
    }
}

/// Returns the centre of the splash of a projectile that ends at `point`. `outward` is the unit normal there, or the
/// direction opposite to its flight; `None` in mid-air.
pub(super) fn splash_centre(point: Vec3, outward: Option<Vec3>) -> Vec3 {
    point + outward.map_or(Vec3::ZERO, |outward| outward * OFF_WALLS)
}

/// An explosion at a point.
struct Explosion<'a> {
    splash: &'a Splash,
    centre: Vec3,
    up: Vec3,
    shooter: Entity,
}

impl Explosion<'_> {
    /// Applies the splash to a reached target, posed as in `then`.
    fn strike(&self, reached: &BlastHit, then: &Rewound, struck: &mut Vec<ShotHit>) {
        let Self { splash, centre, up, shooter } = *self;
        let hit = reached.hit;
        if reached.visible <= 0.0 {
            return;
        }
        let far = (hit.distance / splash.radius.max(1e-6)).clamp(0.0, 1.0);
        let part = (1.0 - far * (1.0 - splash.edge)) * reached.visible;
        let damage = splash.damage * part * if hit.entity == shooter { splash.own } else { 1.0 };
        let waist =
            then.pose(hit.entity).map_or(hit.point, |pose| pose.position + pose.rotation * (Vec3::Y * WAIST));
        let direction = (waist - centre).try_normalize().unwrap_or(up);
        let throw = direction * (splash.throw * part);
        match struck.iter_mut().find(|known| known.hit.entity == hit.entity) {
            // A direct hit and the splash do not add up: the larger damage counts.
            Some(direct) => {
                direct.damage = direct.damage.max(damage);
                direct.throw = throw;
            }
            None => struck.push(ShotHit { hit, damage, direction, throw }),
        }
    }
}

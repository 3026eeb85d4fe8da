//! Hit tests of the server, for every kind of shot except projectiles.

use bevy::prelude::*;
use bevy_unlag_core::Tick;
use bevy_unlag_rewind::{
    ClaimedTarget, MeleeArc, MeleeHit, Miss, Pellets, PosedTargets, RewindQuery, Rewound, TargetHit,
    WallPenetration,
};

use super::ShotOutput;
use crate::{
    shot_messages::TracerPath,
    verdict::{Damage, HitList, ShotResult, TargetCount},
    weapon::{Shot, Weapon, WeaponId},
    weapon_extension::PredictedShot,
};

/// Maximum angle from straight behind of a backstab, in radians.
const BACKSTAB_ANGLE: f32 = core::f32::consts::FRAC_PI_3;
/// Interval between two tracers of a beam, in ticks.
const BEAM_TRACER_INTERVAL: u32 = 4;

/// A hit of one ray, swing or explosion of a shot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShotHit {
    pub hit: TargetHit,
    /// Damage in points of health.
    pub damage: f32,
    /// Unit direction of the shot.
    pub direction: Vec3,
    /// Knockback velocity, in metres per second.
    pub throw: Vec3,
}

/// Parameters of a hit test.
pub(super) struct HitTest<'a> {
    pub weapon: &'a Weapon,
    pub round: &'a PredictedShot,
    pub eye: Vec3,
    pub seed: u16,
    pub claimed: Option<ClaimedTarget>,
    /// Tick length in seconds.
    pub dt: f32,
    /// Whether a target stops the shot without being hit.
    pub blocks: &'a dyn Fn(&TargetHit) -> bool,
}

/// Results and buffers of hit tests.
#[derive(Default)]
pub(super) struct HitTests {
    struck: Vec<ShotHit>,
    /// Distance at which the first ray ended, if known.
    reach: Option<f32>,
    pierced: Vec<TargetHit>,
    swing: Vec<MeleeHit>,
    directions: Vec<Vec3>,
    posed: PosedTargets,
    pellets: Pellets,
}

impl HitTests {
    pub fn clear(&mut self) {
        self.struck.clear();
        self.reach = None;
    }

    /// Returns the hits of the last shot.
    pub fn struck(&self) -> &[ShotHit] {
        &self.struck
    }

    /// Returns the result of the last shot.
    pub fn result(&self) -> ShotResult {
        let hits: HitList = self.struck.iter().map(|hit| (hit.hit.target, hit.hit.group)).collect();
        hits.into()
    }

    pub fn run(&mut self, then: &Rewound, question: &HitTest) {
        let HitTest { weapon, round, eye, seed, claimed, dt, blocks } = *question;
        let direction = round.direction(seed, 0);
        let power = round.power();
        let struck = |hit: TargetHit, direction: Vec3, part: f32| ShotHit {
            damage: weapon.damage.to(hit.group, hit.distance) * hit.factor * power * part,
            hit,
            direction,
            throw: Vec3::ZERO,
        };
        match weapon.shot {
            Shot::Ray { range, pierce: 0, radius, .. } => {
                let answer = match claimed {
                    // The radius is the forgiveness.
                    _ if radius > 0.0 => then.cast_ball(eye, direction, range, radius),
                    Some(claimed) => then.cast_ray_claimed(eye, direction, range, claimed),
                    None => then.cast_ray(eye, direction, range),
                };
                self.reach = reach(&answer);
                let hit = answer.ok().filter(|hit| !blocks(hit));
                self.struck.extend(hit.map(|hit| struck(hit, direction, 1.0)));
            }
            Shot::Ray { range, pierce, pierced, .. } => {
                let answer =
                    then.cast_ray_all(eye, direction, range, WallPenetration::Stop, &mut self.pierced);
                let wall = answer.ok().flatten().map(|wall| wall.distance);
                let (mut part, mut blocked) = (1.0, None);
                for hit in &self.pierced {
                    // A ray that pierces several hit boxes of one target hits it once.
                    if self.struck.iter().any(|known| known.hit.target == hit.target) {
                        continue;
                    }
                    if self.struck.len() > usize::from(pierce) {
                        break;
                    }
                    if blocks(hit) {
                        blocked = Some(hit.distance);
                        break;
                    }
                    self.struck.push(struck(*hit, direction, part));
                    part *= pierced;
                }
                let stopped = (self.struck.len() > usize::from(pierce)).then(|| self.struck.last()).flatten();
                self.reach = blocked.or(stopped.map(|last| last.hit.distance)).or(wall);
            }
            Shot::Pellets { count, range } => {
                self.directions.clear();
                self.directions.extend((0..u32::from(count)).map(|pellet| round.direction(seed, pellet)));
                then.cast_pellets(eye, &self.directions, range, &mut self.posed, &mut self.pellets);
                let answers = self.pellets.results().iter().zip(&self.directions);
                self.struck.extend(answers.filter_map(|(answer, way)| {
                    let hit = answer.as_ref().ok().copied().filter(|hit| !blocks(hit))?;
                    Some(struck(hit, *way, 1.0))
                }));
            }
            Shot::Melee { reach, half_angle, half_height, backstab } => {
                let arc = MeleeArc { reach, half_angle: half_angle.to_radians(), half_height };
                let facing = Transform::default().looking_to(direction, round.up).rotation;
                self.swing.clear();
                // The reason for an empty result does not matter here.
                let _: Result<(), Miss> = then.melee_arc(Isometry3d::new(eye, facing), &arc, &mut self.swing);
                let swings = self.swing.iter().filter(|swing| !blocks(&swing.hit));
                self.struck.extend(swings.map(|swing| {
                    let part = if swing.from_behind(BACKSTAB_ANGLE) { backstab } else { 1.0 };
                    struck(swing.hit, direction, part)
                }));
            }
            Shot::Beam { range, radius } => {
                let answer = then.cast_ball(eye, direction, range, radius);
                self.reach = reach(&answer);
                let hit = answer.ok().filter(|hit| !blocks(hit));
                self.struck.extend(hit.map(|hit| struck(hit, direction, dt)));
            }
            Shot::Projectile(_) => {}
        }
    }

    /// Returns the tracer for all other clients, if any.
    pub fn trail(
        &self,
        round: &PredictedShot,
        weapon: &Weapon,
        (eye, seed): (Vec3, u16),
        query: &RewindQuery,
    ) -> Option<TracerPath> {
        match weapon.shot {
            Shot::Beam { .. } if !round.number.is_multiple_of(BEAM_TRACER_INTERVAL) => None,
            Shot::Ray { range, .. } | Shot::Beam { range, .. } => {
                let direction = match self.struck.first() {
                    Some(struck) => struck.direction,
                    None => round.direction(seed, 0),
                };
                let far = || query.world().cast(eye, direction, range).unwrap_or(range);
                Some(TracerPath::To(eye + direction * self.reach.unwrap_or_else(far)))
            }
            Shot::Pellets { .. } => Some(TracerPath::Spread { cone: round.cone, seed }),
            Shot::Melee { reach, .. } => Some(TracerPath::To(eye + round.direction(seed, 0) * reach)),
            Shot::Projectile(_) => None,
        }
    }
}

/// Returns the distance at which a ray hit a target or a wall.
fn reach(answer: &Result<TargetHit, Miss>) -> Option<f32> {
    match answer {
        Ok(hit) => Some(hit.distance),
        Err(Miss::Blocked { distance, .. }) => Some(*distance),
        Err(_) => None,
    }
}

/// Writes [`Damage`], once per target.
pub(crate) fn write_damage(
    struck: &[ShotHit],
    (shooter, weapon, shot): (Entity, WeaponId, Tick),
    output: &mut ShotOutput,
) {
    for (index, first) in struck.iter().enumerate() {
        let target = first.hit.entity;
        if struck[..index].iter().any(|other| other.hit.entity == target) {
            continue;
        }
        let mut damage = Damage {
            shooter,
            target,
            weapon,
            shot,
            amount: 0.0,
            hits: TargetCount { target: first.hit.target, ..default() },
            point: first.hit.point,
            direction: first.direction,
            throw: Vec3::ZERO,
        };
        for other in struck[index..].iter().filter(|other| other.hit.entity == target) {
            damage.amount += other.damage;
            damage.throw += other.throw;
            damage.hits.count(other.hit.group);
        }
        output.damage.write(damage);
    }
}

impl PredictedShot {
    /// Returns the unit direction of a pellet: as supplied by the client, if it is, or derived from the seed.
    #[must_use]
    pub fn direction(&self, seed: u16, pellet: u32) -> Vec3 {
        self.fire.pellet_direction(&self.cone, seed, pellet)
    }
}

//! Capture of the view on the shooter's screen: its time, its eye position and the hits along the aim.

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_unlag_core::{
    BodyStep, CurrentTick, DrawnBaseTime, DrawnEye, DrawnPose, DrawnViewTime, ExtendedState, MoveModel,
    PoseSampler, VisualOffset,
};
use bevy_unlag_rewind::{DrawnQuery, MeleeArc, RewindFilter, StampOverride, TargetHit, Team};

use super::ShotRay;
use crate::{
    aim::Aim,
    arsenal::Arsenal,
    fire_input::{FireInput, MAX_OVERRIDES, ShooterView},
    fire_rules::FireRules,
    friendly_fire::SparedTeam,
    spread,
    weapon::{Shot, SpreadSource, Weapon},
    weapon_extension::{PredictedShot, WeaponState},
};

/// Share of the server's eye tolerance that a displaced eye uses: the rest is reserved for the movement of
/// the coming step.
const EYE_TOLERANCE_SHARE: f32 = 0.75;

/// View on the screen when a shot was fired, with its hits.
#[derive(Clone, Debug)]
pub(super) struct CapturedView {
    pub sight: ShooterView,
    pub aim: Aim,
    /// The shot, without the parts that depend on the move.
    pub fire: FireInput,
    pub rays: Vec<ShotRay>,
}

/// The local player's pawn.
#[derive(QueryData)]
pub(crate) struct LocalPawn<M: MoveModel> {
    entity: Entity,
    aim: &'static Aim,
    drawn: &'static DrawnPose,
    eye: &'static DrawnEye,
    offset: Option<&'static VisualOffset>,
    team: Option<&'static Team>,
    pub(super) state: &'static ExtendedState<M::State, WeaponState>,
}

/// Resources that describe the current view.
#[derive(SystemParam)]
pub(crate) struct ViewCapture<'w, 's> {
    pub(super) arsenal: Res<'w, Arsenal>,
    pub(super) sampler: Res<'w, PoseSampler>,
    pub(super) tick: Res<'w, CurrentTick>,
    rules: Res<'w, FireRules>,
    time: Res<'w, DrawnViewTime>,
    bases: Res<'w, DrawnBaseTime>,
    query: DrawnQuery<'w, 's>,
}

impl ViewCapture<'_, '_> {
    /// Captures the view along the aim; `None` without a weapon.
    pub(super) fn look<M: MoveModel>(
        &self,
        own: &LocalPawnItem<M>,
        model: &M::Config,
    ) -> Option<CapturedView> {
        let LocalPawnItem { entity, aim, team, state, .. } = *own;
        let eye = self.eye(own, model);
        // The result does not depend on the move that the shot will be part of.
        let mut fire = FireInput::default();
        let step = BodyStep { look: (aim.yaw, aim.pitch), ..BodyStep::of::<M>(&state.body) };
        let tick = (self.tick.0, self.sampler.tick_seconds);
        let round = state.extension.round(&self.arsenal, &fire, &step, tick)?;
        let weapon = self.arsenal.get(round.weapon)?;
        if weapon.spread.source == SpreadSource::Client {
            fire.set_pellets(spread::pellet_offsets(weapon, round.seed));
        }
        let round = PredictedShot { fire, ..round };
        let cone = round.cone;
        let mut overrides = [StampOverride::default(); MAX_OVERRIDES];
        let named = self.time.0.map_or(0, |time| {
            let aim = (cone.direction(Vec2::ZERO), cone.half_angle_radians());
            self.query.overrides(eye, aim, time, self.sampler.snapshot_ticks, &mut overrides)
        });
        let mut sight = ShooterView::new(self.time.0, eye).with(overrides[..named].iter().copied());
        sight.bases = self.bases.0;
        let spared = SparedTeam::new(self.rules.friendly_fire, team.copied());
        let unknown = weapon.spread.source == SpreadSource::Server && cone.half_angle > 0;
        let nobody = |_| false;
        // The client cannot know the spread, so the shot is shown without a hit.
        let predicate: Option<&(dyn Fn(Entity) -> bool + Sync)> = unknown.then_some(&nobody);
        let filter =
            RewindFilter { exclude_team: spared.passed(), predicate, ..RewindFilter::exclude(entity) };
        let blocks = |hit: &TargetHit| spared.is_blocked_by(self.query.team_of(hit));
        let mut rays = self.rays(weapon, &round, eye, &filter, &blocks);
        // A teammate that stops a ray is no hit.
        rays.iter_mut().for_each(|ray| ray.drawn = ray.drawn.filter(|hit| !blocks(hit)));
        let hit = rays.iter().find_map(|ray| ray.drawn);
        fire.claim = hit.filter(|_| self.rules.claims.enabled()).map(|hit| hit.target);
        Some(CapturedView { sight, aim: *aim, fire, rays })
    }

    /// Returns the drawn eye position, limited to what the server accepts: in a frame of many ticks the pawn
    /// moves on from where it was drawn, and an easing correction may keep the drawn eye far from the pawn or
    /// behind a wall.
    fn eye<M: MoveModel>(&self, own: &LocalPawnItem<M>, model: &M::Config) -> Vec3 {
        let LocalPawnItem { drawn, eye, offset, state, .. } = *own;
        let shown = drawn.pose.position + offset.map_or(Vec3::ZERO, |offset| offset.offset);
        let here = M::eye(model, &state.body);
        // Approximate position after the coming step.
        let next = here + M::velocity(&state.body) * self.sampler.tick_seconds;
        let up = M::view_frame(&state.body).up;
        let drawn = self.rules.clamp_eye((next, up), shown + up * eye.0, EYE_TOLERANCE_SHARE);
        let drawn = FireInput::rounded(drawn);
        if self.query.world().is_clear(here, drawn) { drawn } else { FireInput::rounded(here) }
    }

    /// Traces the rays of a shot against the drawn poses; empty for projectiles. `blocks` tells whether a
    /// target stops the shot without being hit.
    fn rays(
        &self,
        weapon: &Weapon,
        round: &PredictedShot,
        eye: Vec3,
        filter: &RewindFilter<'_>,
        blocks: &dyn Fn(&TargetHit) -> bool,
    ) -> Vec<ShotRay> {
        let query = &self.query;
        let far =
            |way: Vec3, range: f32| query.first_obstacle(eye, way, range).map_or(range, |wall| wall.distance);
        match weapon.shot {
            Shot::Ray { range, radius, .. } if radius > 0.0 => {
                vec![self.sphere_cast(eye, round, (range, radius), filter)]
            }
            Shot::Ray { range, pierce, .. } => {
                let way = round.direction(round.seed, 0);
                let drawn = query.cast_ray(eye, way, range, filter);
                let stops = drawn.filter(|hit| pierce == 0 || blocks(hit));
                let reach = stops.map_or_else(|| far(way, range), |hit| hit.distance);
                vec![ShotRay { to: eye + way * reach, drawn }]
            }
            Shot::Pellets { count, range } => (0..u32::from(count))
                .map(|pellet| {
                    let way = round.direction(round.seed, pellet);
                    let drawn = query.cast_ray(eye, way, range, filter);
                    let reach = drawn.map_or_else(|| far(way, range), |hit| hit.distance);
                    ShotRay { to: eye + way * reach, drawn }
                })
                .collect(),
            Shot::Beam { range, radius } => vec![self.sphere_cast(eye, round, (range, radius), filter)],
            Shot::Melee { reach, half_angle, half_height, .. } => {
                let way = round.direction(round.seed, 0);
                let facing = Transform::default().looking_to(way, round.up).rotation;
                let arc = MeleeArc { reach, half_angle: half_angle.to_radians(), half_height };
                let mut hits = Vec::new();
                query.melee_arc(Isometry3d::new(eye, facing), &arc, filter, &mut hits);
                if hits.is_empty() {
                    return vec![ShotRay { to: eye + way * far(way, reach), drawn: None }];
                }
                hits.iter().map(|met| ShotRay { to: met.hit.point, drawn: Some(met.hit) }).collect()
            }
            Shot::Projectile(_) => Vec::new(),
        }
    }

    /// Casts a sphere of some radius over some range.
    fn sphere_cast(
        &self,
        eye: Vec3,
        round: &PredictedShot,
        (range, radius): (f32, f32),
        filter: &RewindFilter<'_>,
    ) -> ShotRay {
        let way = round.direction(round.seed, 0);
        let drawn = self.query.cast_ball(eye, way, range, radius, filter);
        let wall = || {
            let obstacle = self.query.first_obstacle_ball(eye, way, range, radius);
            obstacle.map_or(range, |wall| wall.distance)
        };
        ShotRay { to: eye + way * drawn.map_or_else(wall, |hit| hit.distance), drawn }
    }
}

//! Client-side queries against what the local screen last showed.

mod blast;
mod flight;
mod sphere_cast;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnBaseTime, DrawnPose, LimbPoses, LimbRig, MeasuredUpdateInterval, NetId,
    NetRole, PoseSampler, ProxySmoothing, SnapshotHistory, ViewStamp, ViewTime,
};
use bevy_unlag_smoothing::OutOfSight;

use crate::{
    drawn_limbs::DrawnLimbs,
    hit_boxes::HitBoxes,
    query_result::TargetHit,
    target::{Body, FirstHit, Limbs},
    team::Team,
    unit_ray::UnitRay,
    view::{HitLayers, RewindFilter, StampOverride},
    world::{NearestObstacle, Occluder, WorldHit, WorldTrace},
};

type Drawn = (
    Entity,
    &'static NetId,
    (&'static DrawnPose, Option<&'static NetRole>, Option<&'static OutOfSight>),
    Option<&'static MeasuredUpdateInterval>,
    &'static HitBoxes,
    Option<&'static LimbRig>,
    Option<&'static DrawnLimbs>,
    Option<&'static Team>,
    Option<&'static HitLayers>,
);

type DrawnHistory = (&'static SnapshotHistory, &'static DrawnPose, Option<&'static ProxySmoothing>);

type Mover = (Entity, &'static Occluder, Option<&'static DrawnPose>);

/// System parameter for queries against what this app's screen last showed: pawns and moving obstacles at
/// their [`DrawnPose`], static geometry as it is.
#[derive(SystemParam)]
pub struct DrawnQuery<'w, 's> {
    pawns: Query<'w, 's, Drawn>,
    known: Query<'w, 's, DrawnHistory>,
    movers: Query<'w, 's, Mover>,
    sampler: Option<Res<'w, PoseSampler>>,
    bases: Res<'w, BasePoses>,
    base_time: Res<'w, DrawnBaseTime>,
    tick: Res<'w, CurrentTick>,
    world: WorldTrace<'w, 's>,
}

impl<'w, 's> DrawnQuery<'w, 's> {
    /// Maximum number of targets that [`overrides`](Self::overrides) returns.
    pub const MAX_OVERRIDES: usize = 32;

    /// Returns the first drawn target that a ray hits, unless the world is in the way. Same rules as
    /// [`Rewound::cast_ray`](crate::Rewound::cast_ray).
    #[must_use]
    pub fn cast_ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        filter: &RewindFilter<'_>,
    ) -> Option<TargetHit> {
        let ray = UnitRay::new(origin, direction, max_distance)?;
        let mut room = LimbPoses::default();
        let mut first = FirstHit::new(ray);
        self.each_accepted(filter, |body| {
            first.look(body, &mut room);
        });
        let counted = first.hit?;
        counted.before(self.first_obstacle(origin, ray.direction.into(), counted.reach())).ok()
    }

    /// Calls `each` with every drawn body that the filter accepts.
    fn each_accepted(&self, filter: &RewindFilter<'_>, mut each: impl FnMut(&Body<'_>)) {
        for (entity, id, (drawn, role, _), _, boxes, rig, nodes, team, layers) in &self.pawns {
            let wanted = filter.allows(entity, team.copied(), layers.copied().unwrap_or_default());
            // A pawn that this client has let go of is drawn where the server never had it at that moment.
            let lets_go = role == Some(&NetRole::SimulatedProxy) && drawn.stamp == ViewStamp::Present;
            if !wanted || !drawn.pose.alive || lets_go {
                continue;
            }
            each(&Body { entity, id: *id, pose: drawn.pose, boxes, limbs: Limbs::drawn(nodes, rig) });
        }
    }

    /// Calls `each` with every drawn body and its stamp.
    pub(crate) fn each_body(&self, mut each: impl FnMut(&Body<'_>, ViewStamp)) {
        for (entity, id, (drawn, ..), _, boxes, rig, nodes, ..) in &self.pawns {
            if drawn.pose.alive {
                let limbs = Limbs::drawn(nodes, rig);
                each(&Body { entity, id: *id, pose: drawn.pose, boxes, limbs }, drawn.stamp);
            }
        }
    }

    /// Returns the first obstacle on this screen along a ray with a unit direction.
    #[must_use]
    pub fn first_obstacle(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<WorldHit> {
        let fixed = self.world.cast(origin, direction, max_distance);
        let mut way = NearestObstacle::new(fixed, max_distance);
        self.each_mover(|entity, occluder, pose| way.consider((entity, occluder), pose, origin, direction));
        way.nearest
    }

    /// Calls `each` with every occluder and its drawn pose.
    fn each_mover(&self, mut each: impl FnMut(Entity, &Occluder, Isometry3d)) {
        let bases = self.bases.at(self.bases_at());
        for (entity, occluder, drawn) in &self.movers {
            let pose = if occluder.base != 0 {
                bases.pose(occluder.base)
            } else {
                drawn.filter(|drawn| drawn.pose.alive).map(|drawn| drawn.pose.body())
            };
            if let Some(pose) = pose {
                each(entity, occluder, pose);
            }
        }
    }

    /// Returns the view time of movement bases.
    fn bases_at(&self) -> ViewTime {
        self.base_time.0.unwrap_or(ViewTime::at(self.tick.0))
    }

    /// Finds targets near a ray, or near a cone with this half angle in radians, that were drawn from
    /// other snapshots than `time` implies for one snapshot every `interval` ticks, or at another moment. Pawns that
    /// are [`OutOfSight`] are not drawn.
    /// Writes them into `found`, nearest to the ray first, as many as fit and at most
    /// [`MAX_OVERRIDES`](Self::MAX_OVERRIDES). Returns their number.
    pub fn overrides(
        &self,
        origin: Vec3,
        (direction, half_angle): (Vec3, f32),
        time: ViewTime,
        interval: i32,
        found: &mut [StampOverride],
    ) -> usize {
        let wide = half_angle.clamp(0.0, 1.5).tan();
        let mut asides = [f32::INFINITY; DrawnQuery::MAX_OVERRIDES];
        let room = found.len().min(asides.len());
        let mut count = 0;
        for (_, id, (drawn, _, hidden), usual, boxes, ..) in &self.pawns {
            // The last pose of a pawn that is not drawn is outdated.
            if hidden.is_some() && !drawn.pose.alive {
                continue;
            }
            // A pair with a longer span than usual has lost a snapshot in between.
            let usual = usual.map_or(interval, |usual| i32::from(usual.0).clamp(1, interval.max(1)));
            let (from, to, at) = match drawn.stamp {
                ViewStamp::Interpolated { from, to, time: at } => (from, Some(to), at),
                ViewStamp::Extrapolated { from, time: at } => (from, None, at),
                ViewStamp::Present => continue,
            };
            if at == time && to.is_some_and(|to| to.since(from) <= usual) {
                continue;
            }
            let Ok(shift) = i16::try_from(at.since(time)) else { continue };
            let named = StampOverride { target: *id, from, to, shift };
            let to = drawn.pose.position - origin;
            let along = to.dot(direction).max(0.0);
            let aside = ((to - direction * along).length() - along * wide).max(0.0);
            // Keeps the nearest ones that fit.
            let place = asides[..count].partition_point(|other| *other <= aside);
            if aside <= boxes.bounds().reach() && place < room {
                count = (count + 1).min(room);
                asides[place..count].rotate_right(1);
                found[place..count].rotate_right(1);
                (asides[place], found[place]) = (aside, named);
            }
        }
        count
    }

    /// Returns the team of a target that was hit.
    #[must_use]
    pub fn team_of(&self, hit: &TargetHit) -> Option<Team> {
        let (.., team, _) = self.pawns.get(hit.entity).ok()?;
        team.copied()
    }

    /// Returns the static world geometry.
    #[must_use]
    pub fn world(&self) -> &WorldTrace<'w, 's> {
        &self.world
    }
}

/// Sets the view time of movement bases if an occluder is attached to one, so that a shot reports it even
/// if no pawn stands on a base.
pub(crate) fn set_base_view_time(
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    mut time: ResMut<DrawnBaseTime>,
    movers: Query<&Occluder>,
) {
    if time.0.is_none() && movers.iter().any(|occluder| occluder.base != 0) {
        time.0 = Some(tick.frame_time(&fixed));
    }
}

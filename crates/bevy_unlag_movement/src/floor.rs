//! Floor detection below the feet.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use crate::{
    base::BaseId,
    config::CapsuleConfig,
    distance::inside,
    part::{Part, PartShape},
    sweep::{Body, Hit, ONE_WAY_SIDE, advance, sweep_core},
};

/// Distance between feet and floor in metres. Within this band the feet do not move, so a standing pawn
/// is still and a walking one never scrapes along the floor. Unreal's `MIN_FLOOR_DIST` and
/// `MAX_FLOOR_DIST`.
const HOVER_MIN: f32 = 0.019;
pub(crate) const HOVER_MAX: f32 = 0.024;
/// Middle of the band.
const HOVER: f32 = 0.021_5;
/// Distance from the capsule's side in metres; a contact this close to it is a wall, because the capsule
/// is about to slip off. Unreal's `SWEEP_EDGE_REJECT_DISTANCE`.
const EDGE_REJECT_DISTANCE: f32 = 0.001_5;
/// Distance in metres by which a walkable floor may lie below a nearer steep surface, such as the foot
/// of a steep slope next to it.
const STEEP_TOLERANCE: f32 = 0.03;

/// Settings that decide which surfaces a body can stand on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct FloorRules {
    /// Smallest upward component of the normal of a walkable floor.
    pub(crate) walkable_y: f32,
    /// Height of steps in metres, up and down.
    pub(crate) step_height: f32,
    /// See [`CapsuleConfig::flat_base`].
    pub(crate) flat_base: bool,
    /// See [`CapsuleConfig::perch_radius_threshold`].
    pub(crate) perch_threshold: f32,
    /// See [`CapsuleConfig::perch_height`].
    pub(crate) perch_height: f32,
    /// Height above the feet in metres up to which the body can stand on an edge beside it. Without this
    /// limit, a round end that is larger than the step height would climb anything bit by bit.
    pub(crate) rim_height: f32,
}

impl CapsuleConfig {
    /// Returns the settings that decide which surfaces a capsule can stand on.
    pub(crate) fn floor_rules(&self) -> FloorRules {
        FloorRules {
            walkable_y: self.walkable_floor_y,
            step_height: self.step_height,
            flat_base: self.flat_base,
            perch_threshold: self.perch_radius_threshold,
            perch_height: self.perch_height,
            rim_height: f32::INFINITY,
        }
    }
}

/// Walkable floor below the feet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    /// Distance down to the floor in metres.
    pub(crate) distance: f32,
    /// Normal of the floor's face.
    pub(crate) face: Vec3,
    /// Point where the capsule would touch it.
    pub(crate) point: Vec3,
    /// Movement base of the floor.
    pub(crate) base: BaseId,
}

/// Result of a downward probe: the walkable floor, and the nearest surface if it is not walkable.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct GroundHits {
    /// Walkable floor.
    pub(crate) floor: Option<Floor>,
    /// Nearest surface with its contact normal, if it is not walkable.
    pub(crate) steep: Option<Floor>,
}

/// Returns the hit of a ball that drops from `centre` by at most `max_down` onto a part.
fn drop_ball(part: &Part, centre: Vec3, radius: f32, max_down: f32) -> Option<Hit> {
    let hit = |distance: f32, normal: Vec3, point: Vec3| Hit {
        distance: distance.max(0.0),
        normal,
        point,
        base: part.base,
        pawn: part.pawn,
    };
    match &part.shape {
        PartShape::Box => {
            let Aabb { mins, maxs } = part.aabb;
            let beside = Vec2::new(
                centre.x - centre.x.clamp(mins.x, maxs.x),
                centre.z - centre.z.clamp(mins.z, maxs.z),
            );
            let height = (radius * radius - beside.length_squared()).max(0.0).sqrt();
            if height <= 0.0 || centre.y <= maxs.y {
                return None;
            }
            let distance = centre.y - maxs.y - height;
            if distance > max_down || (part.one_way.is_some() && distance < 0.0) {
                return None;
            }
            let point = Vec3::new(centre.x - beside.x, maxs.y, centre.z - beside.y);
            let rest = Vec3::new(beside.x, (centre.y - maxs.y).min(height), beside.y);
            Some(hit(distance, rest.normalize_or(Vec3::Y), point))
        }
        PartShape::Triangle { corners, normal } => {
            let up = if normal.y < 0.0 { -*normal } else { *normal };
            let height = (centre - corners[0]).dot(up);
            if height > 0.0 && up.y > 1e-3 {
                // No point of a triangle is touched before its plane.
                let distance = (height - radius) / up.y;
                if distance > max_down {
                    return None;
                }
                let point = centre - Vec3::Y * distance.max(0.0) - up * height.min(radius);
                if inside(corners, *normal, point) {
                    return Some(hit(distance, up, point));
                }
            }
            let (distance, point) = drop_on_rim(corners, centre, radius)?;
            let rest = centre - Vec3::Y * distance.max(0.0) - point;
            (distance <= max_down).then(|| hit(distance, rest.normalize_or(Vec3::Y), point))
        }
        _ => sweep_core(part, centre, 0.0, radius, Vec3::NEG_Y, max_down),
    }
}

/// Returns the distance down to the first edge or corner of a triangle that a ball dropped from `centre`
/// touches, and that point. Ignores edges above the ball's centre.
fn drop_on_rim(corners: &[Vec3; 3], centre: Vec3, radius: f32) -> Option<(f32, Vec3)> {
    let mut best: Option<(f32, Vec3)> = None;
    let mut consider = |distance: f32, point: Vec3| {
        // An edge inside the ball counts as touched, an edge above its centre does not.
        if centre.y > point.y && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, point));
        }
    };
    for i in 0..3 {
        let (corner, edge) = (corners[i], corners[(i + 1) % 3] - corners[i]);
        let from = centre - corner;
        let beside = from.x * from.x + from.z * from.z;
        if beside < radius * radius {
            consider(from.y - (radius * radius - beside).sqrt(), corner);
        }
        // The axis of the drop is `radius` away from the edge's line at the root of a quadratic.
        let (a, b) = (from.cross(edge), Vec3::Y.cross(edge));
        let (squared, half) = (b.length_squared(), a.dot(b));
        let rest = a.length_squared() - radius * radius * edge.length_squared();
        let root = half * half - squared * rest;
        if squared > 1e-12 && root > 0.0 {
            let distance = (half - root.sqrt()) / squared;
            let along = (from - Vec3::Y * distance).dot(edge) / edge.length_squared();
            if (0.0..=1.0).contains(&along) {
                consider(distance, corner + edge * along);
            }
        }
    }
    best
}

/// Returns the horizontal distance from the capsule's axis to a point, in metres.
pub(crate) fn distance_from_axis(point: Vec3, feet: Vec3) -> f32 {
    Vec2::new(point.x - feet.x, point.z - feet.z).length()
}

/// Probes for a floor at most `max_down` below the feet of a capsule.
pub(crate) fn probe_ground(
    floor_rules: &FloorRules,
    parts: &[Part],
    radius: f32,
    feet: Vec3,
    max_down: f32,
) -> GroundHits {
    // A capsule that moves down along its axis touches nothing that its lower ball does not.
    let centre = feet + Vec3::Y * radius;
    let side = Vec3::new(radius, 0.0, radius);
    let swept = Aabb::new(feet - side - Vec3::Y * max_down, feet + side + Vec3::Y * radius);
    let mut nearest = f32::INFINITY;
    let mut below = GroundHits::default();
    for part in parts {
        if !swept.intersects(&part.aabb) {
            continue;
        }
        // Surfaces further below than this cannot be the floor.
        let reach = max_down.min(nearest + STEEP_TOLERANCE + 1e-3);
        if feet.y - part.aabb.maxs.y > reach {
            continue;
        }
        let Some(hit) = drop_ball(part, centre, radius, reach) else { continue };
        let face = part.face_normal(hit.point, hit.normal);
        if part.one_way.is_some_and(|side| hit.normal.dot(side) < ONE_WAY_SIDE) {
            continue;
        }
        let distance_from_axis = distance_from_axis(hit.point, feet);
        let rim = face.y > hit.normal.y + 1e-3 && face.y >= floor_rules.walkable_y;
        let distance = if rim && floor_rules.flat_base { feet.y - hit.point.y } else { hit.distance };
        let found = Floor { distance, face, point: hit.point, base: hit.base };
        let too_high = rim && hit.point.y - feet.y > floor_rules.rim_height;
        let walkable = face.y >= floor_rules.walkable_y
            && distance_from_axis <= radius - EDGE_REJECT_DISTANCE
            && !part.pawn
            && !too_high;
        if hit.distance < nearest {
            nearest = hit.distance;
            below.steep = (!walkable).then_some(Floor { face: hit.normal, ..found });
        }
        if !walkable {
            continue;
        }
        // Of floors at the same distance, take the most level one.
        let better = below.floor.is_none_or(|old| {
            distance < old.distance - 1e-3 || (distance <= old.distance + 1e-3 && face.y > old.face.y)
        });
        if better {
            below.floor = Some(found);
        }
    }
    below.floor = below.floor.filter(|floor| floor.distance <= nearest + STEEP_TOLERANCE);
    below
}

/// Returns the walkable floor at most `max_down` below the feet. A floor that only the rim of the
/// capsule touches counts when there is another floor for its middle: a perch.
pub(crate) fn find_floor(
    floor_rules: &FloorRules,
    parts: &[Part],
    body: Body,
    feet: Vec3,
    max_down: f32,
) -> Option<Floor> {
    let floor = probe_ground(floor_rules, parts, body.radius, feet, max_down).floor?;
    let threshold = floor_rules.perch_threshold;
    if threshold > 0.0 {
        let perch = (body.radius - threshold).max(0.02);
        if distance_from_axis(floor.point, feet) > perch {
            let down = floor.distance + floor_rules.step_height + floor_rules.perch_height;
            // The smaller ball starts with its lowest point at the feet.
            probe_ground(floor_rules, parts, perch, feet, down).floor?;
        }
    }
    Some(floor)
}

/// Moves the feet into the hover band above `floor`, as far as nothing blocks them.
pub(crate) fn hover_above(parts: &[Part], body: Body, feet: Vec3, floor: &Floor) -> Vec3 {
    if (HOVER_MIN..=HOVER_MAX).contains(&floor.distance) {
        return feet;
    }
    advance(parts, body, feet, Vec3::Y * (HOVER - floor.distance)).0
}

/// Returns the motion along a floor with the horizontal part `flat`: slopes do not change the horizontal
/// speed.
pub(crate) fn along_floor(flat: Vec3, face: Vec3) -> Vec3 {
    let rise = if face.y > 1e-3 { -(flat.x * face.x + flat.z * face.z) / face.y } else { 0.0 };
    Vec3::new(flat.x, rise, flat.z)
}

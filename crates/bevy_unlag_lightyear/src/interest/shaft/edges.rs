//! Edges of an eye's region through which lines to a body leave it.

use bevy::{math::Vec3A, prelude::*};

use super::{Board, Fan, Post, RING};

/// A fan as seen from above.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plan {
    origin: Vec3A,
    axes: [Vec3A; 2],
    /// The corners, relative to the middle.
    ring: [Vec2; RING],
    /// Distance of the furthest corner from the middle.
    reach: f32,
    /// Sign of the direction in which the ring runs around the middle; `None` if it does not.
    turn: Option<f32>,
}

impl Plan {
    pub fn new(middle: &Post, ring: &[Post; RING], up: Vec3A) -> Self {
        let axes = if up == Vec3A::Y { [Vec3A::X, Vec3A::Z] } else { up.any_orthonormal_pair().into() };
        let mut plan = Self { origin: middle.low, axes, ..Self::default() };
        let ring = ring.map(|post| plan.flat(post.low));
        let runs = |turn: f32| (0..RING).all(|k| ring[k].perp_dot(ring[(k + 1) % RING]) * turn >= -1e-6);
        plan.turn = [1.0, -1.0].into_iter().find(|turn| runs(*turn));
        plan.reach = ring.iter().map(|corner| corner.length()).fold(0.0, f32::max);
        plan.ring = ring;
        plan
    }

    fn flat(&self, at: Vec3A) -> Vec2 {
        let way = at - self.origin;
        Vec2::new(way.dot(self.axes[0]), way.dot(self.axes[1]))
    }
}

/// Edges on the side of a body. Corners are the ring, and the middle behind it.
pub(super) struct Edges {
    /// The corners, with the heights at which lines can pass them.
    pub posts: [Post; RING + 1],
    pairs: [(u8, u8); 2 * RING],
    count: usize,
    corners: u16,
}

impl Edges {
    /// Returns the edges through which lines leave `fan` on their way to `board`; `None` if a part of the board is in
    /// the fan, so that some line does not leave it.
    pub fn new(fan: &Fan, board: &Board) -> Option<Self> {
        let Plan { ring, reach, turn, .. } = &fan.plan;
        let body = board.sides.map(|side| fan.plan.flat(side.low));
        let is_upright = have_same_up(fan, board);
        let distance = if is_upright {
            distance_to_line(body)
        } else {
            // It leans, so it is a quadrilateral as seen from above.
            let [a, b] = board.sides.map(|side| fan.plan.flat(side.high));
            let all = [body[0], body[1], a, b];
            let width = all.iter().flat_map(|a| all.iter().map(|b| a.distance(*b))).fold(0.0, f32::max);
            all.iter().map(|at| at.length()).fold(f32::INFINITY, f32::min) - width
        };
        if distance <= *reach && (!is_upright || meets(ring, body)) {
            return None;
        }
        let posts = heightened(fan, board, (*reach, distance));
        let mut edges = Self { posts, pairs: default(), count: 0, corners: 0 };
        for k in 0..RING {
            let next = (k + 1) % RING;
            let way = ring[next] - ring[k];
            let is_behind = |turn: f32| body.iter().all(|at| way.perp_dot(*at - ring[k]) * turn > 0.0);
            if !(is_upright && turn.is_some_and(is_behind)) {
                edges.add(k, next);
            }
            if turn.is_none() {
                // The middle is beside the ring, so the ways to it can be edges, too.
                edges.add(k, RING);
            }
        }
        Some(edges)
    }

    fn add(&mut self, a: usize, b: usize) {
        self.pairs[self.count] = (a as u8, b as u8);
        self.count += 1;
        self.corners |= 1 << a | 1 << b;
    }

    /// Returns the indices of the ends of the edges.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pairs[..self.count].iter().map(|(a, b)| (usize::from(*a), usize::from(*b)))
    }

    /// Returns the indices of the corners of the edges.
    pub fn corners(&self) -> impl Iterator<Item = usize> {
        let corners = self.corners;
        (0..=RING).filter(move |corner| corners & 1 << corner != 0)
    }
}

/// Cosine of the largest angle between directions that count as equal.
const UPRIGHT: f32 = 0.9999;

/// Returns whether both regions have the same up direction.
pub(super) fn have_same_up(fan: &Fan, board: &Board) -> bool {
    fan.up.dot(board.up) > UPRIGHT
}

/// Returns the corners of a fan with the heights at which lines to a body can leave it.
fn heightened(fan: &Fan, board: &Board, (reach, distance): (f32, f32)) -> [Post; RING + 1] {
    // The largest share of a line within the fan.
    let share = if distance > 3.0 * reach { 2.0 * reach / (distance - reach) } else { 1.0 };
    let height = |at: Vec3A| at.dot(fan.up);
    let [low, high] = [height(fan.middle.low), height(fan.middle.high)];
    let body = board.sides.map(|side| [height(side.low), height(side.high)]);
    let rise = body.as_flattened().iter().fold(0.0, |rise: f32, at| rise.max(at - high)) * share;
    let fall = body.as_flattened().iter().fold(0.0, |fall: f32, at| fall.max(low - at)) * share;
    core::array::from_fn(|index| {
        let Post { low, high } = fan.ring.get(index).unwrap_or(&fan.middle);
        Post { low: low - fan.up * fall, high: high + fan.up * rise }
    })
}

/// Returns the distance of the origin from a line between two points.
fn distance_to_line([a, b]: [Vec2; 2]) -> f32 {
    let way = b - a;
    let share = (-a.dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
    (a + way * share).length()
}

/// Returns whether a line meets the triangles between the origin and a ring.
fn meets(ring: &[Vec2; RING], [p, q]: [Vec2; 2]) -> bool {
    (0..RING).any(|k| {
        let (a, b) = (ring[k], ring[(k + 1) % RING]);
        let area = a.perp_dot(b);
        let is_in = |at: Vec2| {
            let (u, v) = (at.perp_dot(b) * area.signum(), a.perp_dot(at) * area.signum());
            u >= 0.0 && v >= 0.0 && u + v <= area.abs()
        };
        let is_apart =
            |[a, b]: [Vec2; 2], [p, q]: [Vec2; 2]| (b - a).perp_dot(p - a) * (b - a).perp_dot(q - a) > 0.0;
        is_in(p) || is_in(q) || !is_apart([a, b], [p, q]) && !is_apart([p, q], [a, b])
    })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    /// Returns a fan around a place that is not always in its middle, with corners at random distances.
    fn random_fan(rng: &mut SmallRng) -> Fan {
        let post = |x: f32, z: f32| Post { low: Vec3A::new(x, 0.6, z), high: Vec3A::new(x, 2.2, z) };
        let ring = core::array::from_fn(|index| {
            let at = Vec2::from_angle(index as f32 * core::f32::consts::TAU / RING as f32);
            let at = at * rng.random_range(0.3..2.0);
            post(at.x, at.y)
        });
        let aside = if rng.random_bool(0.2) { 1.5 } else { 0.2 };
        let middle = post(rng.random_range(-aside..aside), rng.random_range(-aside..aside));
        Fan::new(middle, ring, Vec3A::Y)
    }

    #[test]
    fn every_line_to_a_body_outside_passes_an_edge() {
        let mut rng = SmallRng::seed_from_u64(8);
        let (mut inside, mut few, mut all) = (0, 0, 0);
        for _ in 0..3_000 {
            let fan = random_fan(&mut rng);
            let tilt = if rng.random_bool(0.2) { Quat::from_rotation_x(0.3) } else { Quat::IDENTITY };
            let [x, z] = [0, 1].map(|_| rng.random_range(-6.0..6.0f32));
            let base = rng.random_range(-2.0..3.0f32);
            let side = |aside: f32| {
                let at = Vec3A::new(x, base, z + aside);
                Post { low: at, high: at + Vec3A::from(tilt * Vec3::Y) * 1.8 }
            };
            let board = Board { sides: [side(-0.5), side(0.5)], up: (tilt * Vec3::Y).into() };
            let Some(edges) = Edges::new(&fan, &board) else {
                inside += 1;
                continue;
            };
            (few, all) = (few + usize::from(edges.count <= 5), all + 1);
            for _ in 0..60 {
                let [u, v, w, h, i] = [0; 5].map(|_| rng.random_range(0.0..1.0f32));
                let sector = rng.random_range(0..RING);
                let edge = fan.ring[sector].low.lerp(fan.ring[(sector + 1) % RING].low, u);
                let eye = fan.middle.low.lerp(edge, v) + Vec3A::Y * (1.6 * h);
                let [a, b] = board.sides.map(|side| side.low.lerp(side.high, i));
                let body = a.lerp(b, w);
                let is_passed = edges.pairs().any(|(a, b)| {
                    let (a, b) = (edges.posts[a], edges.posts[b]);
                    // Shares of the line and of the edge where they cross, as seen from above.
                    let [way, along] = [body - eye, b.low - a.low].map(|way| Vec2::new(way.x, way.z));
                    let to = Vec2::new(a.low.x - eye.x, a.low.z - eye.z);
                    let area = way.perp_dot(along);
                    let (share, place) = (to.perp_dot(along) / area, to.perp_dot(way) / area);
                    let at = eye.lerp(body, share);
                    let [low, high] = [a.low.lerp(b.low, place).y, a.high.lerp(b.high, place).y];
                    (-1e-3..=1.001).contains(&share)
                        && (-1e-3..=1.001).contains(&place)
                        && (low - 1e-3..=high + 1e-3).contains(&at.y)
                });
                assert!(is_passed, "{fan:?} {board:?}: {eye} {body}");
            }
        }
        assert!(inside > 100 && few > all / 2, "{inside} inside, {few} of {all} with few edges");
    }
}

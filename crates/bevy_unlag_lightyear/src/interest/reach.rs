//! Places that a pawn can reach in a short time.

use bevy::prelude::*;

use super::{
    config::InterestConfig,
    shaft::{Board, Fan, Post, RING},
    walls::{Effort, Level, PieceIndex, Walls},
};

/// Seconds of a step in which motion is predicted.
const STEP: f32 = 1.0 / 32.0;
/// Distance in metres by which the reach is widened, for what the prediction does not know.
const SLACK: f32 = 0.05;
/// Distance in metres from a wall at which places before it end.
const SKIN: f32 = 0.05;
/// Depth in metres below a pawn's root in which ground is looked for.
const DEEP: f32 = 3.0;
/// Most walls near a pawn that are tested one by one; beyond it, rays through the level take less time.
const MAX_NEARBY: usize = 32;
/// Height in metres above the lowest part of a body from which on it counts as visible.
const FEET: f32 = 0.1;

/// Place and motion of a pawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Root {
    pub position: Vec3,
    pub up: Vec3,
    pub velocity: Vec3,
}

impl Root {
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.is_finite() && self.up.is_finite()
    }

    /// Returns the speed along up, and the velocity across it.
    fn parts(&self) -> (f32, Vec3) {
        let rise = self.velocity.dot(self.up);
        (rise, self.velocity - self.up * rise)
    }
}

/// Returns the way up that a pawn can have made in `seconds`: a jump, or its own speed.
fn rise(config: &InterestConfig, own: f32, seconds: f32) -> f32 {
    let (speed, height) = (config.vertical_speed.max(0.0), config.jump_height.max(0.0));
    // The gravity that ends a jump with this speed at this height.
    let jump = if speed * seconds >= 2.0 * height {
        height
    } else {
        speed * seconds * (1.0 - speed * seconds / (4.0 * height))
    };
    jump.max(own * seconds)
}

/// Motion of a pawn with its input in each of the directions of a ring.
///
/// The velocity turns to the input by [`turn_rate`](InterestConfig::turn_rate), and grows by
/// [`acceleration`](InterestConfig::acceleration): the formula of Unreal's character and the suite's capsule. Arrays of
/// coordinates let the compiler take several directions at once.
struct Motion {
    input: [[f32; RING]; 2],
    velocity: [[f32; RING]; 2],
    way: [[f32; RING]; 2],
}

impl Motion {
    fn new(velocity: Vec2) -> Self {
        let inputs: [Vec2; RING] = core::array::from_fn(|index| {
            Vec2::from_angle(index as f32 * core::f32::consts::TAU / RING as f32)
        });
        Self {
            input: [inputs.map(|input| input.x), inputs.map(|input| input.y)],
            velocity: [[velocity.x; RING], [velocity.y; RING]],
            way: [[0.0; RING]; 2],
        }
    }

    /// Goes on for `seconds`, and returns the ways since the start, each longer by `slack` along its input.
    fn run(&mut self, config: &InterestConfig, seconds: f32, slack: f32) -> [Vec2; RING] {
        let steps = (seconds / STEP).ceil().clamp(1.0, 64.0);
        let step = seconds / steps;
        let turn = (config.turn_rate * step).clamp(0.0, 1.0);
        let ([input_x, input_y], [x, y], [way_x, way_y]) = (&self.input, &mut self.velocity, &mut self.way);
        let limits: [f32; RING] =
            core::array::from_fn(|k| config.max_speed.max((x[k] * x[k] + y[k] * y[k]).sqrt()));
        for _ in 0..steps as u32 {
            for k in 0..RING {
                let speed = (x[k] * x[k] + y[k] * y[k]).sqrt();
                let push = (config.acceleration * step).min(2.0 * limits[k]);
                let new_x = x[k] + (input_x[k] * speed - x[k]) * turn + input_x[k] * push;
                let new_y = y[k] + (input_y[k] * speed - y[k]) * turn + input_y[k] * push;
                let share = limits[k] / (new_x * new_x + new_y * new_y).sqrt().max(limits[k]).max(1e-9);
                (x[k], y[k]) = (new_x * share, new_y * share);
                way_x[k] += x[k] * step;
                way_y[k] += y[k] * step;
            }
        }
        core::array::from_fn(|k| Vec2::new(way_x[k] + input_x[k] * slack, way_y[k] + input_y[k] * slack))
    }
}

/// Returns where the eyes of a pawn can be in `near` seconds, and in `spare` seconds more, not behind walls.
pub(super) fn fans(
    config: &InterestConfig,
    root: &Root,
    body: &Body,
    (near, spare): (f32, f32),
    (level, walls, effort): (&dyn Level, &mut Walls, &mut Effort),
) -> [Fan; 2] {
    let (_, along) = root.parts();
    let axes = if root.up == Vec3::Y { [Vec3::X, Vec3::Z] } else { root.up.any_orthonormal_pair().into() };
    let velocity = Vec2::from(axes.map(|axis| along.dot(axis)));
    let slack = SLACK + config.eye_radius.max(0.0);
    let mut motion = Motion::new(velocity);
    let near_ends = motion.run(config, near, slack);
    let far_ends = motion.run(config, spare, slack);
    let chest = body.chest();
    let from = root.position + root.up * chest;
    let nearby = nearby_walls((from, axes), near_ends.iter().chain(&far_ends), (level, walls, effort));
    let mut clipping = Clipping { config, root, chest, from, axes, nearby, level, walls, effort };
    let (far, is_open) = clipping.clip(&far_ends, near + spare, [false; RING]);
    // Where the way is open further away, it is open here.
    let is_open = core::array::from_fn(|index| {
        is_open[index] && is_open[(index + 1) % RING] && is_open[(index + RING - 1) % RING]
    });
    let (near, _) = clipping.clip(&near_ends, near, is_open);
    [near, far]
}

/// Clipping of a region at the walls around it.
struct Clipping<'a> {
    config: &'a InterestConfig,
    root: &'a Root,
    /// Height of the middle of the pawn's body, and its place.
    chest: f32,
    from: Vec3,
    axes: [Vec3; 2],
    /// The walls in the region; `None` if they are too many, or not all of them are convex.
    nearby: Option<NearbyWalls>,
    level: &'a dyn Level,
    walls: &'a Walls,
    effort: &'a mut Effort,
}

impl Clipping<'_> {
    /// Returns the fan to these ends, without what is behind walls, and which of its corners are not clipped. Those in
    /// `is_open` are known not to be.
    fn clip(&mut self, ends: &[Vec2; RING], seconds: f32, mut is_open: [bool; RING]) -> (Fan, [bool; RING]) {
        let Self { config, chest, from, axes: [x, z], .. } = *self;
        let up = self.root.up;
        let mean = ends.iter().sum::<Vec2>() / RING as f32;
        let to = from + x * mean.x + z * mean.y;
        let (middle, is_middle_open) =
            if is_open == [true; RING] { (to, true) } else { self.reach(from, to) };
        // The edges between the corners touch the circle that the corners are on.
        let grown = 1.0 / (core::f32::consts::PI / RING as f32).cos();
        let (own_rise, _) = self.root.parts();
        let radius = config.eye_radius.max(0.0);
        let low = (config.eyes.x - chest - radius).max(SKIN - chest);
        let high = config.eyes.y - chest + radius + rise(config, own_rise, seconds);
        let post = |at: Vec3| Post { low: (at + up * low).into(), high: (at + up * high).into() };
        let wanted = ends.map(|end| {
            let end = mean + (end - mean) * grown;
            from + x * end.x + z * end.y
        });
        let mut ring = wanted;
        for (corner, is_open) in ring.iter_mut().zip(&mut is_open) {
            if !(*is_open && is_middle_open) {
                let (at, is_free) = self.reach(middle, *corner);
                (*corner, *is_open) = (at, is_free && is_middle_open);
            }
        }
        // Around the end of a wall.
        for index in 0..RING {
            let beside = [(index + 1) % RING, (index + RING - 1) % RING];
            if ring[index] != wanted[index]
                && beside
                    .into_iter()
                    .any(|beside| is_open[beside] && self.reach(ring[beside], wanted[index]).1)
            {
                ring[index] = wanted[index];
            }
        }
        let ring = ring.map(post);
        (Fan::new(post(middle), ring, up.into()), is_open)
    }

    /// Returns the last place on a way before a wall, and whether there is none.
    fn reach(&mut self, from: Vec3, to: Vec3) -> (Vec3, bool) {
        let Ok((direction, length)) = Dir3::new_and_length(to - from) else { return (to, true) };
        let most = length + SKIN;
        let free = if let Some(nearby) = &self.nearby {
            self.effort.left -= nearby.count as i64;
            let (from, to) = (from.into(), (from + direction * most).into());
            let pieces = nearby.get().iter().map(|piece| self.walls.piece(*piece));
            let shares = pieces.filter_map(|piece| piece.share_before(from, to));
            shares.fold(1.0, f32::min) * most
        } else {
            self.effort.ray();
            self.level.free_way(from, direction.as_vec3(), most)
        };
        let is_free = free >= most;
        (if is_free { to } else { from + direction * (free - SKIN).max(0.0) }, is_free)
    }
}

/// Walls near a pawn.
#[derive(Default)]
struct NearbyWalls {
    pieces: [PieceIndex; MAX_NEARBY],
    count: usize,
}

impl NearbyWalls {
    fn get(&self) -> &[PieceIndex] {
        &self.pieces[..self.count]
    }

    /// Adds a wall, and returns whether there was room.
    fn add(&mut self, piece: PieceIndex) -> bool {
        if self.get().contains(&piece) {
            return true;
        }
        let Some(slot) = self.pieces.get_mut(self.count) else { return false };
        *slot = piece;
        self.count += 1;
        true
    }
}

/// Returns the walls that can be met on ways between a place and these ends along the axes; `None` if they are too
/// many, or not all of them are convex.
fn nearby_walls<'a>(
    (from, [x, z]): (Vec3, [Vec3; 2]),
    ends: impl Iterator<Item = &'a Vec2>,
    (level, walls, effort): (&dyn Level, &mut Walls, &mut Effort),
) -> Option<NearbyWalls> {
    let (low, high) = ends.fold((Vec2::ZERO, Vec2::ZERO), |(low, high), end| (low.min(*end), high.max(*end)));
    // The corners of a fan are further out than the ends, by less than this share.
    let margin = low.distance(high) * 0.1 + SKIN;
    let corners =
        [low.x - margin, high.x + margin].map(|a| [low.y - margin, high.y + margin].map(|b| (a, b)));
    let corners = corners.as_flattened().iter().map(|(a, b)| from + x * *a + z * *b);
    let (low, high) = corners.map(|at| (at, at)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    effort.ray();
    let (mut nearby, mut are_all) = (NearbyWalls::default(), true);
    level.walls_in(low, high, &mut |wall| {
        are_all = are_all && walls.number(wall, level).is_some_and(|piece| nearby.add(piece));
    });
    are_all.then_some(nearby)
}

/// Heights and width of a body, in metres.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Body {
    pub radius: f32,
    pub low: f32,
    pub high: f32,
    /// Height of the ground below it; what is lower is not seen.
    pub floor: f32,
}

impl Body {
    /// Returns the height of its middle.
    fn chest(&self) -> f32 {
        (self.low + self.high) * 0.5
    }
}

/// Returns the height of the ground below a pawn, relative to its root.
pub(super) fn floor(root: &Root, body: &Body, level: &dyn Level) -> f32 {
    let chest = body.chest();
    chest - level.free_way(root.position + root.up * chest, -root.up, chest + DEEP)
}

/// Returns where a body can be from `past` seconds ago until `ahead` seconds from now, as seen from `eye`.
pub(super) fn board(
    config: &InterestConfig,
    root: &Root,
    body: &Body,
    eye: Vec3,
    past: f32,
    ahead: f32,
) -> Board {
    let Root { position, up, .. } = *root;
    let (rise_speed, along) = root.parts();
    let side = up.cross(position - eye).try_normalize().unwrap_or_else(|| up.any_orthonormal_vector());
    // How far the pawn can leave its path by turning.
    let speed = config.max_speed.max(along.length());
    let rate = (config.turn_rate + config.acceleration / speed.max(0.1)).clamp(0.1, 1e3);
    let turned = speed * (ahead - (1.0 - (-ahead * rate).exp()) / rate);
    let aside = along.dot(side);
    let middle = position + side * (aside * (ahead - past) * 0.5);
    let half = body.radius + turned + aside.abs() * (ahead + past) * 0.5;
    let drop = (-rise_speed * ahead).max(rise_speed * past).max(0.0);
    let low = (body.low - drop).max(body.floor) + FEET;
    let high = body.high + rise(config, rise_speed, ahead).max(-rise_speed * past);
    let post = |aside: f32| {
        let at = middle + side * aside;
        Post { low: (at + up * low).into(), high: (at + up * high).into() }
    };
    Board { sides: [post(half), post(-half)], up: up.into() }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_rewind::{WallId, WallPiece};

    use super::*;
    use crate::interest::test_level::Boxes;

    const BODY: Body = Body { radius: 0.35, low: 0.0, high: 1.9, floor: 0.0 };

    fn root(x: f32, velocity: Vec3) -> Root {
        Root { position: Vec3::new(x, 0.01, 0.0), up: Vec3::Y, velocity }
    }

    fn fan_of(level: &Boxes, config: &InterestConfig, root: &Root, seconds: f32) -> Fan {
        let [near, far] =
            fans(config, root, &BODY, (seconds, 0.2), (level, &mut Walls::default(), &mut Effort::default()));
        // The further one contains the nearer one.
        let ((back, forth), (further_back, further)) = (extent(&near), extent(&far));
        assert!(further_back <= back + 0.01 && further >= forth - 0.01, "{near:?} {far:?}");
        near
    }

    /// Extent of a fan along X.
    fn extent(fan: &Fan) -> (f32, f32) {
        let all = fan.ring.map(|post| post.high.x);
        (all.into_iter().fold(f32::MAX, f32::min), all.into_iter().fold(f32::MIN, f32::max))
    }

    #[test]
    fn running_pawn_goes_on_and_turns_round_late() {
        let (level, config) = (Boxes(Vec::new()), InterestConfig { max_speed: 6.0, ..default() });
        let (back, forth) = extent(&fan_of(&level, &config, &root(0.0, Vec3::X * 6.0), 0.25));
        assert!((1.5..1.8).contains(&forth), "{forth}");
        assert!((-0.5..0.2).contains(&back), "{back}");
        // One that stands can go either way, and not as far.
        let (back, forth) = extent(&fan_of(&level, &config, &root(0.0, Vec3::ZERO), 0.25));
        assert!((0.6..1.0).contains(&forth) && (back + forth).abs() < 0.01, "{back} {forth}");
        // A faster one counts with its own speed.
        let (_, forth) = extent(&fan_of(&level, &config, &root(0.0, Vec3::X * 20.0), 0.25));
        assert!(forth > 5.0, "{forth}");
    }

    #[test]
    fn eyes_do_not_reach_through_walls_and_a_camera_reaches_further() {
        let level = Boxes::wall_with_opening(5.0..6.0);
        let config = InterestConfig::default();
        let (_, forth) = extent(&fan_of(&level, &config, &root(-1.0, Vec3::X * 6.0), 0.4));
        assert!((-0.4..-0.1).contains(&forth), "{forth}");
        let open = Boxes(Vec::new());
        let (_, control) = extent(&fan_of(&open, &config, &root(-1.0, Vec3::X * 6.0), 0.4));
        assert!(control > 1.0, "{control}");
        let camera = InterestConfig { eye_radius: 3.0, ..config };
        let (_, further) = extent(&fan_of(&open, &camera, &root(-1.0, Vec3::X * 6.0), 0.4));
        assert!((2.9..3.6).contains(&(further - control)), "{further} {control}");
    }

    /// The same boxes without pieces, so that only rays through the level find them.
    struct Rough(Boxes);

    impl Level for Rough {
        fn first_wall(&self, a: Vec3, b: Vec3) -> Option<WallId> {
            self.0.first_wall(a, b)
        }

        fn walls_along(&self, a: Vec3, b: Vec3, met: &mut dyn FnMut(WallId)) {
            self.0.walls_along(a, b, met);
        }

        fn walls_in(&self, low: Vec3, high: Vec3, met: &mut dyn FnMut(WallId)) {
            self.0.walls_in(low, high, met);
        }

        fn piece(&self, _: WallId) -> Option<WallPiece> {
            None
        }

        fn free_way(&self, from: Vec3, direction: Vec3, most: f32) -> f32 {
            self.0.free_way(from, direction, most)
        }
    }

    #[test]
    fn nearby_walls_clip_a_fan_as_rays_through_the_level_do() {
        let mut clipped = 0;
        for step in 0..400 {
            let turn = Vec2::from_angle(step as f32 * 0.37);
            let at = root(-2.0 + step as f32 * 0.01, Vec3::new(turn.x, 0.0, turn.y) * (step % 7) as f32);
            let fans = |level: &dyn Level| {
                let (mut walls, mut effort) = (Walls::default(), Effort::default());
                let world = (level, &mut walls, &mut effort);
                (fans(&InterestConfig::default(), &at, &BODY, (0.4, 0.2), world), effort.rays)
            };
            let level = || Boxes::wall_with_opening(0.3..1.6);
            let ((pieces, few), (rays, many)) = (fans(&level()), fans(&Rough(level())));
            for (one, other) in pieces.iter().zip(&rays) {
                let ring = one.ring.iter().chain([&one.middle]).zip(other.ring.iter().chain([&other.middle]));
                for (a, b) in ring {
                    assert!(a.high.distance(b.high) < 1e-3 && a.low.distance(b.low) < 1e-3, "{a:?} {b:?}");
                }
            }
            assert!(few == 1 && many > 8, "{few} and {many} rays");
            let open = fans(&Boxes(Vec::new())).0;
            clipped += usize::from(open[1].ring.iter().zip(&rays[1].ring).any(|(a, b)| a.high != b.high));
        }
        assert!(clipped > 100, "only {clipped} fans of 400 meet the wall");
    }

    #[test]
    fn body_ends_at_the_ground() {
        let level = Boxes::wall_with_opening(5.0..6.0);
        let deep = Body { low: -0.4, ..BODY };
        let floor = floor(&root(-3.0, Vec3::ZERO), &deep, &level);
        assert!((floor + 0.01).abs() < 1e-3, "{floor}");
        let eye = Vec3::new(-10.0, 1.7, 0.0);
        let falling = root(-3.0, Vec3::Y * -8.0);
        let board = board(&InterestConfig::default(), &falling, &Body { floor, ..deep }, eye, 0.0, 0.1);
        assert!((board.sides[0].low.y - FEET).abs() < 1e-3, "{board:?}");
    }

    #[test]
    fn jump_reaches_its_height_and_no_more() {
        let config = InterestConfig { vertical_speed: 5.0, jump_height: 1.2, ..default() };
        assert!((0.4..0.5).contains(&rise(&config, 0.0, 0.1)));
        assert!((rise(&config, 0.0, 2.0) - 1.2).abs() < 1e-6);
        assert!((rise(&config, 10.0, 2.0) - 20.0).abs() < 1e-6, "its own speed");
    }

    #[test]
    fn body_covers_its_path_across_the_line_of_sight() {
        let config = InterestConfig::default();
        let width = |velocity: Vec3| {
            let eye = Vec3::new(-10.0, 1.7, 0.0);
            let board = board(&config, &root(0.0, velocity), &BODY, eye, 0.04, 0.04);
            let [a, b] = board.sides.map(|side| side.low.z);
            assert!(a.min(b) <= -0.35 && a.max(b) >= 0.35, "{a} {b}");
            (a - b).abs()
        };
        let (still, away, across) = (width(Vec3::ZERO), width(Vec3::X * 6.0), width(Vec3::Z * 6.0));
        assert!((still - away).abs() < 1e-5 && across > still + 0.4, "{still} {away} {across}");
    }
}
